package simtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

// Cluster is a simulated cluster with clients, for one test.
type Cluster struct {
	*simcluster.TestCluster
	// Kube is a clientset, and Client a client of controller-runtime that reads from the server, with
	// the kinds of client-go's scheme.
	Kube   kubernetes.Interface
	Client client.Client

	t testing.TB
}

// New makes a cluster for one test; options are those of a Player and of an
// apiserver. It ends with the test.
func New(t testing.TB, start simcluster.Start, opts ...replay.Option) *Cluster {
	t.Helper()
	c := &Cluster{TestCluster: simcluster.ForTest(t, start, opts...), t: t}
	var err error
	if c.Kube, err = kubernetes.NewForConfig(c.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	if c.Client, err = client.New(c.RESTConfig(), client.Options{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// Feed is what has happened to the nodes so far, a line each: `nodesim replay` of
// the cluster's tape prints the same.
func (c *Cluster) Feed() string {
	c.t.Helper()
	text, err := feed(c.Tape())
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

func feed(src timeline.Source) (string, error) {
	stream, err := src.Open()
	if err != nil {
		return "", err
	}
	tape, is := stream.(*timeline.Reader)
	if !is {
		return "", errors.Join(fmt.Errorf("found a tape as %T: want *timeline.Reader", stream), stream.Close())
	}
	o, err := observe.OptionsFor(tape.Header(), "", "", "")
	if err != nil {
		return "", errors.Join(err, tape.Close())
	}
	var text strings.Builder
	err = observe.Feed(tape, o, func(e noderoll.Entry) error {
		if e.Kind.Default() {
			fmt.Fprintln(&text, e)
		}
		return nil
	})
	return text.String(), errors.Join(err, tape.Close())
}

package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

// onTape is the cluster of a moment of a tape.
func onTape(t testing.TB, src timeline.Source, at time.Duration) *cluster {
	t.Helper()
	acting, err := simcluster.Tape(src, at).Engine()
	if err != nil {
		t.Fatal(err)
	}
	return playing(t, acting)
}

// restless says what a cluster at rest wouldn't have done.
func (c *cluster) restless() (what []string) {
	for line := range strings.Lines(c.said.String()) {
		f := strings.Fields(line)
		if len(f) < 4 || f[1] == "SYNC" || f[2] == "nodes" || f[2] == "events" && f[1] == "DELETED" {
			continue
		}
		what = append(what, line[:min(len(line), 300)])
	}
	return what
}

// rests lets a cluster come to rest. Then all pods are Ready but those that fit nowhere, and those on nodes that have
// fallen silent.
func (c *cluster) rests() {
	c.t.Helper()
	c.check()
	c.pass(40 * time.Minute)
	c.check()
	c.said.Reset()
	c.pass(10 * time.Minute)
	if what := c.restless(); len(what) > 0 {
		c.t.Errorf("it isn't at rest after 40 minutes: %d events, such as %s", len(what), what[0])
	}
	silent := map[string]bool{"": true}
	for _, raw := range c.list("nodes") {
		n := decode[corev1.Node](c.t, raw)
		for _, is := range n.Status.Conditions {
			silent[n.Name] = silent[n.Name] || is.Type == corev1.NodeReady && is.Status != corev1.ConditionTrue
		}
	}
	for _, p := range c.pods(func(p *corev1.Pod) bool {
		return !isReady(p) && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
	}) {
		if !silent[p.Spec.NodeName] {
			c.t.Errorf("pod %s/%s on %q is %s: %v", p.Namespace, p.Name, p.Spec.NodeName, p.Status.Phase, p.Status.Conditions)
		}
	}
	c.check()
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// A cluster that begins at any moment of a recorded roll sees what is there, and comes to rest.
func TestFromRecordedTapes(t *testing.T) {
	tapes, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(tapes) < 4 {
		t.Fatal(tapes, err)
	}
	for _, name := range tapes {
		for _, at := range []time.Duration{0, 7 * time.Second, 20 * time.Second, replay.End} {
			t.Run(fmt.Sprint(filepath.Base(name), " ", at), func(t *testing.T) {
				onTape(t, timeline.File(name), at).rests()
			})
		}
	}
}

// A cluster that begins at any moment of a simulated roll, of each provider, does as well.
func TestFromSimulatedTapes(t *testing.T) {
	moments := []time.Duration{5 * time.Minute}
	if os.Getenv("NODESIM_SOAK") != "" {
		for at := time.Duration(0); at < 20*time.Minute; at += 37 * time.Second {
			moments = append(moments, at)
		}
	}
	for _, s := range scenarios.All() {
		if s.Document == nil {
			continue
		}
		for _, at := range moments {
			t.Run(fmt.Sprint(s.Name, " ", at), func(t *testing.T) {
				t.Parallel()
				f, err := s.Document.Resolve(nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				onTape(t, f.Source(), at).rests()
			})
		}
	}
}

// A workload that no server took is refused by its name: its controller couldn't work with it.
func TestWorkloadsOfATapeAreWhole(t *testing.T) {
	c := act(t, shop)
	for resource, name := range map[string]string{"deployments": "web", "statefulsets": "queue"} {
		for lacking, want := range map[string]string{
			`{"spec":{"selector":null}}`:                       "found no spec.selector: want that of its pods",
			`{"spec":{"template":{"spec":{"containers":[]}}}}`: "found no containers in spec.template: want one at least",
		} {
			m := scenarios.Moment{Header: c.Header(), At: time.Second, Objects: map[timeline.Resource][][]byte{}}
			for _, r := range m.Header.Resources {
				switch r.Resource {
				case "nodes":
					m.Objects[r] = c.list("nodes")
				case resource:
					m.Objects[r] = [][]byte{rawjson.Apply(nil, c.get(resource, "shop", name), []byte(lacking))}
				}
			}
			_, err := scenarios.ActOn(m)
			if want = resource + ".apps shop/" + name + ": " + want; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s of %s: %v, want %s", lacking, name, err, want)
			}
		}
	}
}

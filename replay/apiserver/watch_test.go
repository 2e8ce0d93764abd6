package apiserver_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// next reads a frame of a watch.
func next(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// A watch in which nothing happens stays open, however short the time is in which
// a client has to take what happens.
func TestAQuietWatchStaysOpen(t *testing.T) {
	s, p := demo(t, apiserver.CutOff(20*time.Millisecond))
	l, _ := listening(t, s)
	for _, major := range []int{1, 2} {
		c, token := client(t, l, major)
		res, err := c.Do(request(t, l.URL()+"/api/v1/nodes?watch=1&resourceVersion="+version(t, s), "Bearer "+token))
		if err != nil {
			t.Fatal(err)
		}
		body := bufio.NewReader(res.Body)
		for range 2 {
			<-time.After(60 * time.Millisecond) // three times what a blocked client gets
			if err := stepNodes(p); err != nil {
				t.Fatal(err)
			}
			if frame := next(t, body); !strings.Contains(frame, `"object"`) {
				t.Errorf("HTTP/%d: %s", major, frame)
			}
		}
		_ = res.Body.Close()
	}
}

// version is where the nodes are.
func version(t *testing.T, s *apiserver.Server) string {
	t.Helper()
	list, err := kubernetes.NewForConfigOrDie(s.RESTConfig()).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.ResourceVersion
}

// stepNodes moves the tape to after the next event of a node.
func stepNodes(p *replay.Player) error {
	nodes := false
	cancel := p.Subscribe(func(n replay.Note) { nodes = nodes || n.Event.Resource == "nodes" && n.Event.Type.Object() })
	defer cancel()
	for !nodes {
		if err := p.Step(); err != nil {
			return err
		}
	}
	return nil
}

// Clients that never read are cut off, and nothing of them stays; a client that
// reads gets everything meanwhile.
func TestWhoNeverReadsIsCutOff(t *testing.T) {
	const changes = 4000
	s, p := shouting(t, changes, time.Second)
	l, _ := listening(t, s)
	from := "/api/v1/nodes?watch=1&resourceVersion=" + version(t, s)
	for n := range 20 {
		c, token := client(t, l, 1+n%2)
		res, err := c.Do(request(t, l.URL()+from, "Bearer "+token))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
	}
	c, token := client(t, l, 2)
	res, err := c.Do(request(t, l.URL()+from, "Bearer "+token))
	if err != nil {
		t.Fatal(err)
	}
	stop := play(t, p)
	defer stop()
	body := bufio.NewReader(res.Body)
	for range changes {
		next(t, body)
	}
	_ = res.Body.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for len(p.Cluster().Watches()) > 0 {
		select {
		case <-ctx.Done():
			t.Fatalf("still open: %+v", p.Cluster().Watches())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A client opens as many watches as it likes, and each ends when the server does.
func TestManyWatchesOfOneClient(t *testing.T) {
	s, _ := demo(t)
	l, stop := listening(t, s)
	clients := kubernetes.NewForConfigOrDie(l.RESTConfig())
	var open []watch.Interface
	for range 300 { // more than one connection takes
		w, err := clients.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, w)
	}
	if n := len(s.Player().Cluster().Watches()); n != len(open) {
		t.Errorf("%d watches, want %d", n, len(open))
	}
	stop()
	for _, w := range open {
		for range w.ResultChan() { // until it is closed
		}
	}
	if n := len(s.Player().Cluster().Watches()); n != 0 {
		t.Errorf("%d watches are left", n)
	}
	var refused *net.OpError
	if _, err := clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !errors.As(err, &refused) {
		t.Errorf("after the end: %v, want a refused connection", err)
	}
}

package fakeclient

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
)

// feeding has a fake clientset's tracker fed with the roll.
func feeding(t *testing.T, opts ...replay.Option) (*replay.Player, *fake.Clientset, *TrackerFeed) {
	t.Helper()
	p, err := replay.NewPlayer(replay.Events(header(), roll()), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	theirs := fake.NewSimpleClientset()
	f, err := FeedTracker(p, theirs.Tracker(), scheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return p, theirs, f
}

// A watch that a fault closes is opened again, as a client does.
func TestFeedTrackerWithAClosedWatch(t *testing.T) {
	_, theirs, f := feeding(t, fault.Inject("close:nodes,at=2s"))
	if err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := theirs.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(l.Items) != 2 || l.Items[0].Name != "b" || l.Items[0].ResourceVersion != "71" || l.Items[1].Name != "c" {
		t.Errorf("found %+v, %v at the end, want b@71 and c", l, err)
	}
}

// One that can't be opened again yet is an error, and the next step tries again.
func TestFeedTrackerThatIsRefused(t *testing.T) {
	_, theirs, f := feeding(t, fault.Inject("close:nodes,at=2s", "429:nodes,at=2s,count=1"))
	refused := 0
	for {
		err := f.Step(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			refused++
		}
	}
	if err := f.Write(); err != nil {
		t.Fatal(err)
	}
	l, err := theirs.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || refused == 0 || len(l.Items) != 2 || l.Items[0].ResourceVersion != "71" {
		t.Errorf("%d steps were refused, found %+v, %v at the end; want some, and b@71 and c", refused, l, err)
	}
}

func TestFeedTracker(t *testing.T) {
	p, theirs, f := feeding(t)
	show := func() string {
		l, err := theirs.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, n := range l.Items {
			out = append(out, n.Name+"@"+n.ResourceVersion)
		}
		return strings.Join(out, " ")
	}
	equal(t, "before", show(), "")
	if err := f.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "lists", show(), "a@10 b@11")
	if err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "end", show(), "b@71 c@60")
	if err := p.Seek(t.Context(), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(); err != nil {
		t.Fatal(err)
	}
	equal(t, "rewound", show(), "a@161 b@111 c@160")
	pods, err := theirs.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 || pods.Items[0].Name != "p" {
		t.Errorf("pods: %v %v", pods, err)
	}
}

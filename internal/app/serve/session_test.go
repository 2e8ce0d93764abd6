package serve_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/app/ctl"
	"github.com/nodesim/nodesim/internal/app/serve"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// story is a served demo whose feed and messages can be read at the end.
type story struct {
	options serve.Options
	feed    bytes.Buffer
	said    []string
	mu      sync.Mutex
}

func newStory(t *testing.T, opts ...replay.Option) *story {
	t.Helper()
	tape := ui.Simulated("demo", func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
		return scenarios.Open("demo", opts...)
	})
	s := &story{}
	s.options = serve.Options{
		Tape: tape, Player: opts, Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
		Say: func(line string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.said = append(s.said, line)
		},
		Driver: func(h *timeline.Header) (*ui.Driver, error) {
			o, err := observe.OptionsFor(h, "", "", "")
			feed := ui.NewFeedWriter(&s.feed)
			feed.Live = true
			return ui.NewDriver(ui.NewView(h, o), feed), err
		},
	}
	return s
}

// run serves until end is called, or the tape ends.
func (s *story) run(t *testing.T) (session *serve.Session, end func()) {
	t.Helper()
	session, err := serve.Open(t.Context(), s.options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- session.Run(ctx, func(ctx context.Context) error {
			return session.Show.Play(ctx, ui.Watcher{Control: session.Control})
		})
	}()
	return session, func() {
		if !s.options.ExitAtEnd {
			cancel()
		}
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		cancel()
		if err := session.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := os.Stat(session.Kubeconfig); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the kubeconfig is still there: %v", err)
		}
	}
}

func client(t *testing.T, s *serve.Session) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

// A watcher has the last event of the tape when a session ends with it.
func TestEveryoneGetsTheEnd(t *testing.T) {
	s := newStory(t, replay.StartPaused(), replay.WithSpeed(replay.Max))
	s.options.ExitAtEnd = true
	session, end := s.run(t)
	w, err := client(t, session).CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	session.Control.Resume()
	gone := 0
	for ev := range w.ResultChan() {
		if ev.Type == watch.Deleted {
			gone++
		}
	}
	end()
	if gone != 3 {
		t.Errorf("it saw %d nodes go, want 3", gone)
	}
	if !strings.HasSuffix(s.feed.String(), "3 nodes on target\n") {
		t.Errorf("the feed ends with %q", s.feed.String())
	}
}

// In lock-step a client over HTTP has been handed what ctl says was applied.
func TestLockStepOverHTTP(t *testing.T) {
	s := newStory(t, replay.StartPaused())
	session, end := s.run(t)
	w, err := client(t, session).CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := ctl.Load(session.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-w.ResultChan() // those that are there
	}
	var got, want []string
	for {
		step, err := c.Step(t.Context(), control.Steps{Wait: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range step.Applied {
			if a.Resource == "nodes" && a.Version != "" && a.Type != "SYNC" {
				want = append(want, a.Type+" "+a.Name)
				ev := <-w.ResultChan()
				got = append(got, string(ev.Type)+" "+ev.Object.(metav1.Object).GetName())
			}
		}
		if step.Status.Ended && step.Events == 0 {
			break
		}
	}
	w.Stop()
	for range w.ResultChan() { // until it is closed
	}
	c.Close()
	end()
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 9 {
		t.Errorf("%d events (-applied +watched):\n%s", len(want), diff)
	}
}

func TestGoingBackIsSaid(t *testing.T) {
	s := newStory(t, replay.StartPaused())
	session, end := s.run(t)
	c, err := ctl.Load(session.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"end", "5s"} {
		if _, err := c.Seek(t.Context(), to); err != nil {
			t.Fatal(err)
		}
	}
	status, err := c.Status(t.Context())
	if err != nil || status.Rewinds != 1 || status.Position != 5e9 {
		t.Errorf("%+v, %v", status, err)
	}
	c.Close()
	end()
	if len(s.said) != 1 || !strings.Contains(s.said[0], "goes back") {
		t.Errorf("said %q", s.said)
	}
}

// Whatever can't be had: nothing is left open.
func TestOpenFailsWhole(t *testing.T) {
	for name, spoil := range map[string]func(*serve.Options){
		"melt":           func(o *serve.Options) { o.Faults = []string{"melt"} },
		"widgets":        func(o *serve.Options) { o.Faults = []string{"drop:widgets"} },
		"want HOST:PORT": func(o *serve.Options) { o.Listen = "here" },
		"no such file":   func(o *serve.Options) { o.Kubeconfig = filepath.Join(o.Kubeconfig, "below", "nothing") },
		"no such driver": func(o *serve.Options) {
			o.Driver = func(*timeline.Header) (*ui.Driver, error) { return nil, errors.New("no such driver") }
		},
		"nothing-at-all.": func(o *serve.Options) { o.Tape = ui.File("nothing-at-all.yaml", nil) },
	} {
		s := newStory(t)
		spoil(&s.options)
		if session, err := serve.Open(t.Context(), s.options); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
			_ = session.Close()
		}
	}
	never, err := serve.Open(t.Context(), newStory(t).options)
	if err != nil {
		t.Fatal(err)
	}
	if err := never.Close(); err != nil {
		t.Errorf("one that was never run: %v", err)
	}
}

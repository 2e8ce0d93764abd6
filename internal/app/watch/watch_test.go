package watch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

// looks answers one after the other; the last one stays.
type looks []func() (noderoll.Snapshot, error)

func (l *looks) Snapshot(context.Context) (noderoll.Snapshot, error) {
	next := (*l)[0]
	if len(*l) > 1 {
		*l = (*l)[1:]
	}
	return next()
}

func nodes(phases ...noderoll.Phase) func() (noderoll.Snapshot, error) {
	return func() (s noderoll.Snapshot, err error) {
		for i, p := range phases {
			s.Nodes = append(s.Nodes, noderoll.NodeView{Name: string(rune('a' + i)), Phase: p})
		}
		return s, nil
	}
}

func fails() (noderoll.Snapshot, error) { return noderoll.Snapshot{}, errors.New("no route") }

// It says what it waits for, once, tells what happens, and continues after a
// failure.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var feed, said []string
		var last render.Frame
		err := Run(ctx, Options{
			Observer: &looks{nodes(), nodes(), nodes(noderoll.PhaseReady), fails, nodes(noderoll.PhaseDraining, noderoll.PhaseJoining)},
			What:     "node group workers", Say: func(s string) { said = append(said, s) },
			Entries: func(all []noderoll.Entry) error {
				for _, e := range all {
					feed = append(feed, e.String())
				}
				return nil
			},
			Draw: func(f render.Frame) error { last = f; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(said, "|"), "waiting for the first node of node group workers|watching node group workers, 1 node|can't read the cluster: no route"; got != want {
			t.Errorf("said %q, want %q", got, want)
		}
		if got, want := strings.Join(feed, "\n"), "T+2.000s     online      a\nT+4.000s     draining    a\nT+4.000s     joining     b"; got != want {
			t.Errorf("feed:\n%s\nwant:\n%s", got, want)
		}
		if len(last.Snapshot.Nodes) != 2 || len(last.Recent) != 3 || last.Stale != "" || !last.Live {
			t.Errorf("the last panel: %+v", last)
		}
	})
}

// A group without nodes, or a cluster that can't be read, is an error after the
// timeout, and never an empty success.
func TestTimeout(t *testing.T) {
	for want, l := range map[string]looks{
		"node group workers: found no node of it within 10s: want a group that has nodes": {nodes()},
		"nothing new for": {fails},
	} {
		synctest.Test(t, func(t *testing.T) {
			err := Run(t.Context(), Options{Observer: &l, What: "node group workers", Timeout: 10 * time.Second})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// hangs is a cluster that never answers.
type hangs struct{}

func (hangs) Snapshot(ctx context.Context) (noderoll.Snapshot, error) {
	<-ctx.Done()
	return noderoll.Snapshot{}, ctx.Err()
}

// A look that hangs ends with the timeout.
func TestALookThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := Run(t.Context(), Options{Observer: hangs{}, What: "the cluster", Timeout: 10 * time.Second})
		if took := time.Since(began); err == nil || took > 30*time.Second {
			t.Errorf("found %v after %s", err, took)
		}
	})
}

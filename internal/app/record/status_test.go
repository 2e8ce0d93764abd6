package record_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/recorder"
)

// follow shows a status line for a time, of a recording with a gap after 20 s.
func follow(t *testing.T, s *record.Status, length time.Duration) {
	t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	record.Follow(ctx, s, func() recorder.Stats {
		at := time.Since(begin)
		st := recorder.Stats{At: at, Nodes: 3, Events: 1 + int(at/time.Second), Bytes: 1000 + int64(at/time.Millisecond)}
		if at > 20*time.Second {
			st.Gaps = 1
			st.Resources = []recorder.ResourceStats{{Resource: "pods", Failure: "410 \x1b[2JExpired"}}
		}
		return st
	})
}

func TestPipedStatusIsSparse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s := &record.Status{Out: &out}
		follow(t, s, 65*time.Second)
		s.Warn("a \x1b[31mhostile\nwarning")
		want := `recording 0s: 3 nodes, 1 event, 1.0 kB, no gaps
recording 20s: 3 nodes, 21 events, 21.5 kB, 1 gap, pods is cut off: 410 �[2JExpired
recording 30s: 3 nodes, 31 events, 31.0 kB, 1 gap, pods is cut off: 410 �[2JExpired
recording 1m0s: 3 nodes, 61 events, 61.0 kB, 1 gap, pods is cut off: 410 �[2JExpired
nodesim: warning: a �[31mhostile warning
`
		if out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", out.String(), want)
		}
	})
}

func TestStatusOnATerminalIsRepaintedAndTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s := &record.Status{Out: &out, Width: func() int { return 30 }}
		follow(t, s, 1200*time.Millisecond)
		const clear = "\r\x1b[K"
		want := clear + "recording 0s: 3 nodes, 1 eve…" + clear + "recording 0s: 3 nodes, 1 eve…" + clear + "recording 1s: 3 nodes, 2 eve…" + clear
		if out.String() != want {
			t.Errorf("got\n%q\nwant\n%q", out.String(), want)
		}
	})
}

// A recording that waits says for how long and what for, at once and then as seldom; its first line comes at once, too.
func TestStatusWhileItWaits(t *testing.T) {
	const waiting = "waiting 0s for the first node: selector \"a=b\": found no node\n"
	for want, length := range map[string]time.Duration{
		waiting: 20 * time.Second,
		waiting + "waiting 30s for the first node: selector \"a=b\": found no node\n": 35 * time.Second,
		waiting + "waiting 30s for the first node: selector \"a=b\": found no node\n" +
			"recording 40s: 1 node, 1 event, 10 B, no gaps\n": 65 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			s := &record.Status{Out: &out}
			s.Wait("selector \"a=b\":\nfound no node")
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), length)
			defer cancel()
			record.Follow(ctx, s, func() recorder.Stats {
				if time.Since(begin) < 40*time.Second {
					return recorder.Stats{}
				}
				return recorder.Stats{At: 40 * time.Second, Nodes: 1, Events: 1, Bytes: 10}
			})
			if out.String() != want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), want)
			}
		})
	}
}

func TestNobodyLooks(t *testing.T) {
	var s *record.Status
	s.Warn("nothing")
	s.Wait("nothing")
	record.Follow(t.Context(), s, nil) // returns at once
}

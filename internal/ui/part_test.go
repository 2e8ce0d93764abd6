package ui_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
)

// held is a drain that a budget holds up from 20s on: it is called blocked at
// 30s, between two events.
func held() string {
	const node = `{"kind":"Node","apiVersion":"v1","metadata":{"labels":{"eks.amazonaws.com/nodegroup":"g","eks.amazonaws.com/nodegroup-image":"ami-1"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
	return fmt.Sprintf(`apiVersion: nodesim.dev/v1
kind: Timeline
metadata:
  name: held
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: policy, version: v1, kind: PodDisruptionBudget, resource: poddisruptionbudgets, namespaced: true}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"old","uid":"u1","rv":"1","object":%s}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"10"}
--- {"at":"0s","type":"ADDED","resource":"pods","namespace":"shop","name":"web","uid":"u2","rv":"2","object":{"kind":"Pod","apiVersion":"v1","metadata":{"labels":{"app":"web"}},"spec":{"nodeName":"old"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"SYNC","resource":"pods","rv":"10"}
--- {"at":"0s","type":"ADDED","resource":"poddisruptionbudgets","namespace":"shop","name":"web","uid":"u3","rv":"3","object":{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1}}}
--- {"at":"0s","type":"SYNC","resource":"poddisruptionbudgets","rv":"10"}
--- {"at":"20s","type":"MODIFIED","resource":"nodes","name":"old","rv":"11","patch":{"spec":{"unschedulable":true}}}
--- {"at":"60s","type":"MODIFIED","resource":"nodes","name":"old","rv":"12","patch":{"spec":{"unschedulable":null},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}}
--- {"at":"61s","type":"GAP","resource":"pods","rv":"12","reason":"410"}
--- {"at":"62s","type":"GAP","resource":"nodes","rv":"12","reason":"410"}
--- {"at":"63s","type":"SYNC","resource":"nodes","rv":"13"}
--- {"at":"64s","type":"MODIFIED","resource":"nodes","name":"old","rv":"14","patch":{"spec":{"unschedulable":true}}}
--- {"at":"65s","type":"SYNC","resource":"pods","rv":"15"}
--- {"at":"66s","type":"END","events":13}
`, node)
}

// Where a part ends between two events, what falls due before its end shows on
// every way.
func TestEveryWayEndsAPartTheSame(t *testing.T) {
	name := filepath.Join(t.TempDir(), "held.yaml")
	if err := os.WriteFile(name, []byte(held()), 0o600); err != nil {
		t.Fatal(err)
	}
	tape := ui.File(name, nil)
	for _, to := range []time.Duration{25 * time.Second, 30 * time.Second, 40 * time.Second, 60 * time.Second, 65 * time.Second, replay.End} {
		for _, from := range []time.Duration{0, 22 * time.Second} {
			want := through(t, tape, from, to)
			if blocked := strings.Contains(want, "T+30.000s    blocked "); blocked != (to >= 30*time.Second) {
				t.Errorf("from %s to %s: blocked shows: %t\n%s", from, to, blocked, want)
			}
			var followed, paced bytes.Buffer
			r, d := driver(t, tape, &followed)
			d.From, d.To = from, to
			if err := ui.Follow(t.Context(), r, d); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, followed.String()); diff != "" {
				t.Errorf("from %s to %s (-through +follow):\n%s", from, to, diff)
			}
			synctest.Test(t, func(t *testing.T) {
				r, d := driver(t, tape, &paced)
				d.From, d.To = from, to
				if err := ui.Paced(t.Context(), tape, r, d, ui.Watcher{}); err != nil {
					t.Fatal(err)
				}
			})
			if diff := cmp.Diff(want, paced.String()); diff != "" {
				t.Errorf("from %s to %s (-through +paced):\n%s", from, to, diff)
			}
		}
	}
}

// What was said of a drain ends with the drain, whatever ends it, and each gap
// with its own SYNC.
func TestPanelForgetsWhatIsOver(t *testing.T) {
	shown := through(t, ui.File("-", strings.NewReader(held())), 0, replay.End)
	panels := strings.Split(shown, "\n held\n")
	last := func(within string) string {
		t.Helper()
		for i := len(panels) - 1; i >= 0; i-- {
			if strings.Contains(panels[i], within) {
				return panels[i]
			}
		}
		t.Fatalf("no panel has %q:\n%s", within, shown)
		return ""
	}
	for _, check := range []struct{ panel, holds, lacks string }{
		{"▸  0:30", "▲ blocked", ""},
		{"▸  1:00", "not ready", "▲ blocked"},
		{"▸  1:02", "stale: gap in pods, nodes", ""},
		{"▸  1:04", "stale: gap in pods", "▲ shop/web"},
	} {
		p := last(check.panel)
		if !strings.Contains(p, check.holds) || check.lacks != "" && strings.Contains(p, check.lacks) {
			t.Errorf("at %s: want %q and not %q:\n%s", check.panel, check.holds, check.lacks, p)
		}
	}
}

// Nodes at rest are something to show: once, at the end. A tape without nodes
// shows nothing.
func TestRestShowsOnce(t *testing.T) {
	text := held()
	rest := text[:strings.Index(text, `--- {"at":"20s"`)]
	empty := text[:strings.Index(text, `--- {"at":"0s"`)] + "---\n"
	for story, want := range map[string]int{rest: 1, empty: 0} {
		name := filepath.Join(t.TempDir(), "rest.yaml")
		if err := os.WriteFile(name, []byte(story), 0o600); err != nil {
			t.Fatal(err)
		}
		got := through(t, ui.File(name, nil), 0, replay.End)
		if n := strings.Count(got, "NODES 1 "); n != want {
			t.Errorf("%d panels, want %d:\n%s", n, want, got)
		}
	}
}

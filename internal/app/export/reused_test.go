package export_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/replay/analysis"
)

// reused has two nodes of one name, one after the other, a pod that was created while the first was there and was scheduled to
// the second, and two rolls that overlap.
func reused() *analysis.Analysis {
	at := func(s int) *analysis.Moment { return &analysis.Moment{At: time.Duration(s) * time.Second, Line: s} }
	span := func(from, to int) []analysis.Span {
		return []analysis.Span{{Phase: analysis.PhaseServing, From: *at(from), To: *at(to)}}
	}
	a := &analysis.Analysis{
		Rolls: []analysis.Roll{{Group: "blue", Start: *at(1), End: *at(50)}, {Group: "green", Start: *at(2), End: *at(40)}},
		Nodes: []analysis.Node{
			{Name: "a", UID: "first", Group: "green", Terminated: at(20), Spans: span(0, 20)},
			{Name: "a", UID: "second", Group: "green", Joined: at(25), Spans: span(25, 60)},
		},
		Pods: []analysis.Pod{
			{Namespace: "shop", Name: "web", UID: "1", Node: "a", Created: at(15), Scheduled: at(30)},
			{Namespace: "shop", Name: "db", UID: "2", Node: "a", Gone: at(20)},
		},
		Findings: []analysis.Finding{
			{Kind: analysis.FindSlowNode, Node: "a", From: *at(10), To: *at(12)},
			{Kind: analysis.FindSlowJoin, Node: "a", From: *at(26), To: *at(28)},
			{Kind: analysis.FindVolume, From: *at(2), To: *at(40)},
			{Kind: analysis.FindUnavailable, From: *at(2), To: *at(3)},
		},
	}
	a.Tape.Start, a.Tape.Duration = time.Unix(1, 0), time.Minute
	return a
}

func TestPerfettoOfAReusedName(t *testing.T) {
	got := describe(t, reused())
	blocks := strings.Split(got, "  node a\n")
	if len(blocks) != 3 || !strings.Contains(blocks[1], "pod shop/db") || !strings.Contains(blocks[2], "pod shop/web") {
		t.Errorf("want db on the first node and web on the second:\n%s", got)
	}
}

// A finding is an event of the node that was there, and of the roll that it is about.
func TestOTLPOfAReusedName(t *testing.T) {
	got := map[string]string{}
	for _, rs := range readOTLP(t, write(t, reused(), export.OTLP, "")) {
		for _, s := range rs.ScopeSpans[0].Spans {
			where := s.Name
			for _, a := range s.Attributes {
				if a.Key == "k8s.node.uid" {
					where += " " + a.Value.GetStringValue()
				}
			}
			for _, e := range s.Events {
				got[e.Name] = where
			}
		}
	}
	for finding, want := range map[string]string{
		"slow-node": "node a first", "slow-join": "node a second", "volume": "roll green", "unavailable": "roll blue",
	} {
		if found := got["finding: "+finding]; found != want {
			t.Errorf("%s: found at %q, want %q", finding, found, want)
		}
	}
}

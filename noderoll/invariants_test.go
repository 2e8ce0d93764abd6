package noderoll_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

func TestDemoObeysTheInvariants(t *testing.T) {
	for i, s := range noderoll.DemoTimeline() {
		s.Tally() // the frames are in the order of the roll
		if err := s.Check(); err != nil {
			t.Errorf("frame %d: %v", i, err)
		}
	}
}

func TestSnapshotCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*noderoll.Snapshot)
		want  string
	}{
		"order":       {func(s *noderoll.Snapshot) { s.Nodes[0].Name = "z" }, `node "b" after "z"`},
		"twice":       {func(s *noderoll.Snapshot) { s.Nodes[0].Name = "b" }, `node "b" after "b"`},
		"stray pods":  {func(s *noderoll.Snapshot) { s.Nodes[0].Pods = 1 }, "while draining only"},
		"more pods":   {func(s *noderoll.Snapshot) { s.Nodes[1].Pods = 9 }, "pods 9/3"},
		"not ready":   {func(s *noderoll.Snapshot) { s.Nodes[0].Ready = false }, "is not ready"},
		"counters":    {func(s *noderoll.Snapshot) { s.Draining = 2 }, "counters"},
		"nothing off": {func(*noderoll.Snapshot) {}, ""},
	} {
		s := snap(view("a", ready), noderoll.NodeView{Name: "b", Phase: draining, Pods: 1, PodsTotal: 3})
		s.Tally()
		tc.spoil(&s)
		err := s.Check()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got error %v, want one that says %q", name, err, tc.want)
		}
	}
}

func TestEntryChecker(t *testing.T) {
	for _, tc := range []struct{ feed, want string }{
		{"joining online draining evicted blocked unblocked evicted terminated joining", ""},
		{"evicted blocked unblocked terminated", ""}, // draining since before the feed
		{"blocked online draining blocked", ""},      // uncordoned while blocked
		{"warning notready online pressure", ""},
		{"terminated online", ""},
		{"online online", "repeats"},
		{"terminated terminated", "repeats"},
		{"terminated notready", "gone"},
		{"terminated evicted", "isn't draining"},
		{"online evicted", "isn't draining"},
		{"online blocked", "isn't draining"},
		{"draining blocked blocked", "twice"},
		{"draining unblocked", "twice"},
		{"draining blocked unblocked unblocked", "twice"},
		{"terminated pressure", "gone"},
	} {
		var c noderoll.EntryChecker
		var err error
		for i, kind := range strings.Fields(tc.feed) {
			if err != nil {
				t.Errorf("%s: refused before the end: %v", tc.feed, err)
			}
			err = c.Check(noderoll.Entry{At: time.Duration(i), Kind: noderoll.EventKind(kind), Node: "a"})
		}
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got error %v, want one that says %q", tc.feed, err, tc.want)
		}
	}
	c := noderoll.EntryChecker{}
	_ = c.Check(noderoll.Entry{At: 2, Kind: noderoll.EvtMark})
	if err := c.Check(noderoll.Entry{At: 1, Kind: noderoll.EvtMark}); err == nil {
		t.Error("time goes back unnoticed")
	}
}

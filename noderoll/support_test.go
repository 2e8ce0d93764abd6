package noderoll_test

import (
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

var epoch = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func kinds(es []noderoll.Entry) string {
	var out []string
	for _, e := range es {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

// view is a NodeView of the given phase.
func view(name string, phase noderoll.Phase) noderoll.NodeView {
	return noderoll.NodeView{Name: name, Phase: phase, Ready: phase == noderoll.PhaseReady}
}

func snap(nodes ...noderoll.NodeView) noderoll.Snapshot { return noderoll.Snapshot{Nodes: nodes} }

func events(es []noderoll.Event) string {
	var out []string
	for _, e := range es {
		out = append(out, string(e.Kind)+" "+e.Node)
	}
	return strings.Join(out, ", ")
}

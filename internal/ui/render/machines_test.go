package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/noderoll"
)

// machineStory is a roll of Karpenter: one node drifted, one that its claim waits for, and claims without a node.
func machineStory() Frame {
	s := noderoll.Snapshot{
		Nodes: []noderoll.NodeView{
			{Name: "ip-10-0-1-10", Ready: true, Phase: noderoll.PhaseReady},
			{Name: "ip-10-0-1-11", Ready: true, Phase: noderoll.PhaseDraining, Pods: 2, PodsTotal: 5},
			{Name: "ip-10-0-1-20", OnTarget: true, Phase: noderoll.PhaseJoining},
		},
		Machines: []noderoll.MachineView{
			{Object: "NodeClaim/web-4kx2p", Condition: "Launched", Reason: "LaunchFailed", Message: "no such image"},
			{Object: "NodeClaim/web-a", Node: "ip-10-0-1-10", Drifted: true},
			{Object: "NodeClaim/web-b", Node: "ip-10-0-1-11", Drifted: true},
			{Object: "NodeClaim/web-c", Node: "ip-10-0-1-20", Condition: "Initialized", Reason: "StartupTaintsExist", Message: `StartupTaint "cilium" still exists`},
			{Object: "NodeClaim/web-nt7ql"},
		},
	}
	s.Tally()
	f := frame(s)
	for i, kind := range []noderoll.EventKind{noderoll.EvtDrifted, noderoll.EvtRequested, noderoll.EvtMachine} {
		e := entry(1000*i, kind, []string{"ip-10-0-1-10", "", ""}[i])
		e.Object, e.Reason = []string{"NodeClaim/web-a", "NodeClaim/web-nt7ql", "NodeClaim/web-nt7ql"}[i], []string{"AMIDrift", "", "Launched"}[i]
		f.Recent = append(f.Recent, e)
	}
	return f
}

func TestMachinePanels(t *testing.T) {
	for _, o := range sizes {
		golden.Assert(t, fmt.Sprintf("machines-%dx%d", o.Width, o.Height), Panel(machineStory(), o))
	}
}

// A group that has no node yet shows what it waits for, in any height, and names as text.
func TestMachinesWithoutNodes(t *testing.T) {
	f := frame(noderoll.Snapshot{})
	for i := range 40 {
		f.Snapshot.Machines = append(f.Snapshot.Machines, noderoll.MachineView{Object: fmt.Sprintf("NodeClaim/\x1b[31m%02d", i), Condition: "Launched", Reason: "a\nb"})
	}
	for height := range 30 {
		for _, width := range []int{1, 20, 80} {
			text := Panel(f, Options{Width: width, Height: height})
			if strings.ContainsAny(text, "\x1b") || strings.Count(text, "\n") >= max(height, 1) {
				t.Errorf("%dx%d: %q", width, height, text)
			}
		}
	}
	if text := Panel(f, Options{Width: 80, Height: 24}); !strings.Contains(text, "40 requested") || !strings.Contains(text, "Launched: a") {
		t.Errorf("got\n%s", text)
	}
}

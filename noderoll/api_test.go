package noderoll_test

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/noderoll"
)

// What programs that were written for the first version of this API build on:
// the names, types and signatures stay, whatever else comes.
const (
	_ string = noderoll.LabelNodegroup
	_ string = noderoll.LabelImage

	_ noderoll.Phase = noderoll.PhaseReady + noderoll.PhaseJoining + noderoll.PhaseDraining

	_ noderoll.EventKind = noderoll.EvtJoining + noderoll.EvtOnline + noderoll.EvtDraining + noderoll.EvtTerminated
)

var (
	_ = struct {
		Node string             `json:"node"`
		Kind noderoll.EventKind `json:"kind"`
	}(noderoll.Event{})
	_ = struct {
		Node    string `json:"node"`
		Object  string `json:"object"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}(noderoll.WarnEvent{})
	_ = noderoll.NodeView{Name: "", OnTarget: true, Ready: true, Phase: noderoll.Phase(""), Pods: 1, PodsTotal: 1, Pressure: []string(nil)}
	_ = noderoll.Snapshot{
		Nodes: []noderoll.NodeView(nil), Total: 1, ReadyTarget: 1, Draining: 1, Joining: 1, Warnings: []noderoll.WarnEvent(nil),
	}

	_ interface {
		Snapshot(context.Context) (noderoll.Snapshot, error)
	} = noderoll.Observer(nil)

	_ func(kubernetes.Interface, string, string) *noderoll.KubeObserver = noderoll.NewKubeObserver
	_ interface {
		noderoll.Observer
		CaptureBaseline(context.Context) error
		StartInformers(context.Context) error
		StopInformers()
	} = (*noderoll.KubeObserver)(nil)

	_ func([]noderoll.Snapshot) *noderoll.ScriptedObserver = noderoll.NewScriptedObserver
	_ func() []noderoll.Snapshot                           = noderoll.DemoTimeline
	_ interface {
		noderoll.Observer
		AtEnd() bool
	} = (*noderoll.ScriptedObserver)(nil)

	_ func() *noderoll.Tracker = noderoll.NewTracker
	_ []noderoll.Event         = noderoll.Tracker{}.Events
	_ interface {
		Observe(noderoll.Snapshot)
		Recent(int) []noderoll.Event
	} = (*noderoll.Tracker)(nil)
)

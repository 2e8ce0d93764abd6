package roll

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// NTHConfig are the settings of aws-node-termination-handler in IMDS mode, all
// off by default (its README and config/helm).
type NTHConfig struct {
	// Taint is taintNode: the node is tainted before it is drained.
	Taint bool
	// Label takes the node out of the load balancers.
	Label bool
	// Events is emitKubernetesEvents.
	Events bool
	// Rebalance is enableRebalanceDraining: a recommendation drains as well.
	Rebalance bool
}

// nth is aws/aws-node-termination-handler, one on each node: it asks the machine's metadata every two seconds, and
// when it finds a notice it cordons and drains its node as kubectl does, for two minutes at most. What is left then
// goes with the machine.
type nth struct {
	env    *component.Env
	cfg    HandlerConfig
	chance model.Stream
	drains *Drainer
}

// nthGrace is nodeTerminationGracePeriod.
const nthGrace = 120 * time.Second

func newNTH(env *component.Env, cfg HandlerConfig) {
	h := &nth{env: env, cfg: cfg, chance: env.Stream("nth"), drains: NewDrainer(env)}
	env.Cloud.Watch(func(c cloud.Change, i *cloud.Instance) {
		switch {
		case !cfg.covers(i.Group):
		case c == cloud.Told && (i.Notice != 0 || cfg.NTH.Rebalance):
			env.After(env.Draw(&h.chance, env.Timings.InterruptionLatency), func() { h.drain(i) })
		case c == cloud.Ended && i.State == cloud.Terminated:
			env.After(0, func() { h.drains.Cancel(i.Name) })
		}
	})
}

func (h *nth) drain(i *cloud.Instance) {
	n := h.env.API.Node(i.Name)
	if n == nil || i.Ailments.Silent() {
		return // it runs on that machine itself
	}
	at := h.env.API.Now().Add(i.Notice - h.env.Now()).Time().Format("2006-01-02T15:04:05Z")
	kind, reason, what := "spot-itn", "SpotInterruption", "Spot ITN received. Instance will be interrupted at "+at+" \n"
	if i.Notice == 0 {
		at = h.env.API.Now().Time().Format("2006-01-02T15:04:05Z")
		kind, reason, what = "rebalance-recommendation", "RebalanceRecommendation", "Rebalance recommendation received. Instance will be cordoned at "+at+" \n"
	}
	h.report(n, "Warning", reason, what)
	h.env.API.UpdateNode(n, func(n *kube.Node) {
		if h.cfg.NTH.Taint {
			n.AddTaint(kube.Taint{Key: "aws-node-termination-handler/" + kind, Value: taintValue(kind, i.ID+at), Effect: "NoSchedule"})
		}
		n.Unschedulable = true
		if h.cfg.NTH.Label {
			n.Labels = n.Labels.With(excludeBalancers, "aws-node-termination-handler")
		}
	})
	h.drains.Drain(n, Drain{
		Retry: h.env.Timings.EvictionRetry, Timeout: nthGrace,
		Evicted: func(p *kube.Pod) {
			if h.cfg.NTH.Events {
				h.env.API.Record(kube.Source{Component: "aws-node-termination-handler"}, kube.AboutPod(p), "Normal", "PodEviction",
					"Pod evicted due to node drain (node "+n.Name+")")
			}
		},
	}, func(err error) {
		if err == nil {
			h.report(n, "Normal", "CordonAndDrain", "Node successfully cordoned and drained")
		} else {
			h.report(n, "Warning", "CordonAndDrainError", "There was a problem while trying to cordon and drain the node: "+err.Error())
		}
	})
}

// taintValue is the event's ID, cut to what a taint's value may have
// (pkg/monitor/spotitn; maxTaintValueLength of pkg/node).
func taintValue(kind, of string) string {
	sum := sha256.Sum256([]byte(of))
	id := kind + "-" + hex.EncodeToString(sum[:])
	return id[:min(len(id), 63)]
}

// report reports an event on the node; its UID is the node's name, so that
// `kubectl describe` finds it (pkg/observability/k8s-events.go).
func (h *nth) report(n *kube.Node, kind, reason, message string) {
	if !h.cfg.NTH.Events {
		return
	}
	about := kube.Reference{Kind: "Node", Name: n.Name, UID: n.Name}
	h.env.API.Record(kube.Source{Component: "aws-node-termination-handler"}, about, kind, reason, message)
}

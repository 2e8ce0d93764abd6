package roll

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A NodeClaim that is deleted deletes its node, and the node's finalizer holds
// both until the machine is gone (nodeclaim/lifecycle/controller.go, finalize;
// node/termination/controller.go).

// leastDrain is the least duration of a drain.
const leastDrain = 5 * time.Second

// deleteClaim deletes a NodeClaim, and by it its node.
func (k *Karpenter) deleteClaim(c *claim) {
	if c.object.Gone() || c.object.Terminating() {
		return
	}
	k.env.API.DeleteCustom(c.object)
	k.soon(func() { k.finalize(c) })
}

// Delete deletes the NodeClaim of a name, as kubectl delete does. One that isn't there, or is on its way out, is left
// alone.
func (k *Karpenter) Delete(name string) {
	if c := k.named[name]; c != nil {
		k.deleteClaim(c)
	}
}

// finalize waits for the node of a deleted NodeClaim, if that was registered, and its machine.
func (k *Karpenter) finalize(c *claim) {
	if c.object.Gone() || !c.object.Terminating() {
		// The node went by another's hand: so does the claim.
		if !c.object.Gone() && c.instance != nil && (c.instance.State == cloud.Terminated || c.instance.State == cloud.ShuttingDown) {
			k.deleteClaim(c)
		}
		return
	}
	i := c.instance
	if i == nil {
		k.release(c)
		return
	}
	if n := k.env.API.Node(i.Name); n != nil && c.registered {
		k.env.API.DeleteNode(n)
		return // the node's end brings us here again
	}
	if i.State != cloud.Terminated {
		k.set(c, "InstanceTerminating", "True", "", "")
		k.env.Cloud.Terminate(i, false)
		return // so does the machine's
	}
	k.release(c)
}

// release lets a NodeClaim go.
func (k *Karpenter) release(c *claim) {
	k.settle(c, false)
	if c.instance != nil {
		delete(k.claims, c.instance.ID)
	}
	delete(k.named, c.object.Name)
	delete(k.reasons, c.object.UID)
	k.env.API.UpdateCustom(c.object, func(o *kube.Custom) { o.SetFinalizer(terminationFinalizer, false) })
}

func (k *Karpenter) instanceChanged(change cloud.Change, i *cloud.Instance) {
	if !k.owns(i.Group) {
		return
	}
	switch {
	case change == cloud.Told && k.cfg.Interruptions:
		k.env.After(k.env.Draw(&k.chance, k.env.Timings.InterruptionLatency), func() { k.interrupted(i) })
	case change == cloud.ShutdownAsk && k.cfg.Interruptions:
		// The queue tells of every instance that is shut down.
		k.env.After(k.env.Draw(&k.chance, k.env.Timings.InterruptionLatency), func() {
			if c := k.claims[i.ID]; c != nil {
				k.publishBoth(k.env.API.Node(i.Name), c, "Warning", "InstanceTerminating", "Instance is terminating")
				k.deleteClaim(c)
			}
		})
	case change == cloud.Ended && i.State == cloud.Terminated:
		k.env.After(k.env.Draw(&k.chance, k.env.Timings.TerminationRequeue), func() { k.ended(i) })
	}
}

// ended does what the controllers do when they find a machine gone.
func (k *Karpenter) ended(i *cloud.Instance) {
	c := k.claims[i.ID]
	if c == nil {
		return
	}
	n := k.env.API.Node(i.Name)
	switch {
	case n != nil && n.Terminating() && n.Ready():
		// Its kubelet may still run, as far as is known.
	case n != nil && n.Terminating():
		k.drains.Cancel(n.Name)
		k.freeNode(n)
	case n != nil:
		k.env.API.DeleteNode(n) // whose termination then finds the machine gone
		k.deleteClaim(c)
	default:
		k.deleteClaim(c)
		k.finalize(c)
	}
}

func (k *Karpenter) freeNode(n *kube.Node) {
	k.env.API.UpdateNode(n, func(n *kube.Node) { n.SetFinalizer(terminationFinalizer, false) })
}

// terminate is the termination of a node that has a deletionTimestamp.
func (k *Karpenter) terminate(n *kube.Node) {
	i := k.env.Cloud.ByNode(n.Name)
	if n.Gone() || i == nil || !n.HasFinalizer(terminationFinalizer) {
		return
	}
	c := k.claims[i.ID]
	if c == nil || c.finalizing {
		return
	}
	c.finalizing = true
	k.deleteClaim(c)
	if !n.Ready() && i.State == cloud.Terminated {
		k.freeNode(n)
		return
	}
	k.env.API.UpdateNode(n, func(n *kube.Node) {
		n.AddTaint(kube.Taint{Key: disruptedTaint, Effect: "NoSchedule"})
		n.Labels = n.Labels.With(excludeBalancers, "karpenter")
	})
	k.set(c, "Drained", "Unknown", "Draining", "Draining")
	k.expiring(n, c)
	began := k.env.Now()
	k.drains.Drain(n, k.drain(n, c), func(error) {
		k.env.After(max(began+leastDrain-k.env.Now(), time.Second), func() {
			k.set(c, "Drained", "True", "", "")
			k.detach(n, c)
		})
	})
}

// expiring tells by when pods are deleted whatever holds them up: nodeTerminationTime of
// node/termination/controller.go, and nodeclaim/lifecycle/controller.go, annotateTerminationGracePeriodTerminationTime.
func (k *Karpenter) expiring(n *kube.Node, c *claim) {
	if k.cfg.GracePeriod == 0 {
		return
	}
	if c.ends == 0 {
		c.ends = k.env.API.Now().Add(k.cfg.GracePeriod)
		k.env.API.UpdateCustom(c.object, func(o *kube.Custom) {
			o.Annotations = o.Annotations.With("karpenter.sh/nodeclaim-termination-timestamp", c.ends.Time().Format(time.RFC3339))
		})
	}
	k.publishBoth(n, c, "Warning", "TerminationGracePeriodExpiring", "All pods will be deleted by "+c.ends.Time().Format(time.RFC3339))
}

// leavesKarpenter reports whether a pod has to leave a node that Karpenter drains: a static one doesn't, nor one that tolerates the taint
// (IsEvictable of pkg/utils/pod/scheduling.go).
func leavesKarpenter(p *kube.Pod) bool {
	tolerates, _ := p.Tolerates(kube.Taint{Key: disruptedTaint, Effect: "NoSchedule"})
	return !tolerates && (p.Owner == nil || p.Owner.Kind != "Node")
}

// drain evicts the least important first: terminator.go. Pods that tolerate the
// taint stay, those of DaemonSets that don't have to leave. Pods that must not be
// disrupted it waits for (pkg/utils/pod/scheduling.go, IsEvictable and IsDrainable),
// until its terminationGracePeriod says that they are deleted.
func (k *Karpenter) drain(n *kube.Node, c *claim) Drain {
	why := k.reasons[c.object.UID]
	return Drain{
		Retry: k.env.Timings.EvictionRetry, Timeout: k.cfg.GracePeriod, Expires: true,
		Takes:  func(p *kube.Pod) bool { return !p.Terminal() && leavesKarpenter(p) },
		Evicts: func(p *kube.Pod) bool { return p.Annotations.Get(doNotDisrupt) != "true" },
		Expired: func(p *kube.Pod, grace int64) { // terminator/events/events.go, DisruptPodDelete
			k.publish(kube.AboutPod(p), "Normal", "Disrupted", fmt.Sprintf("Deleting the pod to accommodate the terminationTime %v of the node. "+
				"The pod was granted %d seconds of grace-period of its %d terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.",
				c.ends.Time(), grace, p.Template.GraceSeconds), p.UID)
		},
		// pkg/utils/pod/scheduling.go, IsStuckTerminating
		Skips: func(*kube.Pod) bool { return true }, SkipAfter: time.Minute,
		Stage: func(p *kube.Pod) int {
			stage := 0
			if p.Owner != nil && p.Owner.Kind == "DaemonSet" {
				stage = 1
			}
			switch p.Template.PriorityClass {
			case "system-cluster-critical", "system-node-critical":
				stage += 2
			}
			return stage
		},
		Evicted: func(p *kube.Pod) {
			if why != "" {
				k.publish(kube.AboutPod(p), "Normal", "Evicted", "Evicted pod: "+why, p.UID)
			}
		},
		Refused: func(p *kube.Pod, no *kube.Refusal) {
			if no.Code == 429 {
				k.publish(kube.AboutNode(n), "Warning", "FailedDraining",
					"Failed to drain node, evicting pod violates a PDB (Pod="+p.Namespace+"/"+p.Name+")", p.Name)
			}
		},
		Looked: func(left int) {
			k.expiring(n, c)
			k.publish(kube.AboutNode(n), "Warning", "FailedDraining", fmt.Sprintf("Failed to drain node, %d pods are waiting to be evicted", left), "")
		},
	}
}

// volumePoll is between two looks at a node's volumes.
var volumePoll = model.Fixed(5 * time.Second)

// detach waits until the volumes of the pods that left are detached, and has the
// machine terminated then.
func (k *Karpenter) detach(n *kube.Node, c *claim) {
	if n.Gone() || c.object.Gone() || c.instance.State == cloud.Terminated {
		return
	}
	late := c.ends != 0 && k.env.API.Now() >= c.ends // of the terminationGracePeriod: awaitVolumeDetachment
	if len(n.Attached) > 0 && !late {
		k.publish(kube.AboutNode(n), "Warning", "AwaitingVolumeDetachment", "Awaiting deletion of bound volumeattachments ("+attachments(n)+")", "")
		k.set(c, "VolumesDetached", "Unknown", "AwaitingVolumeDetachment", "AwaitingVolumeDetachment")
		k.env.After(k.env.Draw(&k.chance, volumePoll), func() { k.detach(n, c) })
		return
	}
	if len(n.Attached) > 0 {
		k.set(c, "VolumesDetached", "False", "TerminationGracePeriodElapsed", "TerminationGracePeriodElapsed")
	} else {
		k.set(c, "VolumesDetached", "True", "", "")
	}
	k.env.After(k.env.Draw(&k.chance, karpenterPause), func() {
		if c.object.Gone() {
			return
		}
		k.set(c, "InstanceTerminating", "True", "", "")
		k.env.Cloud.Terminate(c.instance, false)
	})
}

// attachments names the VolumeAttachments of a node: csi- and a hash.
func attachments(n *kube.Node) string {
	out := ""
	for _, a := range n.Attached {
		s := model.NewStream(0, "volumeattachment", n.UID, a.Name)
		if out != "" {
			out += ", "
		}
		out += "csi-" + s.Hex(64)
	}
	return out
}

package roll

import (
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// The provisioner (pkg/controllers/provisioning) gathers the pods that the
// scheduler has called unschedulable, and launches as many NodeClaims as hold
// them, of the first NodePool whose machine fits. Pods that come later find what is
// left of those on their way (provisioner.go, Schedule: the nodes of the cluster's
// state are existing ones from their launch on). Which pod it counts on for which
// claim it reports as Nominated; the scheduler decides all the same.

// nominations is the number of pods that are reported in a batch: the limit of the events' rate (pkg/events).
const nominations = 10

func (k *Karpenter) podChanged(change kube.Change, old, p *kube.Pod) {
	if change != kube.Deleted && p.NodeName != "" {
		if k.agents.Saw(p) {
			clear(k.newNodes)
		}
		k.mounted(p)
	}
	if change == kube.Deleted || p.NodeName != "" {
		delete(k.nominated, p)
		delete(k.refused, p)
		if k.back { // nothing provisions, which would let go of it
			k.pending = slices.DeleteFunc(k.pending, func(one *kube.Pod) bool { return one == p })
		}
		return
	}
	// One that is added is unschedulable already where Karpenter was restarted.
	if p.Owner != nil && p.Owner.Kind == "DaemonSet" || k.refused[p] {
		return // DaemonSets' aren't provisionable (pkg/utils/pod/scheduling.go, IsProvisionable)
	}
	if !waits(p) || change != kube.Added && waits(old) || k.nominated[p] != nil {
		return
	}
	k.pending = append(k.pending, p)
	k.batch()
}

// waits reports whether a pod is one that no node takes, and that the scheduler has made no room for by preemption (IsProvisionable).
func waits(p *kube.Pod) bool { return p.Conditions.Is("PodScheduled", "False") && p.Nominated == "" }

func (k *Karpenter) batch() {
	if k.batching || k.back || len(k.pending) == 0 {
		return
	}
	k.batching = true
	k.env.After(k.env.Draw(&k.chance, k.env.Timings.AutoscalerScan), func() {
		k.batching = false
		k.provision()
	})
}

func (k *Karpenter) provision() {
	if k.back {
		return
	}
	waiting := slices.DeleteFunc(k.pending, func(p *kube.Pod) bool {
		return p.Gone() || p.Terminating() || p.NodeName != "" || p.Nominated != "" || k.nominated[p] != nil
	})
	k.pending = nil
	k.rooms = slices.DeleteFunc(k.rooms, func(r *room) bool {
		return r.claim.initialized || r.claim.object.Terminating() || r.claim.object.Gone()
	})
	said := 0
	placing := &placing{k: k, wishes: map[wishKey]*wish{}, alive: map[poolZone]int{}}
	for _, p := range waiting {
		g, r := placing.place(p)
		if g == nil {
			k.unplaced = append(k.unplaced, p)
			continue
		}
		if r.claim == nil {
			r.claim = k.launch(g, g.Template, r.zone, func(ok bool) { k.claimSettled(r.claim, ok) })
			if r.claim == nil {
				return
			}
			k.rooms = append(k.rooms, r)
		}
		placing.take(r, p)
		k.nominated[p] = r.claim
		if said < nominations {
			said++
			k.publish(kube.AboutPod(p), "Normal", "Nominated", "Pod should schedule on: nodeclaim/"+r.claim.object.Name, p.UID)
		}
	}
	k.placeAgain()
}

// placesAgain is between two looks at pods that no new node would take: others may have left by then, or a zone may have
// capacity again.
const placesAgain = time.Minute

func (k *Karpenter) placeAgain() {
	if k.waiting || len(k.unplaced) == 0 {
		return
	}
	k.waiting = true
	k.env.After(placesAgain, func() {
		k.waiting = false
		k.pending = append(k.pending, slices.DeleteFunc(k.unplaced, (*kube.Pod).Gone)...)
		k.unplaced = nil
		k.provision()
	})
}

// claimSettled has the pods of a claim looked at again some time after its node
// serves, or at once where it was given up. A pod that still waits beside a node with room for it
// is one that the scheduler keeps from such nodes for a reason that isn't counted here: none more is launched for it.
func (k *Karpenter) claimSettled(c *claim, ok bool) {
	wait := 20 * time.Second
	if !ok {
		wait = time.Second
	}
	k.env.After(wait, func() {
		var again []*kube.Pod
		for p, on := range k.nominated {
			if on == c {
				again = append(again, p)
			}
		}
		slices.SortFunc(again, func(a, b *kube.Pod) int { return strings.Compare(a.UID, b.UID) })
		for _, p := range again {
			delete(k.nominated, p)
			if ok && k.roomFor(c, p) {
				k.refused[p] = true
				continue
			}
			k.pending = append(k.pending, p)
		}
		k.batch()
	})
}

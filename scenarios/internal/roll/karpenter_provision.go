package roll

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
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
	if !p.Conditions.Is("PodScheduled", "False") || change != kube.Added && old.Conditions.Is("PodScheduled", "False") || k.nominated[p] != nil {
		return
	}
	k.pending = append(k.pending, p)
	k.batch()
}

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

// room is the free room of a claim's machine.
type room struct {
	claim             *claim
	cpu, memory, pods int64
}

func (r *room) holds(p *kube.Pod) bool {
	cpu, memory := p.Requests()
	return r.cpu >= cpu && r.memory >= memory && r.pods > 0
}

func (r *room) take(p *kube.Pod) {
	cpu, memory := p.Requests()
	r.cpu, r.memory, r.pods = r.cpu-cpu, r.memory-memory, r.pods-1
}

// roomOf is what a node has allocatable without what some of its pods take.
func (k *Karpenter) roomOf(n *kube.Node, counts func(*kube.Pod) bool) *room {
	r := &room{cpu: milli(n.Allocatable.Get("cpu")), memory: mebi(n.Allocatable.Get("memory")) << 20, pods: milli(n.Allocatable.Get("pods")) / 1000}
	for _, p := range k.env.API.PodsOn(n.Name) {
		if counts(p) {
			r.take(p)
		}
	}
	return r
}

func (k *Karpenter) provision() {
	if k.back {
		return
	}
	waiting := slices.DeleteFunc(k.pending, func(p *kube.Pod) bool {
		return p.Gone() || p.Terminating() || p.NodeName != "" || k.nominated[p] != nil
	})
	k.pending = nil
	k.rooms = slices.DeleteFunc(k.rooms, func(r *room) bool {
		return r.claim.initialized || r.claim.object.Terminating() || r.claim.object.Gone()
	})
	said := 0
	for _, p := range waiting {
		g, r := k.place(p)
		if g == nil {
			continue // no NodePool has a machine for it
		}
		if r.claim == nil {
			r.claim = k.launch(g, g.Template, "", func(ok bool) { k.claimSettled(r.claim, ok) })
			if r.claim == nil {
				return
			}
			k.rooms = append(k.rooms, r)
		}
		r.take(p)
		k.nominated[p] = r.claim
		if said < nominations {
			said++
			k.publish(kube.AboutPod(p), "Normal", "Nominated", "Pod should schedule on: nodeclaim/"+r.claim.object.Name, p.UID)
		}
	}
}

// place finds room for a pod: what is left of a claim on its way, or the whole of a
// new one.
func (k *Karpenter) place(p *kube.Pod) (*cloud.Group, *room) {
	pool, asked := p.Template.NodeSelector.Lookup("karpenter.sh/nodepool")
	for _, r := range k.rooms {
		if asked && pool != r.claim.group.Name {
			continue
		}
		if r.holds(p) {
			return r.claim.group, r
		}
	}
	for _, g := range k.cfg.Groups {
		if asked && pool != g.Name {
			continue
		}
		if r := k.empty(g); r != nil && r.holds(p) {
			return g, r
		}
	}
	return nil, nil
}

// empty is the room of a new machine of a NodePool: that of one of its nodes,
// without what the pods of DaemonSets take there.
func (k *Karpenter) empty(g *cloud.Group) *room {
	for _, i := range g.Instances() {
		n := k.env.API.Node(i.Name)
		if n == nil || i.Template.InstanceType != g.Template.InstanceType {
			continue
		}
		return k.roomOf(n, func(p *kube.Pod) bool { return p.Owner != nil && p.Owner.Kind == "DaemonSet" })
	}
	shape := k.cfg.Shapes(&cloud.Instance{Group: g, Template: g.Template, Zone: first(g.Zones), Number: k.env.Cloud.Launches()})
	r := &room{}
	for _, p := range shape.Allocatable.Allocatable() {
		switch p.Key {
		case "cpu":
			r.cpu = milli(p.Value)
		case "memory":
			r.memory = mebi(p.Value) << 20
		case "pods":
			r.pods = milli(p.Value) / 1000
		}
	}
	return r
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// milli reads "1930m" and "2".
func milli(q string) int64 {
	if m, ok := strings.CutSuffix(q, "m"); ok {
		n, _ := strconv.ParseInt(m, 10, 64)
		return n
	}
	n, _ := strconv.ParseInt(q, 10, 64)
	return n * 1000
}

// mebi reads quantities of memory in Ki, Mi, Gi and bytes, rounded down to MiB.
func mebi(q string) int64 {
	number := strings.TrimRight(q, "KMGi")
	n, _ := strconv.ParseInt(number, 10, 64)
	switch q[len(number):] {
	case "Ki":
		return n >> 10
	case "Mi":
		return n
	case "Gi":
		return n << 10
	}
	return n >> 20
}

// claimSettled has the pods of a claim looked at again some time after its node
// serves, or at once where it was given up. A pod that still waits beside a node with room for it
// is one that nodes of the pool can't take: Karpenter, which simulates the scheduler, launches none for it.
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

// roomFor reports whether a claim's node is there and has room for a pod.
func (k *Karpenter) roomFor(c *claim, p *kube.Pod) bool {
	if c.instance == nil {
		return false
	}
	n := k.env.API.Node(c.instance.Name)
	if n == nil || !n.Ready() || n.Unschedulable {
		return false
	}
	return k.roomOf(n, func(on *kube.Pod) bool { return !on.Terminal() }).holds(p)
}

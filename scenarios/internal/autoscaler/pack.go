package autoscaler

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// bundle is waiting pods that fill a node.
type bundle struct {
	zone string // "" is any
	free component.Room
	pods []*kube.Pod
}

// packing is where the waiting pods of a scan shall run.
type packing struct {
	groups []groupPacking
	// left are batches for which no group can grow; their pods are those that
	// fit nowhere.
	left []batch
}

// groupPacking is the bundles of one group.
type groupPacking struct {
	*scaledGroup
	bundles []bundle
	// Nodes that are still to be promised: those that join or are free, by zone,
	// and launches.
	byZone map[string]int
	nodes  int
	spare  int
}

func (p *packing) of(g *scaledGroup) []bundle {
	for i := range p.groups {
		if p.groups[i].scaledGroup == g {
			return p.groups[i].bundles
		}
	}
	return nil
}

// pack fills nodes with waiting pods: first the room on nodes that changed so
// lately that the scheduler will still find it, then nodes that join or are free,
// then as many new ones as the groups may grow by. It is first fit, in the order
// of batches.
func (a *Autoscaler) pack() *packing {
	p := &packing{}
	if len(a.waiting) == 0 {
		return p
	}
	for _, g := range a.groups {
		p.groups = append(p.groups, g.unpacked())
	}
	taken := map[*scaledNode]component.Room{}
	for _, b := range a.batches() {
		if b.full {
			p.left = append(p.left, b)
			continue
		}
		for i := range p.groups {
			if len(b.pods) > 0 && p.groups[i].refuses(b.demand, b.zone) == nil {
				b.pods = p.groups[i].settle(b, taken)
			}
		}
		for _, grow := range [...]bool{false, true} {
			for i := range p.groups {
				if len(b.pods) > 0 && p.groups[i].refuses(b.demand, b.zone) == nil {
					b.pods = p.groups[i].fill(b, grow)
				}
			}
		}
		if len(b.pods) > 0 {
			p.left = append(p.left, b)
		}
	}
	return p
}

// unpacked counts the nodes that may be promised.
func (g *scaledGroup) unpacked() groupPacking {
	gp := groupPacking{scaledGroup: g, byZone: map[string]int{}}
	for _, m := range g.machines() {
		if m.kind == g.kind() {
			gp.byZone[m.zone]++
			gp.nodes++
		}
	}
	if !g.paused() {
		gp.spare = g.spare()
	}
	return gp
}

// settle leaves pods to the scheduler for which a busy node has room that came up
// a moment ago. A node whose room is older has been tried in vain.
func (gp *groupPacking) settle(b batch, taken map[*scaledNode]component.Room) []*kube.Pod {
	for _, n := range gp.recent {
		if len(b.pods) == 0 {
			break
		}
		if n.state != busy || b.zone != "" && n.zone != b.zone {
			continue
		}
		used := n.used.Plus(taken[n])
		k := fitting(component.AllocatableOf(n.node).Minus(used), b.need, len(b.pods))
		if b.PerHost > 0 {
			k = min(k, b.PerHost)
		}
		taken[n] = taken[n].Plus(b.need.Times(k))
		b.pods = b.pods[k:]
	}
	return b.pods
}

// fill puts pods of a batch into the group's bundles and begins new ones: for
// nodes that will be there anyway or, where grow is set, for more. It returns
// the pods that are left.
func (gp *groupPacking) fill(b batch, grow bool) []*kube.Pod {
	for i := range gp.bundles {
		if len(b.pods) == 0 {
			return nil
		}
		if at := &gp.bundles[i]; b.zone == "" || at.zone == b.zone {
			b.pods = at.take(b)
		}
	}
	for len(b.pods) > 0 && gp.begin(b.zone, grow) {
		b.pods = gp.bundles[len(gp.bundles)-1].take(b)
	}
	return b.pods
}

// begin adds a bundle, if there is or will be a node for it.
func (gp *groupPacking) begin(zone string, grow bool) bool {
	switch {
	case gp.nodes > 0 && (zone == "" || gp.byZone[zone] > 0):
		gp.nodes--
		gp.promise(zone)
	case grow && gp.spare > 0 && !gp.noCapacity(zone):
		gp.spare--
	default:
		return false
	}
	gp.bundles = append(gp.bundles, bundle{zone: zone, free: gp.describe().like.Room})
	return true
}

// promise takes a node of a zone; where any will do, of the one with the most.
func (gp *groupPacking) promise(zone string) {
	if zone == "" {
		for _, z := range gp.Zones {
			if zone == "" || gp.byZone[z] > gp.byZone[zone] {
				zone = z
			}
		}
	}
	gp.byZone[zone]--
}

// take puts as many pods of a batch into a bundle as fit, and returns the others.
func (at *bundle) take(b batch) []*kube.Pod {
	k := fitting(at.free, b.need, len(b.pods))
	if b.PerHost > 0 {
		k = min(k, b.PerHost)
	}
	at.free = at.free.Minus(b.need.Times(k))
	at.pods = append(at.pods, b.pods[:k]...)
	return b.pods[k:]
}

// fitting returns the number of pods that fit into a room, up to most.
func fitting(free, need component.Room, most int) int {
	k := int64(most)
	for _, r := range [...][2]int64{{free.CPU, need.CPU}, {free.Memory, need.Memory}, {free.Pods, need.Pods}} {
		if r[0] < r[1] {
			return 0
		}
		if r[1] > 0 {
			k = min(k, r[0]/r[1])
		}
	}
	return int(max(k, 0))
}

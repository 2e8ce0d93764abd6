package autoscaler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
)

// spareNode is a candidate for waiting pods: an instance that was asked for, one that joins, or a free node.
type spareNode struct {
	name, kind, zone string
	node             *scaledNode // a free one, else nil
}

// decision is the planned change of a group.
type decision struct {
	start []launch
	unmet []int         // bundles that get no node now
	stop  []*scaledNode // free nodes that were idle for long, by name
}

// launch is a node to start: in a zone, or in any; for a bundle, or for standby.
type launch struct {
	zone   string
	bundle int // -1 for standby
}

// decide plans for the group.
func (g *scaledGroup) decide(bundles []bundle) {
	g.plan = decision{}
	if len(bundles) == 0 && g.standby == 0 && (len(g.open) == 0 || g.size() <= g.Min) {
		return
	}
	have := g.machines()
	machines := make([]nodemanager.Machine[string], len(have))
	for i, m := range have {
		machines[i] = nodemanager.Machine[string]{Kind: m.kind, Pool: m.kind, Zone: m.zone}
		if m.node != nil {
			machines[i].IdleSince = m.node.idle
		}
	}
	kinds := []string{g.kind()}
	requests := make([]nodemanager.Request[string], len(bundles))
	for i := range bundles {
		requests[i] = nodemanager.Request[string]{Kinds: kinds, Zone: bundles[i].zone}
	}
	g.accept(have, bundles, nodemanager.Assign(nodemanager.Rules[string]{
		Pools:       []nodemanager.Pool[string]{{Kind: g.kind(), Count: g.standby}},
		IdleGrace:   max(g.a.idleGrace, 1),
		Unavailable: func(i int) bool { return g.closed(bundles[i].zone) },
		Paused:      func(int) bool { return g.closed("") },
	}, machines, requests, g.a.now()))
}

// closed reports whether launches in a zone, "" for any, are in vain now.
func (g *scaledGroup) closed(zone string) bool { return g.paused() || g.noCapacity(zone) }

// accept keeps what was decided. A young node isn't idle.
func (g *scaledGroup) accept(have []spareNode, bundles []bundle, a nodemanager.Assignment) {
	for i, m := range have {
		if m.node == nil {
			continue
		}
		m.node.idle = a.Idle[i]
		if g.a.env.API.Now().Sub(m.node.node.Created) < youth {
			m.node.idle = time.Time{}
		}
	}
	for _, l := range a.Start {
		zone := ""
		if l.Request >= 0 {
			zone = bundles[l.Request].zone
		}
		g.plan.start = append(g.plan.start, launch{zone, l.Request})
	}
	g.plan.unmet = a.Unmet
	for _, i := range a.Stop {
		if have[i].node != nil {
			g.plan.stop = append(g.plan.stop, have[i].node)
		}
	}
}

// machines lists what may serve waiting pods, by name.
func (g *scaledGroup) machines() []spareNode {
	var all []spareNode
	for k, zone := range g.next(g.missing()) {
		all = append(all, spareNode{fmt.Sprintf("asked-%05d", k), g.kind(), zone, nil})
	}
	for i := range g.coming {
		if n := g.a.nodes[i.Name]; i.Alive() && (n == nil || n.state == joining) {
			all = append(all, spareNode{i.Name, kindOf(i.Template), i.Zone, nil})
		}
	}
	for _, n := range g.open {
		all = append(all, spareNode{n.node.Name, kindOf(n.instance.Template), n.zone, n})
	}
	slices.SortFunc(all, func(x, y spareNode) int { return cmp.Compare(x.name, y.name) })
	return all
}

// next foretells the zones of the next launches: always the emptiest one that
// hasn't been passed over, as the provider balances.
func (g *scaledGroup) next(n int) []string {
	if n <= 0 || len(g.Zones) == 0 {
		return nil
	}
	var zones []string
	for _, z := range g.Zones {
		if !g.noCapacity(z) {
			zones = append(zones, z)
		}
	}
	if len(zones) == 0 {
		zones = g.Zones
	}
	counts := make([]int, len(zones))
	for i, z := range zones {
		counts[i] = g.counts[z]
	}
	out := make([]string, n)
	for k := range out {
		least := 0
		for i := range counts {
			if counts[i] < counts[least] {
				least = i
			}
		}
		counts[least]++
		out[k] = zones[least]
	}
	return out
}

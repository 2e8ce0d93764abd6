package actors

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	planapi "github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// decide has the scaler plan for the group.
func (g *scaledGroup) decide(bundles []bundle) {
	g.plan = nodemanager.Changes{}
	if len(bundles) == 0 && g.standby == 0 && (len(g.open) == 0 || g.size() <= g.Min) {
		return
	}
	pods := make([]*planapi.Pod, len(bundles))
	for i := range bundles {
		p := &planapi.Pod{ObjectMeta: planapi.ObjectMeta{Name: bundleName(i)}}
		p.Spec = planapi.PodSpec{Phase: planapi.PodRunning, InstanceType: g.kind()}
		p.Spec.Placement.AvailabilityZone = bundles[i].zone
		p.Spec.Spot.Policy = planapi.SpotNever
		if g.Spot {
			p.Spec.Spot.Policy = planapi.SpotAlways
		}
		p.Status.Phase = planapi.PodWaiting
		pods[i] = p
	}
	plan, err := g.scaler.Plan(g.nodes(), pods, g.a.now())
	if err != nil {
		g.a.env.Fail(fmt.Errorf("autoscaler: group %s: %w", g.Name, err))
		return
	}
	g.plan = plan
	for _, n := range plan.Update {
		if sn := g.a.nodes[n.Name]; sn != nil && sn.state == free {
			sn.idle = n.Status.IdleSince
			if g.a.env.API.Now().Sub(sn.node.Created) < youth {
				sn.idle = time.Time{}
			}
		}
	}
}

const bundlePrefix = "bundle-"

func bundleName(i int) string { return fmt.Sprintf(bundlePrefix+"%06d", i) }

// bundleAt is the inverse of bundleName; -1 for anything else.
func bundleAt(name string) int {
	number, ok := strings.CutPrefix(name, bundlePrefix)
	i, err := strconv.Atoi(number)
	if !ok || err != nil {
		return -1
	}
	return i
}

// nodes describes to the scaler what may serve waiting pods: instances that were
// asked for, those that join, and free nodes.
func (g *scaledGroup) nodes() []*planapi.Node {
	var all []*planapi.Node
	add := func(name, kind, zone string, phase planapi.NodePhase) *planapi.Node {
		n := planapi.NewNode(name)
		n.Spec.InstanceType, n.Spec.Spot, n.Spec.Placement.AvailabilityZone = kind, g.Spot, zone
		n.Status.Phase = phase
		all = append(all, n)
		return n
	}
	for k, zone := range g.next(g.missing()) {
		add(fmt.Sprintf("asked-%05d", k), g.kind(), zone, planapi.NodeCreating)
	}
	for i := range g.coming { // the scaler sorts by name
		if n := g.a.nodes[i.Name]; i.Alive() && (n == nil || n.state == joining) {
			add(i.Name, kindOf(i.Template), i.Zone, planapi.NodeCreating)
		}
	}
	for _, n := range g.open {
		add(n.node.Name, kindOf(n.instance.Template), n.zone, planapi.NodeAvailable).Status.IdleSince = n.idle
	}
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

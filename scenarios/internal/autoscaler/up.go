package autoscaler

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// grow makes the groups larger for the nodes that their plans start, and tells
// the pods (processors/status/eventing_scale_up_processor.go): those for which a
// group grows that it does or, where none grows, the others why not. Pods that
// wait for a node on its way are told nothing.
func (a *Autoscaler) grow(p *packing) {
	grew := false
	for _, g := range a.groups {
		if len(g.plan.start) == 0 || len(g.Zones) == 0 {
			continue
		}
		launches, met := g.launches(g.plan.start)
		if len(launches) == 0 {
			continue
		}
		from := g.size()
		g.ask(launches)
		a.grown, a.everGrown = a.env.Now(), true
		a.reports.status("Normal", "ScaledUpGroup", fmt.Sprintf(
			"Scale-up: setting group %s size to %d instead of %d (max: %d)", g.Name, from+len(launches), from, g.Max))
		message := fmt.Sprintf("pod triggered scale-up: [{%s %d->%d (max: %d)}]", g.Name, from, from+len(launches), g.Max)
		bundles := p.of(g)
		for k, l := range g.plan.start {
			if !met[k] || l.bundle < 0 {
				continue
			}
			grew = true
			for _, pod := range bundles[l.bundle].pods {
				a.reports.pod(pod, "TriggeredScaleUp", message)
			}
		}
	}
	if !grew {
		a.explain(p)
	}
}

// launches turns the nodes that a plan starts into launches, by zone. A group
// that is kept at a size can't be told a zone: where a node has to be in one, the
// launches that the provider makes elsewhere before come along, unless these are
// very many. met says which nodes there is a launch for.
func (g *scaledGroup) launches(start []launch) (zones []string, met []bool) {
	met = make([]bool, len(start))
	if g.Detached {
		n := min(len(start), g.spare())
		for k, s := range start[:n] {
			zones, met[k] = append(zones, s.zone), true
		}
		return zones, met
	}
	ahead := g.missing()
	limit := min(g.spare(), (len(start)+2)*len(g.Zones))
	coming := g.next(ahead + limit)[ahead:]
	taken := make([]bool, len(coming))
	next := map[string]int{} // where to look on, by zone
	n := 0
	for k, s := range start { // those with a zone come first
		zone := s.zone
		at := next[zone]
		for at < len(coming) && (taken[at] || zone != "" && coming[at] != zone) {
			at++
		}
		next[zone] = at
		if at < len(coming) {
			taken[at], met[k] = true, true
			n = max(n, at+1)
		}
	}
	return coming[:n], met
}

// ask has the provider launch instances.
func (g *scaledGroup) ask(zones []string) {
	if !g.Detached {
		g.asked += len(zones)
		g.a.env.Cloud.SetDesired(g.Group, g.Desired+len(zones))
		return
	}
	for _, zone := range zones {
		g.asked++
		g.a.env.After(g.a.env.Draw(&g.a.chance, g.a.env.Timings.CapacityRequest), func() { g.launch(zone) })
	}
}

// launch launches one instance of a group without a size of its own, unless others have filled it meanwhile.
func (g *scaledGroup) launch(zone string) {
	g.asked--
	if g.alive >= g.Max {
		return
	}
	_, err := g.a.env.Cloud.Launch(g.Group, zone, g.Template)
	switch {
	case err == nil:
	case zone != "":
		g.marks.Zone(g.kind(), g.Spot, zone, g.a.now())
	default:
		g.fail()
	}
}

// explain tells the pods for which nothing is done why not.
func (a *Autoscaler) explain(p *packing) {
	for _, b := range p.left {
		a.reports.left(b, a.reasons(b))
	}
	for _, g := range a.groups {
		bundles := p.of(g)
		tell := func(b *bundle) {
			for _, pod := range b.pods {
				a.reports.pod(pod, "NotTriggerScaleUp", notTriggered+a.skipped(g, b.zone))
			}
		}
		for _, i := range g.plan.unmet {
			tell(&bundles[i])
		}
		for _, l := range g.plan.start {
			if l.bundle >= 0 {
				tell(&bundles[l.bundle])
			}
		}
	}
}

const (
	notTriggered = "pod didn't trigger scale-up: "
	// The reasons of core/scaleup/orchestrator/skippedreasons.go.
	skippedBackoff = "in backoff after failed scale-up"
	skippedMax     = "max node group size reached"
)

// skipped is why a group can't be grown for a bundle that it could hold.
func (a *Autoscaler) skipped(g *scaledGroup, zone string) string {
	switch {
	case g.paused() || g.noCapacity(zone):
		return "1 " + skippedBackoff
	case g.spare() == 0:
		return "1 " + skippedMax
	}
	return "1 " + a.judge.ReasonVolume()
}

// reasons counts why no group can be grown for a batch, as ReasonsMessage does,
// whose order is random; here it is that of the groups.
func (a *Autoscaler) reasons(b batch) string {
	var why scheduler.ReasonCounts
	for _, g := range a.groups {
		switch {
		case g.paused():
			why.Add(skippedBackoff, 1)
		case g.spare() == 0:
			why.Add(skippedMax, 1)
		default:
			rejected := []string{scheduler.ReasonApart}
			if !b.full {
				rejected = g.refuses(b.demand, b.zone)
			}
			if rejected == nil {
				rejected = []string{skippedBackoff}
				if !g.noCapacity(b.zone) {
					rejected = []string{skippedMax}
				}
			}
			for _, reason := range rejected {
				why.Add(reason, 1)
			}
		}
	}
	parts := make([]string, len(why.Reasons))
	for i := range why.Reasons {
		parts[i] = strconv.Itoa(why.Nodes[i]) + " " + why.Reasons[i]
	}
	return notTriggered + strings.Join(parts, ", ")
}

// left tells the pods of a batch why no group grows for them.
func (r *reports) left(b batch, message string) {
	for _, p := range b.pods {
		r.pod(p, "NotTriggerScaleUp", message)
	}
}

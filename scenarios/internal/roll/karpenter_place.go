package roll

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// The provisioner simulates the scheduler for nodes that aren't there yet (pkg/controllers/provisioning/scheduling): it
// counts room, selectors, taints, the zones of volumes, and how many pods of a kind may share a node or a zone.

// room is what is left of a claim's machine.
type room struct {
	claim *claim
	zone  string // that the machine was asked for in, "" for any
	free  component.Room
	pods  map[*kube.Template]int // that it is for
}

// in is the zone of the machine, as far as that is known.
func (r *room) in() string {
	if r.zone == "" && r.claim != nil && r.claim.instance != nil {
		return r.claim.instance.Zone
	}
	return r.zone
}

func (r *room) take(p *kube.Pod) {
	r.free = r.free.Minus(needOf(p))
	if r.pods == nil {
		r.pods = map[*kube.Template]int{}
	}
	r.pods[p.Template]++
}

func needOf(p *kube.Pod) component.Room {
	cpu, memory := p.Requests()
	return component.Room{CPU: cpu, Memory: memory, Pods: 1}
}

// zoneCounts are the pods of templates by zone, of those for which the zone matters.
type zoneCounts map[*kube.Template]map[string]int

func (z zoneCounts) add(t *kube.Template, zone string, by int) {
	if in := z[t]; in != nil {
		in[zone] += by
	}
}

// of counts the pods of a template that have a node, or a claim that is to bring one.
func (z zoneCounts) of(k *Karpenter, t *kube.Template) map[string]int {
	if z[t] != nil {
		return z[t]
	}
	in := map[string]int{}
	for _, p := range k.env.API.Pods() {
		if n := k.env.API.Node(p.NodeName); n != nil && p.Template == t && !p.Terminal() {
			in[n.Labels.Get(component.LabelZone)]++
		}
	}
	for _, r := range k.rooms {
		in[r.in()] += r.pods[t]
	}
	z[t] = in
	return in
}

// place finds room for a pod: what is left of a claim on its way, or the whole of a new one.
func (k *Karpenter) place(p *kube.Pod, counts zoneCounts) (*cloud.Group, *room) {
	company := k.judge.CompanyOf(p)
	if company.Elsewhere {
		return nil, nil
	}
	pool, asked := p.Template.NodeSelector.Lookup("karpenter.sh/nodepool")
	zones := map[*cloud.Group][]string{}
	for _, g := range k.cfg.Groups {
		if !asked || pool == g.Name {
			zones[g] = k.zonesFor(g, p, company, counts)
		}
	}
	for _, r := range k.rooms {
		of := zones[r.claim.group]
		if slices.Contains(of, "") || slices.Contains(of, r.in()) && r.in() != "" {
			if r.free.Holds(needOf(p)) && (company.PerHost == 0 || r.pods[p.Template] < company.PerHost) {
				return r.claim.group, r
			}
		}
	}
	for _, g := range k.cfg.Groups {
		if of := zones[g]; len(of) > 0 {
			return g, &room{zone: of[0], free: k.newNode(g, of[0]).Room}
		}
	}
	return nil, nil
}

// zonesFor are the zones of a NodePool in which a new node takes a pod, the best first; one that is "" says that any does.
func (k *Karpenter) zonesFor(g *cloud.Group, p *kube.Pod, company scheduler.Company, counts zoneCounts) []string {
	volume := k.volumes[scheduler.ClaimName{Namespace: p.Namespace, Name: p.Claim}]
	var zones []string
	for _, zone := range g.Zones {
		if (volume == "" || volume == zone) && k.judge.RefusalsOf(p.Template, needOf(p), k.newNode(g, zone)) == nil {
			zones = append(zones, zone)
		}
	}
	if !company.SpreadZones && company.PerZone == 0 {
		if len(zones) > 0 && len(zones) == len(g.Zones) {
			return []string{""}
		}
		return zones
	}
	in := counts.of(k, p.Template)
	zones = slices.DeleteFunc(zones, func(zone string) bool { return company.PerZone > 0 && in[zone] >= company.PerZone })
	slices.SortStableFunc(zones, func(a, b string) int { return in[a] - in[b] })
	return zones[:min(len(zones), 1)]
}

// newNodeOf is what a new node depends on.
type newNodeOf struct {
	group    *cloud.Group
	zone     string
	template cloud.Template
}

// newNode is what a new node of a NodePool is like in a zone, "" for the first, without what the pods of DaemonSets take there.
func (k *Karpenter) newNode(g *cloud.Group, zone string) *scheduler.NewNode {
	if zone == "" {
		zone = g.Zones[0]
	}
	of := newNodeOf{g, zone, g.Template}
	n := k.newNodes[of]
	if n == nil {
		next := k.cfg.Kubelets.Next(g, zone, k.env.Stream("karpenter", "shape", g.Name))
		labels := next.Labels.With("karpenter.sh/registered", "true").With("karpenter.sh/initialized", "true")
		n = &scheduler.NewNode{NodeGroup: scheduler.NodeGroup{Taints: next.Taints, Labels: labels}, Allocatable: next.Allocatable}
		n.Room = k.agents.Left(&k.judge, next.Room, &n.NodeGroup)
		k.newNodes[of] = n
	}
	return n
}

// mounted notes the zone of a volume: the one in which a pod first mounted it.
func (k *Karpenter) mounted(p *kube.Pod) {
	of := scheduler.ClaimName{Namespace: p.Namespace, Name: p.Claim}
	if p.Claim == "" || k.volumes[of] != "" {
		return
	}
	if n := k.env.API.Node(p.NodeName); n != nil {
		k.volumes[of] = n.Labels.Get(component.LabelZone)
	}
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
	free, alike := component.AllocatableOf(n), 0
	for _, on := range k.env.API.PodsOn(n.Name) {
		if on.Terminal() {
			continue
		}
		free = free.Minus(needOf(on))
		if on.Template == p.Template {
			alike++
		}
	}
	most := k.judge.CompanyOf(p).PerHost
	return free.Holds(needOf(p)) && (most == 0 || alike < most)
}

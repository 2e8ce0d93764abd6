package scheduler

import "github.com/nodesim/nodesim/scenarios/internal/component"

// Weights of the scores of what clients' pods prefer (pkg/scheduler/apis/config/v1/default_plugins.go), and of what a
// pod on a node requires near, for the pods that it wants there (DefaultHardPodAffinityWeight).
const (
	weightNodeAffinity = 2
	weightPodAffinity  = 2
	hardAffinityWeight = 1
)

// prefer adds what speaks for each spot by the preferences of the pod, and of those that are there.
func (d *demand) prefer(spots []feasibleNode) {
	d.preferNodes(spots)
	d.preferNearby(spots)
	d.preferSpread(spots)
}

// preferNodes is the score of NodeAffinity, of which the most is 100.
func (d *demand) preferNodes(spots []feasibleNode) {
	a := d.d.NodeAffinity
	if a == nil || len(a.Preferred) == 0 {
		return
	}
	scores, most := make([]int64, len(spots)), int64(0)
	for i := range spots {
		for t := range a.Preferred {
			if n := spots[i].node.node; a.Preferred[t].Holds(n.Name, n.Labels) {
				scores[i] += int64(a.Preferred[t].Weight)
			}
		}
		most = max(most, scores[i])
	}
	if most == 0 {
		return
	}
	for i := range spots {
		spots[i].score += weightNodeAffinity * (100 * scores[i] / most)
	}
}

// preferNearby is the score of InterPodAffinity: from 0 for the least to 100 for the most.
func (d *demand) preferNearby(spots []feasibleNode) {
	s := d.s
	if s.podCounts == nil {
		return
	}
	type weighted struct {
		nearby
		weight int64
	}
	var all []weighted
	for i := range d.d.Likes {
		t := &d.d.Likes[i]
		all = append(all, weighted{s.around(s.counts(s.selection(d.p, t)), t.TopologyKey), int64(t.Weight)})
	}
	for i := range d.d.Dislikes {
		t := &d.d.Dislikes[i]
		all = append(all, weighted{s.around(s.counts(s.selection(d.p, t)), t.TopologyKey), -int64(t.Weight)})
	}
	for _, t := range s.podCounts.inOrder {
		weight := int64(t.weight)
		switch {
		case t.all == 0 || t.weight == 0 && t.against:
			continue
		case t.weight == 0:
			weight = hardAffinityWeight
		case t.against:
			weight = -weight
		}
		if t.selects(d.p.Namespace, s.namespaces[d.p.Namespace], d.p.Labels) {
			all = append(all, weighted{s.around(t, t.topologyKey), weight})
		}
	}
	if len(all) == 0 {
		return
	}
	scores := make([]int64, len(spots))
	least, most := int64(0), int64(0)
	for i := range spots {
		for k := range all {
			if pods, ok := all[k].at(spots[i].node); ok {
				scores[i] += all[k].weight * int64(pods)
			}
		}
		if i == 0 {
			least, most = scores[0], scores[0]
		}
		least, most = min(least, scores[i]), max(most, scores[i])
	}
	if most == least {
		return
	}
	for i := range spots {
		// A fraction, as the scheduler's own: 100 times 29 hundredths of it is 28.
		part := float64(scores[i]-least) / float64(most-least)
		spots[i].score += weightPodAffinity * int64(100*part)
	}
}

// preferSpread is the score of PodTopologySpread by the pod's own constraints (podtopologyspread/scoring.go).
func (d *demand) preferSpread(spots []feasibleNode) {
	var all []spread
	for i := range d.d.Spread {
		if t := &d.d.Spread[i]; !t.Hard {
			all = append(all, d.s.spreadBy(d.p, t))
		}
	}
	if len(all) == 0 {
		return
	}
	counts, values := 0, make([]map[string]bool, len(all))
	for i := range spots {
		if !labelled(spots[i].node, all) {
			continue
		}
		counts++
		for k := range all {
			if values[k] == nil {
				values[k] = map[string]bool{}
			}
			values[k][spots[i].node.node.Labels.Get(all[k].of.TopologyKey)] = true
		}
	}
	d.s.countSpread(all, d.p)
	scores := make([]int64, len(spots))
	least, most := int64(-1), int64(0)
	for i := range spots {
		n := spots[i].node
		if !labelled(n, all) {
			scores[i] = -1
			continue
		}
		sum := int64(0)
		for k := range all {
			one := &all[k]
			pods, size := one.counts[n.node.Labels.Get(one.of.TopologyKey)], len(values[k])
			if one.of.TopologyKey == component.LabelHostname {
				_, staying := one.counted.on(n)
				pods, size = int(staying), counts
			}
			sum += int64(pods)*naturalLog(size+2) + int64(one.of.MaxSkew-1)<<logBits
		}
		scores[i] = (sum + 1<<(logBits-1)) >> logBits
		most = max(most, scores[i])
		if least < 0 || scores[i] < least {
			least = scores[i]
		}
	}
	for i := range spots {
		switch {
		case scores[i] < 0:
		case most == 0:
			spots[i].score += weightSpread * 100
		default:
			spots[i].score += weightSpread * (100 * (most + least - scores[i]) / most)
		}
	}
}

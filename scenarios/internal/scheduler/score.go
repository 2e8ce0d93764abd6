package scheduler

import (
	"math/bits"

	"github.com/nodesim/nodesim/scenarios/internal/component"
)

// Weights of the scores (pkg/scheduler/apis/config/v1/default_plugins.go).
const (
	weightTaints   = 3
	weightSpread   = 2
	weightRoom     = 1
	weightBalanced = 1
	weightImages   = 1
)

// best picks a spot of those with the highest score at random.
func (s *Scheduler) best(spots []feasibleNode, c *podClass, d *demand) *schedNode {
	if len(spots) == 1 {
		return spots[0].node
	}
	s.spread(spots, c)
	s.preferImages(spots, c)
	if d != nil {
		d.prefer(spots)
	}
	most, least, avoided := int64(0), int64(-1), 0
	for i := range spots {
		most = max(most, spots[i].spread)
		if least < 0 || spots[i].spread < least {
			least = spots[i].spread
		}
		avoided = max(avoided, spots[i].avoided)
	}
	top, ties, pick := int64(-1), uint64(0), 0
	// Few spots differ in how crowded they are, and a division is dear.
	crowd, crowdScore := int64(-1), int64(0)
	for i := range spots {
		at := &spots[i]
		if at.seat.scoreFor != c.scoredBy {
			at.seat.score, at.seat.scoreFor = s.scoreRoom(at.node, c), c.scoredBy
		}
		at.score += at.seat.score
		if len(c.soft) > 0 {
			if most > 0 {
				if at.spread != crowd {
					crowd, crowdScore = at.spread, weightSpread*(100*(most+least-at.spread)/most)
				}
				at.score += crowdScore
			} else {
				at.score += weightSpread * 100
			}
		}
		if avoided > 0 {
			at.score += weightTaints * int64(100-100*at.avoided/avoided)
		}
		switch {
		case at.score > top:
			top, ties, pick = at.score, 1, i
		case at.score == top:
			if ties++; s.stream.N(ties) == 0 {
				pick = i
			}
		}
	}
	return spots[pick].node
}

// spread fills in how crowded with the class's own pods each spot is: the score
// of PodTopologySpread before it is normalised.
func (s *Scheduler) spread(spots []feasibleNode, c *podClass) {
	zones := 0
	if len(c.soft) > 0 {
		s.zoneSeen = append(s.zoneSeen[:0], make([]bool, len(s.zones))...)
		for i := range spots {
			if z := spots[i].seat.zone; !s.zoneSeen[z] {
				s.zoneSeen[z] = true
				zones++
			}
		}
	}
	for i := range c.soft {
		constraint := &c.soft[i]
		perHost := constraint.TopologyKey == component.LabelHostname
		if !perHost && constraint.TopologyKey != component.LabelZone {
			continue
		}
		size := zones
		if perHost {
			size = len(spots)
		}
		weight := naturalLog(size + 2)
		if c.template.Demands == nil {
			weight = coarseLog(size + 2)
		}
		skew := int64(constraint.MaxSkew-1) << logBits
		for j := range spots {
			at := spots[j].seat
			if perHost {
				spots[j].spread += int64(c.onNumber(at.number))*weight + skew
			} else if at.zone != 0 {
				spots[j].spread += int64(c.in(at.zone))*weight + skew
			}
		}
	}
	for i := range spots {
		spots[i].spread = (spots[i].spread + 1<<(logBits-1)) >> logBits
	}
}

// scoreRoom is NodeResourcesFit's LeastAllocated and
// NodeResourcesBalancedAllocation, of CPU and memory.
func (s *Scheduler) scoreRoom(n *schedNode, c *podClass) int64 {
	all := n.allocatable
	if s.Env.Version.Minor >= 36 {
		return weightRoom*leastAllocated(n, c) + weightBalanced*balanceGained(n, c)
	}
	cpu, memory := n.scored.CPU+c.sought.CPU, n.scored.Memory+c.sought.Memory
	if all.CPU <= 0 || all.Memory <= 0 {
		return 0
	}
	least := int64(0)
	if cpu <= all.CPU {
		least += (all.CPU - cpu) * 100 / all.CPU
	}
	if memory <= all.Memory {
		least += (all.Memory - memory) / (all.Memory/100 + 1)
	}
	// Of two fractions the deviation is half their distance.
	const whole = 10_000
	x := min((n.used.CPU+c.need.CPU)*whole/all.CPU, whole)
	y := min((n.used.Memory+c.need.Memory)/(all.Memory/whole+1), whole)
	distance := x - y
	if distance < 0 {
		distance = -distance
	}
	return weightRoom*(least/2) + weightBalanced*((whole-distance/2)/(whole/100))
}

// logBits is the number of fractional bits of a logarithm.
const logBits = 30

// naturalLog is the natural logarithm of n ≥ 1, as a fixed-point number: the
// scheduler's own is a float, which processors round differently.
func naturalLog(n int) int64 {
	const ln2 = 2977044472 // 0.693147 × 2³²
	hi, lo := bits.Mul64(binaryLog(n), ln2)
	return int64(hi<<32 | lo>>32)
}

// coarseLog is it with ten fractional bits, by which pods of scenarios have been
// spread since there are tapes of them: one score in some thousands is rounded to
// the other side.
func coarseLog(n int) int64 {
	const ln2, fine = 45426, logBits - 10 // 0.693147 × 2¹⁶
	return int64(binaryLog(n) >> fine * ln2 >> 16 << fine)
}

// binaryLog is the binary logarithm of n ≥ 1.
func binaryLog(n int) uint64 {
	whole := bits.Len64(uint64(n)) - 1
	// Bit by bit: squaring doubles it.
	x := uint64(n) << (62 - whole) // from 1 up to 2, with 62 fractional bits
	log := uint64(whole)
	for range logBits {
		hi, lo := bits.Mul64(x, x)
		x = hi<<2 | lo>>62
		log <<= 1
		if x >= 1<<63 {
			x >>= 1
			log |= 1
		}
	}
	return log
}

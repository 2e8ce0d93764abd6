package cycle_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// large is a cluster of n old instances, sorted by id.
func large(n int) cycle.Cluster {
	c := cycle.Cluster{ID: "c-1", Config: "config-1", Instances: make([]cycle.Instance, n)}
	for i := range c.Instances {
		created := noon.Add(time.Duration(i) * time.Second)
		c.Instances[i] = cycle.Instance{
			ID: cycle.InstanceID(fmt.Sprintf("i-%08d", i)), State: cycle.Started, Config: "config-0",
			CreatedAt: created, UpdatedAt: created,
		}
	}
	return c
}

// BenchmarkPlan plans for a cluster in the midst of its roll. Cost grows linearly where the list is sorted.
func BenchmarkPlan(b *testing.B) {
	for _, size := range []int{100, 1_000, 15_000} {
		half := large(size)
		for i := range size / 2 {
			half.Instances[i].Config = "config-1"
		}
		shuffled := large(size)
		copy(shuffled.Instances, half.Instances)
		rand.New(rand.NewPCG(1, 2)).Shuffle(size, func(i, j int) {
			shuffled.Instances[i], shuffled.Instances[j] = shuffled.Instances[j], shuffled.Instances[i]
		})
		refused := func(cycle.InstanceID) (bool, string) { return false, "budget web allows no disruption" }
		for _, story := range []struct {
			name    string
			cluster cycle.Cluster
			options cycle.Options
		}{
			{"full", half, cycle.Options{MaxUnavailable: cycle.AtMost(0), MaxSurge: cycle.AtMost(size / 3)}},
			{"drains", half, cycle.Options{MaxUnavailable: cycle.AtMost(size / 3), MaxSurge: cycle.AtMost(0)}},
			{"shuffled", shuffled, cycle.Options{MaxUnavailable: cycle.AtMost(size / 3), MaxSurge: cycle.AtMost(0)}},
			{"few", shuffled, cycle.Options{MaxUnavailable: cycle.AtMost(3), MaxSurge: cycle.AtMost(0)}},
			{"refused", half, cycle.Options{MaxUnavailable: cycle.AtMost(1), MayDrain: refused}},
		} {
			story.options.TargetSize, story.options.Now = size, noon
			story.options.StartTimeout, story.options.DrainTimeout = time.Minute, time.Minute
			b.Run(fmt.Sprintf("%s/instances=%d", story.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := cycle.Plan(story.cluster, story.options); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

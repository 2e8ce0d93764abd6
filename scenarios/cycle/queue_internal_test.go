package cycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The heap, the sort and the list as it is give the same order.
func TestQueueOrder(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		q := make(queue, rnd.IntN(40))
		for i := range q {
			q[i] = candidate{
				id: InstanceID(fmt.Sprintf("i-%02d", i)), rank: rnd.IntN(2), class: rnd.IntN(4), seconds: int64(rnd.IntN(3)),
				nanoseconds: rnd.IntN(2),
			}
		}
		want := slices.SortedFunc(slices.Values(q), compareCandidates)
		rnd.Shuffle(len(q), func(i, j int) { q[i], q[j] = q[j], q[i] })
		for _, few := range []int{0, len(q)} {
			if got := slices.Collect(slices.Clone(q).inOrder(few)); !slices.Equal(got, want) {
				t.Fatalf("seed %d, few %d:\n got %v\nwant %v", seed, few, got, want)
			}
		}
		if got := slices.Collect(queue(want).inOrder(0)); !slices.Equal(got, want) {
			t.Fatalf("seed %d, sorted:\n got %v\nwant %v", seed, got, want)
		}
	}
}

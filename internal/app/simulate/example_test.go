package simulate_test

import (
	"os"
	"time"

	"github.com/nodesim/nodesim/internal/app/simulate"
)

func ExampleSummarize() {
	simulate.Summarize(os.Stdout, "two words.yaml", simulate.Summary{
		Events: 388, At: 19*time.Minute + 9809818190, Bytes: 316_200, Planned: true,
		Rolls: []string{"", "PodEvictionFailure: Reached max retries"},
		Marks: []simulate.Moment{
			{At: 18*time.Minute + 39809*time.Millisecond, Name: "failed", Reason: "PodEvictionFailure: Reached max retries"},
			{At: 19 * time.Minute, Name: "lunch"},
		},
	})
	// Output:
	// two words.yaml: 388 events in 19m9.81s, 316.2 kB; 1 of 2 rolls failed
	//   T+18m39.809s failed: PodEvictionFailure: Reached max retries
	//   T+19m00.000s lunch
	// see it again: nodesim replay 'two words.yaml' --speed 20x
}

func ExampleSummarize_unfinished() {
	simulate.Summarize(os.Stdout, "a.yaml", simulate.Summary{
		Events: 1, At: time.Hour, Bytes: 31, Planned: true,
		Marks: []simulate.Moment{{At: time.Hour, Name: "time limit", Reason: "the roll isn't done after 1h0m0s: 1 of 1 groups are still to be rolled"}},
	})
	// Output:
	// a.yaml: 1 event in 1h0m0s, 31 B; the roll is not over
	//   T+1h00m00.000s time limit: the roll isn't done after 1h0m0s: 1 of 1 groups are still to be rolled
	// see it again: nodesim replay a.yaml --speed 20x
}

package record_test

import (
	"fmt"
	"os"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/recorder"
)

func ExampleSummarize() {
	record.Summarize(os.Stdout, "two words.yaml", recorder.Summary{
		Stats:   recorder.Stats{At: 95*time.Second + 412*time.Millisecond, Nodes: 6, Events: 446, Bytes: 136_912, Gaps: 1},
		End:     recorder.EndComplete,
		LeftOut: []string{"pods: 30 events out of scope"},
	})
	// Output:
	// two words.yaml: 446 events in 1m35.412s, 136.9 kB, 6 nodes, 1 gap; the roll is complete
	//   left out: pods: 30 events out of scope
	// see it again: nodesim replay 'two words.yaml' --speed 20x
}

func ExampleSummarize_failed() {
	record.Summarize(os.Stdout, "roll.yaml", recorder.Summary{
		Stats: recorder.Stats{At: 95 * time.Second, Nodes: 6, Events: 446, Bytes: 136_912},
		End:   recorder.EndFailed,
	})
	// Output:
	// roll.yaml: 446 events in 1m35s, 136.9 kB, 6 nodes, no gaps; cut off by an error
	// what is on the tape stays; to continue it: nodesim record --append --out roll.yaml
}

func ExampleQuote() {
	for _, name := range []string{"roll.yaml", "it's.yaml", "-rf", "a$b"} {
		fmt.Println(record.Quote(name))
	}
	// Output:
	// roll.yaml
	// 'it'\''s.yaml'
	// './-rf'
	// 'a$b'
}

package observe_test

import (
	"context"
	"fmt"
	"os"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// What happened in a recorded roll, as lines.
func ExampleFeed() {
	r, err := timeline.Open("../../examples/spot-vanish.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = r.Close() }() // it was only read
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := observe.Feed(r, o, func(e noderoll.Entry) error {
		_, err := fmt.Fprintln(os.Stdout, e)
		return err
	}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// T+19.155s    notready    ip-10-0-2-11      NodeStatusUnknown  Kubelet stopped posting node status.
	// T+19.253s    terminated  ip-10-0-2-11
}

// A recorded roll for code that takes an Observer.
func ExampleScript() {
	o, err := observe.Script(timeline.File("../../examples/surge.yaml"))
	if err != nil {
		fmt.Println(err)
		return
	}
	most := 0
	for !o.AtEnd() {
		s, err := o.Snapshot(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		most = max(most, s.Total)
	}
	fmt.Println("nodes at most:", most)
	// Output: nodes at most: 4
}

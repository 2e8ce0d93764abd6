package scenarios_test

import (
	"fmt"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
)

func ExampleOpen() {
	tape, err := scenarios.Open("demo")
	if err != nil {
		fmt.Println(err)
		return
	}
	options, err := observe.OptionsFor(tape.Header(), "", "", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = observe.Feed(tape, options, func(e noderoll.Entry) error {
		fmt.Println(e)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// T+2.000s     joining     ip-10-0-1-44
	// T+4.000s     online      ip-10-0-1-44
	// T+4.000s     cordoned    ip-10-0-1-12
	// T+4.000s     draining    ip-10-0-1-12
	// T+10.000s    terminated  ip-10-0-1-12
	// T+12.000s    joining     ip-10-0-2-77
	// T+14.000s    online      ip-10-0-2-77
	// T+14.000s    cordoned    ip-10-0-3-21
	// T+14.000s    draining    ip-10-0-3-21
	// T+18.000s    terminated  ip-10-0-3-21
	// T+20.000s    joining     ip-10-0-3-05
	// T+22.000s    online      ip-10-0-3-05
	// T+22.000s    cordoned    ip-10-0-2-08
	// T+22.000s    draining    ip-10-0-2-08
	// T+26.000s    terminated  ip-10-0-2-08
	// T+26.000s    complete    -                 3 nodes on target
}

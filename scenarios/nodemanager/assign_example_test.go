package nodemanager_test

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
)

// Two machines and three requests, one of which has to be in zone b; a pool of one is kept free.
func ExampleAssign() {
	now := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	machines := []nodemanager.Machine[string]{
		{Kind: "m5.large", Pool: "m5.large", Zone: "b"}, {Kind: "m5.large", Pool: "m5.large", Zone: "a"}, {Kind: "c5.large"},
	}
	large := []string{"m5.large"}
	requests := []nodemanager.Request[string]{{Kinds: large}, {Kinds: large, Zone: "b"}, {Kinds: large}}
	a := nodemanager.Assign(nodemanager.Rules[string]{
		Pools: []nodemanager.Pool[string]{{Kind: "m5.large", Count: 1}},
	}, machines, requests, now)
	fmt.Println("served by", a.Served)
	fmt.Printf("start %+v\n", a.Start)
	fmt.Println("stop", a.Stop)
	// Output:
	// served by [1 0 -1]
	// start [{Request:2 Pool:-1} {Request:-1 Pool:0}]
	// stop [2]
}

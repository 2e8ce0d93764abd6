package scenarios_test

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios"
)

const spot = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: spot, title: a spot node is taken back}
parameters:
- {name: nodes, type: int, default: 3, min: 1, max: 100, doc: "nodes of the group"}
cluster: {provider: eks, handler: nth}
groups:
- {name: burst, nodes: $(nodes), capacityType: SPOT}
faults:
- {at: 90s, spotInterruption: {group: burst}}
`

func ExampleParse() {
	doc, err := scenarios.Parse("spot.yaml", []byte(spot))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, set := range []string{"nodes=5", "ndoes=5", "nodes=0"} {
		setting, err := scenarios.ParseSetting(set)
		if err != nil {
			fmt.Println(err)
			return
		}
		file, err := doc.Resolve([]scenarios.Setting{setting}, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		g := file.Groups[0]
		fmt.Println(g.Name, g.Nodes, g.InstanceType, g.From.Version, "until", file.TimeLimit)
	}
	// Output:
	// burst 5 m5.large v1.34.8-eks-0d3cd1e until 2h0m0s
	// spot.yaml: --set ndoes: no such parameter; did you mean nodes?
	// spot.yaml: --set nodes: "0": want a whole number from 1 to 100
}

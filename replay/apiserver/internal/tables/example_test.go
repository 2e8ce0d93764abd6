package tables_test

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/replay/apiserver/internal/tables"
	"github.com/nodesim/nodesim/timeline"
)

// A node that is being drained, as `kubectl get nodes -o wide` shows it five minutes after it joined.
func ExamplePrinter() {
	p := tables.For(timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}, nil)
	cells, _, err := p.Cells([]byte(`{
		"metadata": {"name": "ip-10-0-1-10", "creationTimestamp": "2026-11-20T12:00:00Z"},
		"spec": {"unschedulable": true},
		"status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.36.3"},
			"addresses": [{"type": "InternalIP", "address": "10.0.1.10"}]}
	}`), time.Date(2026, 11, 20, 12, 5, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, column := range p.Columns() {
		fmt.Printf("%s: %v\n", column.Name, cells[i])
	}
	// Output:
	// Name: ip-10-0-1-10
	// Status: Ready,SchedulingDisabled
	// Roles: <none>
	// Age: 5m
	// Version: v1.36.3
	// Internal-IP: 10.0.1.10
	// External-IP: <none>
	// OS-Image: <unknown>
	// Kernel-Version: <unknown>
	// Container-Runtime: <unknown>
}

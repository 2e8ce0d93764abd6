package apply_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
	"github.com/nodesim/nodesim/timeline"
)

// A node joins, turns ready, is cordoned and goes. What a replay would do in an
// empty cluster, in its order:
func Example_dryRun() {
	node := func(spec, ready string) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"ip-10-0-2-10","uid":"u1","resourceVersion":"7"},
			"spec":%s,"status":{"conditions":[{"type":"Ready","status":%q}]}}`, spec, ready)
	}
	header := &timeline.Header{Metadata: timeline.Metadata{Name: "spot burst", Start: timeline.Time{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}},
		Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}}}
	var events []timeline.Event
	for i, e := range []timeline.Event{
		{Type: timeline.Sync, RV: "6"},
		{Type: timeline.Added, Object: node(`{}`, "False")},
		{Type: timeline.Modified, Object: node(`{}`, "True")},
		{Type: timeline.Modified, Object: node(`{"unschedulable":true}`, "True")},
		{Type: timeline.Deleted, Object: node(`{"unschedulable":true}`, "True")},
	} {
		e.Resource, e.At = "nodes", time.Duration(i)*10*time.Second
		if e.Object != nil {
			e.Name, e.UID, e.RV = "ip-10-0-2-10", "u1", fmt.Sprint(6+i)
			e.Object = []byte(strings.Replace(string(e.Object), `"7"`, `"`+e.RV+`"`, 1))
		}
		events = append(events, e)
	}
	player, err := replay.NewPlayer(replay.Events(header, events), replay.WithSpeed(replay.Max))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = player.Close() }()
	applier, err := apply.New(nil, player, apply.DryRun(), apply.OnStep(func(s apply.Step) { fmt.Println(s.At, s) }))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = applier.Close() }()
	report, err := applier.Run(context.Background())
	fmt.Print(report, "error: ", err, "\n")
	// Output:
	// 10s create nodes ip-10-0-2-10
	// 10s patch nodes/status ip-10-0-2-10
	// 20s patch nodes/status ip-10-0-2-10
	// 30s patch nodes ip-10-0-2-10
	// 40s delete nodes ip-10-0-2-10
	// 4 changes of the tape, by 6 requests
	//   nodes: 1 created, 2 updated, 1 deleted
	// error: <nil>
}

// Cleanup finds what is a tape's own by this label.
func ExampleLabelValue() {
	fmt.Println(apply.LabelValue("surge"))
	fmt.Println(apply.LabelValue("spot burst, eu-west-1"))
	// Output:
	// surge
	// spot-burst--eu-west-1-52db8079
}

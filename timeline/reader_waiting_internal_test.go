package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// Of the heartbeats that a Reader hands out as patches the last one waits to be
// applied, not all of them: they are most lines of a tape.
func TestOneHeartbeatWaits(t *testing.T) {
	var tape strings.Builder
	tape.WriteString(`apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: beats, start: "2026-11-20T22:00:00Z"}
source: {kind: recording}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"n","uid":"u","rv":"1","object":{"metadata":{},"status":{"conditions":[]}}}
`)
	for i := range 100 {
		fmt.Fprintf(&tape, "--- {\"at\":\"1s\",\"type\":\"MODIFIED\",\"resource\":\"nodes\",\"name\":\"n\",\"rv\":\"%d\",\"patch\":{\"status\":{\"conditions\":[{\"at\":%[1]d}]}}}\n", i+2)
	}
	r, err := NewReader(strings.NewReader(tape.String()))
	if err != nil {
		t.Fatal(err)
	}
	r.HandOutPatches(func(Resource) bool { return true })
	for _, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
	}
	o := r.alive.get("nodes", "", "n")
	if len(o.waiting) != 1 || o.grown != len(o.waiting[0]) || string(o.waiting[0]) != `{"status":{"conditions":[{"at":101}]}}` {
		t.Errorf("%q wait, of %d bytes: want the last heartbeat", o.waiting, o.grown)
	}
}

package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/timeline"
)

// Reading line by line keeps a tape to what reading whole objects keeps it to.
func TestPatchesInARow(t *testing.T) {
	var b strings.Builder
	b.WriteString(`apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: x}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
`)
	fmt.Fprintf(&b, `--- {"at":"1s","type":"ADDED","resource":"nodes","name":"n","uid":"u","rv":"1","object":{"spec":{"x":"%s"}}}`+"\n", strings.Repeat("y", timeline.MaxPatched))
	for i := range 100 {
		fmt.Fprintf(&b, `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"%d","patch":{"spec":{"i":%d}}}`+"\n", i+2, i)
	}
	r, err := timeline.NewReader(strings.NewReader(b.String()), timeline.Lines())
	if err != nil {
		t.Fatal(err)
	}
	rep, err := inspect.Tape(r)
	if err == nil || !strings.Contains(err.Error(), "nodes n of 64 KiB after 100 patches in a row") || rep.Events != 101 {
		t.Errorf("%d events, %v: want the hundredth patch refused", rep.Events, err)
	}
}

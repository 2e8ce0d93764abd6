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
	for _, c := range []struct{ kind, scope, resource, of, want string }{
		{"Node", "", "nodes", `"name":"n"`, "line 106: nodes n of 16 KiB after 100 patches in a row"},
		{"Pod", "scope: {namespace: d, pods: app=web}\n", "pods", `"namespace":"d","name":"p"`, "line 107: pods d/p of 16 KiB after 100 patches in a row"},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: x}
%sresources:
- {group: "", version: v1, kind: %s, resource: %s, namespaced: %t}
`, c.scope, c.kind, c.resource, c.kind == "Pod")
		fmt.Fprintf(&b, `--- {"at":"1s","type":"ADDED","resource":"%s",%s,"uid":"u","rv":"1","object":{"spec":{"x":"%s"}}}`+"\n", c.resource, c.of, strings.Repeat("y", timeline.MaxPatched))
		for i := range 100 {
			fmt.Fprintf(&b, `--- {"at":"1s","type":"MODIFIED","resource":"%s",%s,"rv":"%d","patch":{"spec":{"i":%d}}}`+"\n", c.resource, c.of, i+2, i)
		}
		r, err := timeline.NewReader(strings.NewReader(b.String()), timeline.Lines())
		if err != nil {
			t.Fatal(err)
		}
		rep, err := inspect.Tape(r)
		if err == nil || !strings.Contains(err.Error(), c.want) || rep.Events != 101 {
			t.Errorf("%d events, %v: want the hundredth patch refused: %s", rep.Events, err, c.want)
		}
	}
}

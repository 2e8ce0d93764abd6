package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// header heads the tapes of all shapes.
const header = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: hostile, start: "2026-11-20T22:21:09Z"}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: "", version: v1, kind: Event, resource: events, namespaced: true}
- {group: policy, version: v1, kind: PodDisruptionBudget, resource: poddisruptionbudgets, namespaced: true}
- {group: karpenter.sh, version: v1, kind: NodeClaim, resource: nodeclaims, namespaced: false}
`

type fields = map[string]any

// tape puts lines together; versions grow by one a line.
type tape struct {
	b  strings.Builder
	rv int
}

func newTape() *tape {
	t := &tape{}
	t.b.WriteString(header)
	return t
}

func (t *tape) line(at int, typ, resource, name string, more fields) {
	t.rv++
	all := fields{"at": fmt.Sprintf("%ds", at), "type": typ}
	if typ != "MARK" {
		all["resource"], all["rv"] = resource, fmt.Sprint(t.rv)
	}
	if name != "" {
		all["name"] = name
	}
	if name != "" && typ != "MARK" && resource != "nodes" && resource != "nodeclaims" {
		all["namespace"] = "default"
	}
	if typ == "ADDED" {
		all["uid"] = "uid-" + name
	}
	for k, v := range more {
		all[k] = v
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // what shapes hold is JSON
	}
	t.b.WriteString("--- ")
	t.b.Write(raw)
	t.b.WriteByte('\n')
}

func (t *tape) added(at int, resource, name string, object fields) {
	if object["metadata"] == nil {
		object["metadata"] = fields{}
	}
	t.line(at, "ADDED", resource, name, fields{"object": object})
}

func (t *tape) patched(at int, resource, name string, patch fields) {
	t.line(at, "MODIFIED", resource, name, fields{"patch": patch})
}

func (t *tape) sync(at int, resource string) { t.line(at, "SYNC", resource, "", nil) }

// named is a name for each number below n.
func named(n int, prefix string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range n {
			if !yield(i, fmt.Sprint(prefix, i)) {
				return
			}
		}
	}
}

// members are n members with the given value each.
func members(n int, prefix string, value any) fields {
	all := fields{}
	for _, name := range named(n, prefix) {
		all[name] = value
	}
	return all
}

// list is n elements.
func list(n int, element func(i int) any) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = element(i)
	}
	return all
}

// shape is a tape that can be made at any size; its bytes are about
// proportional to n.
type shape struct {
	name string
	make func(t *tape, n int)
	// objects is how many members the objects of all lines have together, of a shape
	// whose lines say less than that: timeline.MaxPatched bounds it, not the tape's length.
	objects func(n int) int
}

var shapes = []shape{
	// One large object.
	{name: "members", make: func(t *tape, n int) {
		t.added(0, "nodes", "a", fields{"spec": members(n, "k", "x")})
		t.patched(2, "nodes", "a", fields{"spec": members(n, "k", "y")})
		t.patched(3, "nodes", "a", fields{"spec": members(n, "z", nil)})
		t.patched(4, "nodes", "a", fields{"spec": members(n, "k", nil)})
	}},
	{name: "labels", make: func(t *tape, n int) {
		for i, member := range []string{"labels", "annotations"} {
			t.added(i, "nodes", member, fields{"metadata": fields{member: members(n, "k", "x")}})
			t.patched(i, "nodes", member, fields{"metadata": fields{member: members(n, "k", "y")}})
		}
	}},
	{name: "conditions", make: func(t *tape, n int) {
		status := func(s string) fields {
			return fields{"conditions": list(n, func(i int) any { return fields{"type": fmt.Sprint("c", i), "status": s} })}
		}
		t.added(0, "nodes", "a", fields{"status": status("True")})
		t.patched(1, "nodes", "a", fields{"status": status("False")})
	}},
	{name: "taints", make: func(t *tape, n int) {
		taints := func(prefix string) fields {
			return fields{"taints": list(n, func(i int) any { return fields{"key": fmt.Sprint(prefix, i), "effect": "NoExecute"} })}
		}
		t.added(0, "nodes", "a", fields{"spec": taints("d")})
		t.patched(1, "nodes", "a", fields{"spec": taints("e")})
		t.sync(2, "nodes")
		t.sync(2, "pods")
		t.added(400, "pods", "a", fields{"spec": fields{"tolerations": list(n, func(i int) any {
			return fields{"key": fmt.Sprint("e", i), "effect": "NoExecute"}
		})}, "status": fields{"phase": "Pending"}})
		t.patched(401, "pods", "a", fields{"spec": fields{"nodeName": "a"}})
		t.patched(800, "nodes", "a", fields{"spec": taints("f")})
	}},
	{name: "containers", make: func(t *tape, n int) {
		statuses := func(restarts int) fields {
			return fields{"containerStatuses": list(n, func(i int) any {
				return fields{"name": fmt.Sprint("c", i), "restartCount": restarts}
			})}
		}
		t.added(0, "pods", "a", fields{"spec": fields{"containers": list(n, func(i int) any {
			return fields{"name": fmt.Sprint("c", i), "image": "x"}
		})}, "status": statuses(1)})
		t.patched(1, "pods", "a", fields{"status": statuses(2)})
	}},
	{name: "owners", make: func(t *tape, n int) {
		finalizers := func(prefix string) []any { return list(n, func(i int) any { return fmt.Sprint(prefix, i) }) }
		t.added(0, "pods", "a", fields{"metadata": fields{"finalizers": finalizers("f"), "ownerReferences": list(n, func(i int) any {
			return fields{"kind": fmt.Sprint("c", i), "name": "x", "uid": fmt.Sprint(i)}
		})}})
		t.patched(1, "pods", "a", fields{"metadata": fields{"finalizers": finalizers("g")}})
	}},
	{name: "escapes", make: func(t *tape, n int) {
		t.added(0, "nodes", "a", fields{"metadata": fields{"labels": fields{"x": strings.Repeat("\x01\\\"", n)}}})
		t.patched(2, "nodes", "a", fields{"metadata": fields{"labels": fields{"x": strings.Repeat("\x02", n)}}})
	}},
	{name: "selector", make: func(t *tape, n int) {
		t.added(0, "poddisruptionbudgets", "a", fields{"spec": fields{"selector": fields{"matchLabels": members(n, "k", "x"),
			"matchExpressions": list(n, func(i int) any {
				return fields{"key": fmt.Sprint("k", i), "operator": "In", "values": []any{"x"}}
			})}}})
		t.added(1, "pods", "a", fields{"metadata": fields{"labels": members(n, "k", "x")}, "spec": fields{"nodeName": "n"}})
	}},

	// Many lines.
	{name: "growing", make: func(t *tape, n int) {
		t.added(0, "nodes", "a", fields{"spec": fields{}})
		for i := range n { // short names: 2,000 of them are within timeline.MaxPatched
			t.patched(i+1, "nodes", "a", fields{"spec": fields{strconv.FormatInt(int64(i), 36): 1}})
		}
	}, objects: func(n int) int { return n * n / 2 }},
	{name: "nodes", make: func(t *tape, n int) {
		for _, name := range named(n, "n") {
			t.added(0, "nodes", name, fields{})
		}
		t.sync(1, "nodes")
		for i, name := range named(n, "n") {
			t.patched(2+i, "nodes", name, fields{"spec": fields{"unschedulable": true}})
		}
	}},
	{name: "nodes late", make: func(t *tape, n int) {
		t.sync(0, "nodes")
		for i, name := range named(n, "n") {
			t.added(1+i, "nodes", name, fields{"metadata": fields{"labels": fields{"kubernetes.azure.com/node-image-version": name}}})
		}
		for i, name := range named(n, "n") {
			t.line(n+i, "DELETED", "nodes", name, nil)
		}
	}},
	{name: "pods", make: func(t *tape, n int) {
		t.added(0, "nodes", "n", fields{"spec": fields{"unschedulable": true}})
		for i, name := range named(n, "p") {
			t.added(1, "pods", name, fields{"metadata": fields{"labels": fields{"a": fmt.Sprint(i % 7)}}, "spec": fields{"nodeName": "n"}})
		}
		t.sync(1, "pods")
		for i, name := range named(n, "p") {
			t.line(2+i, "DELETED", "pods", name, nil)
		}
	}},
	{name: "budgets", make: func(t *tape, n int) {
		for i, name := range named(n, "b") {
			t.added(0, "poddisruptionbudgets", name, fields{"spec": fields{"selector": fields{"matchLabels": fields{"a": fmt.Sprint(i)}}}})
		}
		for i, name := range named(n, "p") {
			t.added(1, "pods", name, fields{"metadata": fields{"labels": fields{"a": fmt.Sprint(i)}}, "spec": fields{"nodeName": "n"}})
		}
		for i, name := range named(n, "b") {
			t.line(2+i, "DELETED", "poddisruptionbudgets", name, nil)
		}
	}},
	{name: "budgets late", make: func(t *tape, n int) {
		for i, name := range named(n, "p") {
			t.added(0, "pods", name, fields{"metadata": fields{"labels": fields{"a": fmt.Sprint(i)}}, "spec": fields{"nodeName": "n"}})
		}
		for i, name := range named(n, "b") {
			t.added(1+i, "poddisruptionbudgets", name, fields{"spec": fields{"selector": fields{"matchExpressions": []any{
				fields{"key": "a", "operator": "In", "values": []any{fmt.Sprint(i), fmt.Sprint(i + 1)}},
			}}}})
		}
	}},
	{name: "budgets of all", make: func(t *tape, n int) {
		t.added(0, "nodes", "n", fields{"spec": fields{"unschedulable": true}})
		for i, name := range named(n, "p") {
			t.added(0, "pods", name, fields{"metadata": fields{"labels": fields{"a": fmt.Sprint(i)}}, "spec": fields{"nodeName": "n"}})
		}
		for i, name := range named(n, "b") {
			t.added(1+i, "poddisruptionbudgets", name, fields{"spec": fields{"selector": fields{"matchExpressions": []any{
				fields{"key": fmt.Sprint("k", i), "operator": "DoesNotExist"},
			}}}})
		}
		for i, name := range named(n, "b") {
			t.line(1+n+i, "DELETED", "poddisruptionbudgets", name, nil)
		}
	}},
	{name: "budgets of none", make: func(t *tape, n int) {
		for i, name := range named(n, "b") {
			t.added(i, "poddisruptionbudgets", name, fields{"spec": fields{"selector": fields{"matchExpressions": []any{
				fields{"key": fmt.Sprint("k", i), "operator": "Exists"},
			}}}})
		}
		for i, name := range named(n, "p") {
			t.added(n+i, "pods", name, fields{"metadata": fields{"labels": fields{"a": fmt.Sprint(i)}}, "spec": fields{"nodeName": "n"}})
		}
	}},
	{name: "budgets of one", make: func(t *tape, n int) {
		t.added(0, "nodes", "n", fields{"spec": fields{"unschedulable": true}})
		for _, name := range named(n, "b") {
			t.added(0, "poddisruptionbudgets", name, fields{"spec": fields{"selector": fields{}}})
		}
		for _, name := range named(n, "p") {
			t.added(0, "pods", name, fields{"spec": fields{"nodeName": "n"}})
		}
		for i, name := range named(n, "b") {
			t.line(1+i, "DELETED", "poddisruptionbudgets", name, nil)
		}
	}},
	{name: "budget status", make: func(t *tape, n int) {
		t.added(0, "nodes", "n", fields{"spec": fields{"unschedulable": true}})
		t.added(0, "poddisruptionbudgets", "b", fields{"spec": fields{"selector": fields{}}})
		for i, name := range named(n, "p") {
			t.added(0, "pods", name, fields{"metadata": fields{"labels": fields{"a": fmt.Sprint(i)}}, "spec": fields{"nodeName": "n"}})
		}
		for i := range n {
			t.patched(1+i, "poddisruptionbudgets", "b", fields{"status": fields{"disruptionsAllowed": i % 2}})
		}
	}},
	{name: "disrupted", make: func(t *tape, n int) {
		t.added(0, "poddisruptionbudgets", "b", fields{"metadata": fields{"generation": 1}, "spec": fields{"selector": fields{}},
			"status": fields{"observedGeneration": 1, "disruptedPods": members(n, "p", "2026-11-20T22:21:09Z")}})
		for i, name := range named(n, "p") {
			t.added(1+i, "pods", name, fields{"spec": fields{"nodeName": "n"},
				"status": fields{"conditions": []any{fields{"type": "Ready", "status": "True"}}}})
		}
	}},
	{name: "claims", make: func(t *tape, n int) {
		condition := func(typ, status string) fields { return fields{"type": typ, "status": status, "reason": "R"} }
		t.added(0, "nodes", "n", fields{})
		t.sync(0, "nodes")
		t.sync(0, "nodeclaims")
		for i, name := range named(n, "c") {
			t.added(1+i, "nodeclaims", name, fields{"status": fields{"conditions": []any{condition("Launched", "Unknown")}}})
		}
		for i, name := range named(n, "c") {
			t.patched(1+n+i, "nodeclaims", name, fields{"status": fields{"nodeName": "n", "conditions": []any{condition("Drifted", "True")}}})
		}
		t.added(2*n, "nodeclaims", "many", fields{"status": fields{"conditions": list(n, func(i int) any { return condition(fmt.Sprint("c", i), "False") })}})
		for i, name := range named(n, "c") {
			t.line(1+2*n+i, "DELETED", "nodeclaims", name, nil)
		}
	}},
	{name: "events", make: func(t *tape, n int) {
		for i, name := range named(n, "n") {
			t.added(0, "nodes", name, fields{})
			t.added(0, "events", name, fields{"involvedObject": fields{"kind": "Node", "name": name}, "type": "Warning",
				"reason": fmt.Sprint("R", i), "message": "m"})
		}
	}},
	{name: "marks", make: func(t *tape, n int) {
		t.added(0, "nodes", "n", fields{})
		for i, name := range named(n, "m") {
			t.line(i, "MARK", "", name, nil)
		}
	}},
	{name: "gaps", make: func(t *tape, n int) {
		for _, name := range named(n, "n") {
			t.added(0, "nodes", name, fields{})
		}
		t.sync(1, "nodes")
		for i := range n {
			t.line(2+i, "GAP", "nodes", "", fields{"reason": "r"})
			t.sync(2+i, "nodes")
		}
	}},
	{name: "pods gaps", make: func(t *tape, n int) {
		t.sync(0, "nodes")
		for _, name := range named(n, "p") {
			t.added(0, "pods", name, fields{"metadata": fields{"labels": fields{"a": name}}, "spec": fields{"nodeName": name}})
		}
		t.sync(1, "pods")
		for i := range n {
			t.line(2+i, "GAP", "pods", "", fields{"reason": "r"})
			t.sync(2+i, "pods")
		}
	}},
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// body is what a client sends to a replay that takes writes: a patch of node a,
// which is on the tape as live says.
type body struct {
	name, kind string
	live       func(n int) fields
	patch      func(n int) any
}

// The kinds of patches.
const (
	jsonPatch  = "json-patch"
	mergePatch = "merge-patch"
	strategic  = "strategic-merge-patch"
	applied    = "apply-patch"
)

var media = map[string]string{
	jsonPatch: "application/json-patch+json", mergePatch: "application/merge-patch+json",
	strategic: "application/strategic-merge-patch+json", applied: "application/apply-patch+yaml",
}

func annotated(prefix string) func(n int) fields {
	return func(n int) fields { return fields{"metadata": fields{"annotations": members(n, prefix, "x")}} }
}

func addresses(n int) fields {
	return fields{"status": fields{"addresses": list(n, func(i int) any { return fields{"type": "InternalIP", "address": fmt.Sprint(i)} })}}
}

func tainted(n int) fields {
	return fields{"spec": fields{"taints": list(n, func(i int) any { return fields{"key": fmt.Sprint("k", i), "effect": "NoExecute"} })}}
}

func owned(n int) fields {
	return fields{"metadata": fields{"finalizers": list(n, func(i int) any { return fmt.Sprint("a.b/f", i) }),
		"ownerReferences": list(n, func(i int) any {
			return fields{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": fmt.Sprint(i)}
		})}}
}

func operations(op string) func(n int) any {
	return func(n int) any {
		return list(n, func(i int) any {
			return fields{"op": op, "path": fmt.Sprint("/metadata/annotations/k", i), "from": "/metadata/name", "value": "y"}
		})
	}
}

var bodies = []body{
	{"add", jsonPatch, annotated("z"), operations("add")},
	{"replace", jsonPatch, annotated("k"), operations("replace")},
	{"remove", jsonPatch, annotated("k"), operations("remove")},
	{"copy", jsonPatch, annotated("k"), operations("copy")},
	{"elements", jsonPatch, tainted, func(n int) any {
		return list(n, func(i int) any {
			return fields{"op": "replace", "path": fmt.Sprintf("/spec/taints/%d/value", i), "value": "y"}
		})
	}},
	{"members", mergePatch, annotated("k"), func(n int) any { return annotated("k")(n) }},
	{"no members", mergePatch, annotated("k"), func(n int) any { return fields{"metadata": fields{"annotations": members(n, "k", nil)}} }},
	{"owners", mergePatch, annotated("k"), func(n int) any { return owned(n) }},
	{"labels", strategic, annotated("k"), func(n int) any { return fields{"metadata": fields{"labels": members(n, "k", "x")}} }},
	{"taints", strategic, tainted, func(n int) any { return tainted(n) }},
	{"owners", strategic, owned, func(n int) any { return owned(n) }},
	{"no owners", strategic, owned, func(n int) any {
		return fields{"metadata": fields{
			"$deleteFromPrimitiveList/finalizers": list(n, func(i int) any { return fmt.Sprint("a.b/f", i) }),
			"ownerReferences":                     list(n, func(i int) any { return fields{"$patch": "delete", "uid": fmt.Sprint(i)} }),
		}}
	}},
	{"addresses", strategic, addresses, func(n int) any { return addresses(n) }},
	{"order", strategic, owned, func(n int) any {
		return fields{"metadata": fields{"$setElementOrder/ownerReferences": list(n, func(i int) any { return fields{"uid": fmt.Sprint(n - 1 - i)} })}}
	}},
	{"owners", applied, owned, func(n int) any { return owned(n) }},
	{"taints", applied, tainted, func(n int) any { return tainted(n) }},
	{"annotations", applied, annotated("k"), func(n int) any { return annotated("k")(n) }},
}

// send prepares the request of a body of size n and returns what sends it.
func (b *body) send(n int) (func() error, error) {
	t := newTape()
	t.added(0, "nodes", "a", b.live(n))
	t.sync(0, "nodes")
	p, err := replay.NewPlayer(source(t.b.String()))
	if err != nil {
		return nil, err
	}
	s, err := apiserver.New(p, apiserver.RecordWrites(func(apiserver.Write) {}))
	if err != nil {
		return nil, err
	}
	sent := b.patch(n)
	if o, ok := sent.(fields); ok && b.kind == applied {
		o["apiVersion"], o["kind"] = "v1", "Node"
	}
	raw, err := json.Marshal(sent)
	if err != nil {
		return nil, err
	}
	return func() error {
		r := httptest.NewRequest(http.MethodPatch, "/api/v1/nodes/a?fieldManager=hostile", bytes.NewReader(raw))
		r.Header.Set("Content-Type", media[b.kind])
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return fmt.Errorf("%d: %.300s", w.Code, strings.TrimSpace(w.Body.String()))
		}
		return nil
	}, nil
}

// reader sends the body as a reading does, once a small one has made the server read
// its schemas.
func (b *body) reader(n int) (reader, error) {
	first, err := b.send(1)
	if err == nil {
		err = first()
	}
	if err != nil {
		return reader{}, err
	}
	send, err := b.send(n)
	return reader{name: b.kind, read: func([]byte) error { return send() }}, err
}

package writes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestBounds: a patch whose work isn't linear in its bytes is refused beyond a bound.
func TestBounds(t *testing.T) {
	patch := func(typ types.PatchType, body any) Request {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r := ask(Patch, "nodes/a", string(raw))
		r.PatchType = typ
		return r
	}
	operations := func(n int, op func(i int) map[string]any) []map[string]any {
		all := make([]map[string]any, n)
		for i := range all {
			all[i] = op(i)
		}
		return all
	}
	label := func(int) map[string]any {
		return map[string]any{"op": "add", "path": "/metadata/labels/l", "value": "1"}
	}
	double := func(i int) map[string]any {
		if i == 0 {
			return map[string]any{"op": "add", "path": "/metadata/annotations", "value": map[string]any{"a": strings.Repeat("x", 1000)}}
		}
		return map[string]any{"op": "copy", "from": "/metadata/annotations", "path": fmt.Sprint("/metadata/annotations/k", i)}
	}
	owners := func(n int) map[string]any {
		return map[string]any{"metadata": map[string]any{"ownerReferences": operations(n, func(i int) map[string]any {
			return map[string]any{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": fmt.Sprint(i)}
		})}}
	}
	d := New(cluster(t), header(), nil)
	for _, c := range []struct {
		what string
		r    Request
		want string
	}{
		{"operations", patch(types.JSONPatchType, operations(10000, label)), `200 Node`},
		{"more operations", patch(types.JSONPatchType, operations(10001, label)), `413 RequestEntityTooLarge: Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001`},
		{"copies", patch(types.JSONPatchType, operations(15, double)), `422 Invalid: the server rejected our request due to an error in our request`},
		{"a replacement without a value", patch(types.JSONPatchType, operations(1, func(int) map[string]any { return map[string]any{"op": "replace", "path": ""} })), `422 Invalid: the server rejected our request due to an error in our request`},
		{"list items", patch(types.StrategicMergePatchType, owners(1000)), `200 Node`},
		{"more list items", patch(types.StrategicMergePatchType, owners(2001)), `413 RequestEntityTooLarge: Request entity too large: The strategic merge patch has 2001 list items, and the object 0: they are compared with each other, at most 4000000 times`},
	} {
		equal(t, c.what, do(t, d, c.r), c.want)
	}
}

// Both Handlers bound the copies, which the library doesn't.
func TestCopiesAreBounded(t *testing.T) {
	for what, made := range map[string]func(){
		"New":  func() { New(cluster(t), header(), nil) },
		"Keep": func() { keeping(t) },
	} {
		jsonpatch.AccumulatedCopySizeLimit = 0
		if made(); jsonpatch.AccumulatedCopySizeLimit != mostCopied {
			t.Errorf("%s: found the limit %d, want %d", what, jsonpatch.AccumulatedCopySizeLimit, int64(mostCopied))
		}
	}
}

// Owner references are found twice as DeepEqual finds them, whatever is set in them.
func TestOwnersTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	maybe := func() *bool {
		return []*bool{nil, new(bool), func() *bool { b := true; return &b }()}[r.IntN(3)]
	}
	for range 200 {
		var refs, want []metav1.OwnerReference
		for range r.IntN(12) {
			refs = append(refs, metav1.OwnerReference{Kind: "Node", Name: fmt.Sprint(r.IntN(2)), UID: "u", Controller: maybe(), BlockOwnerDeletion: maybe()})
		}
	next:
		for _, ref := range refs {
			for _, kept := range want {
				if equality.Semantic.DeepEqual(kept, ref) {
					continue next
				}
			}
			want = append(want, ref)
		}
		u := unstructured.Unstructured{Object: map[string]any{}}
		u.SetOwnerReferences(refs)
		w := &write{}
		w.dedup(u, false)
		if diff := cmp.Diff(want, u.GetOwnerReferences()); diff != "" || len(w.warnings) != min(1, len(refs)-len(want)) {
			t.Fatalf("%v: %v (-want +got):\n%s", refs, w.warnings, diff)
		}
	}
}

// A map whose owners would take too long to work out is refused, in an update and in an apply patch.
func TestWideObjects(t *testing.T) {
	data := map[string]any{}
	for i := range mostMembers + 1 {
		data[fmt.Sprint(i)] = ""
	}
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "w"}, "data": data})
	if err != nil {
		t.Fatal(err)
	}
	applied := ask(Patch, "configmaps/team/w", string(body))
	applied.PatchType, applied.Options.FieldManager = types.ApplyYAMLPatchType, "m"
	k := keeping(t)
	for what, r := range map[string]Request{"create": ask(Create, "configmaps/team", string(body)), "apply": applied} {
		equal(t, what, do(t, k.Handler, r), `413 RequestEntityTooLarge: Request entity too large: The object has a map of 50001 members, and their owners are kept of 50000 at most`)
	}
}

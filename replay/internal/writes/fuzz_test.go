package writes

import (
	"encoding/json"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// FuzzDo: whatever is sent, the answer is JSON or a Status, and the log a line.
func FuzzDo(f *testing.F) {
	verbs := []string{Create, Update, Patch, Delete, DeleteCollection}
	paths := []string{
		"nodes/a", "pods/team/web", "pods/team/waits/binding", "pods/team/waits/eviction", "nodeclaims.karpenter.sh/c", "nodes/a/status",
		"poddisruptionbudgets.policy/team/web", "deployments.apps/team/web/scale", "nodes/new", "leases.coordination.k8s.io/team/x", "secrets/team/s",
	}
	patches := []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType}
	validation := []string{metav1.FieldValidationIgnore, metav1.FieldValidationWarn, metav1.FieldValidationStrict}
	for i, body := range []string{
		`{}`, `[]`, `null`, `{"metadata":null}`, `{"metadata":[]}`, `{"metadata":{"name":"a","labels":{"a":1}}}`, `{"spec":{"taints":[null]}}`,
		`{"metadata":{"ownerReferences":[{"a":1}],"finalizers":7}}`, `[{"op":"replace","path":"","value":null}]`, `[{"op":"replace","path":""}]`, `[{"op":"remove","path":"/metadata"}]`,
		`{"spec":null,"status":{"conditions":[{"$patch":"delete","type":"Ready"}]}}`, `{"$patch":"replace"}`, "apiVersion: v1\nkind: Node\nspec: [1]", `{"spec":{"replicas":1e400}}`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"c","creationTimestamp":5,"resourceVersion":7}}`,
	} {
		f.Add(i%len(verbs), i%len(paths), i%len(patches), i%len(validation), []byte(body))
		f.Add(2, i%len(paths), (i+1)%len(patches), i%len(validation), []byte(body))
	}
	at := func(i, n int) int { return (i%n + n) % n }
	f.Fuzz(func(t *testing.T, verb, path, patch, valid int, body []byte) {
		r := ask(verbs[at(verb, len(verbs))], paths[at(path, len(paths))], string(body))
		r.Options.FieldValidation = validation[at(valid, len(validation))]
		if r.Verb == Create && r.Subresource == "" {
			r.Name = ""
		}
		if r.Verb == Patch {
			r.PatchType = patches[at(patch, len(patches))]
			if r.PatchType == types.ApplyYAMLPatchType {
				r.Options.FieldManager = "fuzz"
			}
		}
		a, err := New(cluster(t), header(), nil).Handle(t.Context(), r)
		if err != nil {
			if _, ok := err.(apierrors.APIStatus); !ok {
				t.Fatalf("%v isn't a Status", err)
			}
			return
		}
		if !json.Valid(a.Object) {
			t.Fatalf("not JSON: %s", a.Object)
		}
		if _, err := json.Marshal(a.Entry); err != nil {
			t.Fatal(err)
		}
	})
}

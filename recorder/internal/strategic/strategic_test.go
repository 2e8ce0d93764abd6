package strategic

import "testing"

// A kind whose lists aren't known takes merge patches: what only looks like a directive is a value.
func TestOtherKinds(t *testing.T) {
	object := []byte(`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","spec":{"a":"1"}}`)
	for patch, want := range map[string]string{
		`{"spec":{"a":"$(VAR)"}}`:                        `{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","spec":{"a":"$(VAR)"}}`,
		`{"spec":{"a":"$patch"}}`:                        `{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","spec":{"a":"$patch"}}`,
		`{"spec":{"$patch": "replace"}}`:                 "",
		`{"spec":{"$retainKeys" : ["a"]}}`:               "",
		`{"spec":{"$setElementOrder/list":[]}}`:          "",
		`{"spec":{"$deleteFromPrimitiveList/list":[1]}}`: "",
	} {
		got, err := Apply(object, []byte(patch))
		if (err != nil) != (want == "") || string(got) != want {
			t.Errorf("%s: found %s, %v, want %q", patch, got, err, want)
		}
	}
}

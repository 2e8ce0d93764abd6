package writescripts

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A UID may hold what a pod is called.
func TestNamesAreNotFoundInUIDs(t *testing.T) {
	rest := func(uid string) map[string]string {
		var o []map[string]any
		if err := json.Unmarshal([]byte(`[
			{"kind": "StatefulSet", "metadata": {"name": "db", "uid": "`+uid+`"}},
			{"kind": "Pod", "metadata": {"name": "db-2", "generateName": "db-", "uid": "00000000-0000-0000-0000-000000000002",
				"ownerReferences": [{"kind": "StatefulSet", "name": "db", "uid": "`+uid+`"}]}},
			{"kind": "PersistentVolume", "metadata": {"name": "pvc-`+uid+`", "uid": "00000000-0000-0000-0000-000000000003"}}]`), &o); err != nil {
			t.Fatal(err)
		}
		return (&Cluster{namespace: "ns-0", slot: "slot-00"}).normal(o).Fields
	}
	want := rest("786793f0-ffbb-4aa1-8000-11c527bfef4b")
	if diff := cmp.Diff(want, rest("786793f0-ffbb-4aa1-8ddb-21c527bfef4b")); diff != "" {
		t.Errorf("another UID gives other fields (-want +got):\n%s", diff)
	}
	if got := want["Pod db-#1 metadata.ownerReferences[0].uid"]; got != "uid:StatefulSet/db" {
		t.Errorf("found %q for the owner in %v", got, want)
	}
	if _, is := want["PersistentVolume pvc-uid kind"]; !is {
		t.Errorf("found no volume pvc-uid in %v", want)
	}
}

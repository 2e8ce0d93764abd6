package writes

import (
	"encoding/json"
	"testing"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// What a client leaves out is filled in, whichever way it writes; on a tape it isn't.
func TestWhatIsKeptHasDefaults(t *testing.T) {
	k := keeping(t)
	k.does("create", ask(Create, "pods/team", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}}`),
		`201 Pod "101"`, "1m0s 101 ADDED pods p")
	bare := `{"name":"c","image":"i","imagePullPolicy":"Always","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}},` +
		`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}`
	is := func(what, fields, want string) {
		t.Helper()
		equal(t, what, sorted(t, k.read("pods/team/p", fields)), sorted(t, want))
	}
	is("what was created", "spec.containers", "["+bare+"]")
	is("its quality", "status.qosClass", `"Guaranteed"`)
	is("what isn't its containers'", "spec.dnsPolicy", `"ClusterFirst"`)
	k.does("patch a default away", merge("pods/team/p", `{"spec":{"dnsPolicy":null,"terminationGracePeriodSeconds":null}}`), `200 Pod "101"`)
	k.does("update without defaults", ask(Update, "pods/team/p", `{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}}`),
		`200 Pod "102"`, "1m0s 102 MODIFIED pods p")
	is("what was updated", "spec.containers", "["+bare+"]")
	tape := New(cluster(t), header(), nil)
	a, err := tape.Handle(t.Context(), ask(Create, "pods/team", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "on a tape", string(rawjson.Get(a.Object, "spec")), `{"containers":[{"image":"i","name":"c","resources":{}}]}`)
}

func sorted(t testing.TB, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err, text)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

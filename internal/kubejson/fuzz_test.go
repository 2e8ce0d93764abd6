package kubejson_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// FuzzDecoder: whatever an object holds, nothing panics; and a Decoder that has read another object before, or this one, reads the same of
// it as a new one, though it shares what comes again.
func FuzzDecoder(f *testing.F) {
	resources := []string{"nodes", "pods", "poddisruptionbudgets", "events"}
	for _, name := range []string{"surge", "stuck-drain"} {
		r, err := timeline.Open("../../examples/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		last := map[string][]byte{}
		for ev, err := range r.All() {
			if err != nil {
				f.Fatal(err)
			}
			if ev.Type.Object() {
				last[ev.Resource] = ev.Object
			}
		}
		if err := r.Close(); err != nil {
			f.Fatal(err)
		}
		for i, resource := range resources {
			if object := last[resource]; object != nil {
				f.Add(i, last["pods"], object)
			}
		}
	}
	for i, text := range []string{
		`{"metadata":{"labels":{"a":"b","n":7,"a\"b":"c\\d"},"creationTimestamp":"2026-11-20T22:00:00.5+24:00"},"spec":{"unschedulable":1,"taints":[null,{"key":"k","timeAdded":null}]},"status":{"conditions":{"type":"Ready"},"nodeInfo":[]}}`,
		`{"metadata":[],"spec":{"nodeName":"a","containers":[{"name":1,"resources":{"requests":{"cpu":"1e999","memory":7},"limits":null}},"x"],"tolerations":[{}]},"status":{"containerStatuses":[{"state":{"running":{},"waiting":7,"terminated":{"startedAt":"x"}},"resources":1}]}}`,
		`{"spec":{"minAvailable":"50%","maxUnavailable":99999999999,"selector":{"matchLabels":7},"unhealthyPodEvictionPolicy":""},"status":{"disruptedPods":{"a":"b"},"conditions":[{}],"disruptionsAllowed":-1e3}}`,
		`{"eventTime":"2026-11-20T22:00:00.500000Z","series":{"count":3},"regarding":{"kind":"Node","name":"n"},"note":"a \"note\"","deprecatedSource":[],"deprecatedCount":"2"}`,
	} {
		f.Add(i, []byte(`{"metadata":{"labels":{"a":"c"},"deletionTimestamp":7,"finalizers":["a",{}],"ownerReferences":[{"kind":"Job"}]}}`), []byte(text))
		f.Add(i, []byte(text), []byte(`"`+resources[i]+`"`))
	}
	f.Fuzz(func(t *testing.T, kind int, before, text []byte) {
		raw, err := rawjson.Compact(nil, text)
		if err != nil {
			return
		}
		other, err := rawjson.Compact(nil, before)
		if err != nil {
			return
		}
		resource := resources[uint(kind)%uint(len(resources))]
		for _, brief := range []bool{false, true} {
			want := fresh(resource)
			decode(&kubejson.Decoder{Brief: brief}, want, raw)
			used := kubejson.Decoder{Brief: brief}
			decode(&used, fresh(resource), other)
			for _, when := range []string{"after another one", "again"} {
				got := fresh(resource)
				decode(&used, got, raw)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s of %s, brief: %t, %s (-by a new decoder +by one that was used):\n%s", resource, raw, brief, when, diff)
				}
			}
		}
	})
}

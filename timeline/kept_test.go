package timeline_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/timeline"
)

// What a Reader hands out stays as it was, whatever is read after it.
func TestEventsStayAsTheyWereHandedOut(t *testing.T) {
	const tape = `apiVersion: nodesim.dev/v1
kind: Timeline
resources:
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
--- {"at":"0s","type":"ADDED","resource":"pods","namespace":"shop","name":"a","uid":"1","rv":"1","object":{"spec":{"nodeName":"first"}}}
--- {"at":"0s","type":"SYNC","resource":"pods","rv":"2","odd":{"first":[1]}}
--- {"at":"1s","type":"MODIFIED","resource":"pods","namespace":"shop","name":"a","rv":"3","patch":{"spec":{"nodeName":"second"}}}
--- {"at":"2s","type":"MARK","name":"half","object":{"of":"nothing"},"odd":{"second":[2]}}
--- {"at":"3s","type":"ODD","patch":{"of":"nothing"},"odd":"third"}
--- {"at":"4s","type":"MODIFIED","resource":"pods","namespace":"shop","name":"a","rv":"4","patch":{"status":{"phase":"Running"}}}
--- {"at":"5s","type":"DELETED","resource":"pods","namespace":"shop","name":"a","rv":"5","patch":{"spec":{"nodeName":null}}}
`
	for name, read := range map[string]func() (*timeline.Reader, error){
		"whole": func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(tape)) },
		"lines": func() (*timeline.Reader, error) {
			return timeline.NewReader(strings.NewReader(tape), timeline.Lines())
		},
		"patches": func() (*timeline.Reader, error) {
			r, err := timeline.NewReader(strings.NewReader(tape))
			if err == nil {
				r.HandOutPatches(func(timeline.Resource) bool { return true })
			}
			return r, err
		},
	} {
		r, err := read()
		if err != nil {
			t.Fatal(name, err)
		}
		var kept, copies []timeline.Event
		for ev, err := range r.All() {
			if err != nil {
				t.Fatal(name, err)
			}
			kept = append(kept, ev)
			ev.Object, ev.Patch, ev.Extra = bytes.Clone(ev.Object), bytes.Clone(ev.Patch), slices.Clone(ev.Extra)
			for i := range ev.Extra {
				ev.Extra[i].Value = bytes.Clone(ev.Extra[i].Value)
			}
			copies = append(copies, ev)
		}
		if d := cmp.Diff(copies, kept); d != "" || len(kept) != 7 {
			t.Errorf("%s: %d events (-as they were +as they are):\n%s", name, len(kept), d)
		}
	}
}

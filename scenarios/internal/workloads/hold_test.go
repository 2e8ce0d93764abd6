package workloads

import (
	"slices"
	"strings"
	"testing"
)

// Revisions without their data, as a recording has them, roll no pods.
func TestRevisionsWithoutData(t *testing.T) {
	r := newRig(t)
	r.put("statefulsets", "db", statefulSet)
	r.settle()
	pods := func() (uids []string) {
		for _, p := range r.running() {
			uids = append(uids, p.UID)
		}
		slices.Sort(uids)
		return uids
	}
	was := pods()
	for key := range r.texts {
		if name, is := strings.CutPrefix(key, "controllerrevisions/"); is {
			r.put("controllerrevisions", name, `{"data":null}`)
		}
	}
	r.HoldRevisions()
	r.put("statefulsets", "db", `{"metadata":{"labels":{"a":"b"}}}`)
	r.settle()
	if is := pods(); len(was) != 3 || !slices.Equal(was, is) || r.revisionsOf() != "1" {
		t.Errorf("pods %s were %s, revisions %s", is, was, r.revisionsOf())
	}
}

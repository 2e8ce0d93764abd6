package workloads

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
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
	r.AddRevisions()
	r.put("statefulsets", "db", `{"metadata":{"labels":{"a":"b"}}}`)
	r.settle()
	if is := pods(); len(was) != 3 || !slices.Equal(was, is) || r.revisionsOf() != "1" {
		t.Errorf("pods %s were %s, revisions %s", is, was, r.revisionsOf())
	}
}

// Pods that name no revision, as a client may have made them, don't make one without a name.
func TestPodsWithoutRevision(t *testing.T) {
	for _, one := range []struct{ resource, text, label, want string }{
		{"statefulsets", statefulSet, "", ""},
		{"statefulsets", statefulSet, "own-7", "controllerrevisions/own-7"},
		{"daemonsets", daemonSet, "", ""},
		{"daemonsets", daemonSet, "7", "controllerrevisions/own-7"},
	} {
		r := newRig(t)
		r.put(one.resource, "own", one.text)
		for i, label := range []string{"", one.label} {
			p := &kube.Pod{
				Meta:     kube.Meta{Namespace: "shop", Name: fmt.Sprint("own-", i), Labels: kube.Pairs{}.With("app", "own"), Owner: r.OwnerOf("uid-own")},
				Template: &kube.Template{},
			}
			if label != "" {
				p.Labels = p.Labels.With("controller-revision-hash", label)
			}
			if err := r.env.API.CreatePod(p); err != nil {
				t.Fatal(err)
			}
		}
		r.AddRevisions()
		got := ""
		for key := range r.texts {
			if strings.HasPrefix(key, "controllerrevisions/") {
				got += key
			}
		}
		if got != one.want {
			t.Errorf("%s with pods of %q have revision %q, want %q", one.resource, one.label, got, one.want)
		}
	}
}

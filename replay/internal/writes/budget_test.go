package writes

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/timeline"
)

// TestBudgets: when a pod may be evicted, and what is said otherwise.
func TestBudgets(t *testing.T) {
	ready := `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`
	unready := `"status":{"phase":"Running"}`
	for _, c := range []struct{ what, pod, spec, status, want string }{
		{"one may go", ready, ``, `"disruptionsAllowed":1`, ``},
		{"none may go", ready, ``, `"currentHealthy":2,"desiredHealthy":2`, `429 in 0s: The disruption budget b needs 2 healthy pods and has 2 currently`},
		{"none may go, all healthy", ready, ``, `"currentHealthy":3,"desiredHealthy":2`, `429 in 0s: The disruption budget b does not allow evicting pods currently`},
		{"none may go, for a reason", ready, ``, `"currentHealthy":3,"desiredHealthy":2,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"R","message":"m"}]`,
			`429 in 0s: The disruption budget b does not allow evicting pods currently (R): m`},
		{"out of step", ready, ``, `"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"m"}]`,
			`429 in 0s: The disruption budget b does not allow evicting pods currently because it failed sync: m`},
		{"behind", ready, ``, `"disruptionsAllowed":1,"observedGeneration":0`, `429 in 10s: The disruption budget b is still being processed by the server.`},
		{"below zero", ready, ``, `"disruptionsAllowed":-1`, `403 in 0s: `},
		{"unready, and enough are healthy", unready, ``, `"currentHealthy":2,"desiredHealthy":2`, ``},
		{"unready, and too few are healthy", unready, ``, `"currentHealthy":1,"desiredHealthy":2`, `429 in 0s: The disruption budget b needs 2 healthy pods and has 1 currently`},
		{"unready, and always allowed", unready, `"unhealthyPodEvictionPolicy":"AlwaysAllow",`, `"currentHealthy":1,"desiredHealthy":2`, ``},
		{"ended", `"status":{"phase":"Failed"}`, ``, ``, ``},
		{"pending", `"status":{"phase":"Pending"}`, ``, ``, ``},
	} {
		cl := cluster(t)
		apply(t, cl, event(t, 0, timeline.Added, `pods team/p 101 "spec":{"nodeName":"a"},`+c.pod))
		status := `"observedGeneration":1,` + c.status
		if c.what == "behind" {
			status = c.status
		}
		if c.status == "" {
			status = `"observedGeneration":1`
		}
		apply(t, cl, event(t, 0, timeline.Added, `poddisruptionbudgets.policy team/b 102 "spec":{`+c.spec+`"selector":{"matchLabels":{"app":"p"}}},"status":{`+status+`}`))
		_, err := New(cl, header(), nil).Handle(t.Context(), ask(Create, "pods/team/p/eviction", `{"metadata":{"name":"p"}}`))
		got := ""
		if s, ok := err.(apierrors.APIStatus); ok {
			seconds, _ := apierrors.SuggestsClientDelay(err)
			got = fmt.Sprintf("%d in %ds: ", s.Status().Code, seconds)
			if d := s.Status().Details; d != nil && len(d.Causes) > 0 {
				got += d.Causes[0].Message
			}
		} else if err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		equal(t, c.what, got, c.want)
	}
}

package podadmission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// What is wrong with a quota, in the server's words.
func TestQuotasAreChecked(t *testing.T) {
	for spec, want := range map[string]string{
		`{"hard":{"pods":"1","count/a.b":"1","requests.example.com/disk":"2","hugepages-2Mi":"1Gi"},"scopes":["Terminating"]}`: `[spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource]`,
		`{"hard":{"pods":"1","cpu":"100m"},"scopes":["Terminating"]}`:                                                          `[]`,
		`{"hard":{"storage":"1"}}`: `[spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota]`,
		`{"hard":{"pods":"-1"}}`:   `[spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0]`,
		`{"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"}]}}`: "[spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector]",
	} {
		errs := CheckQuota(parse[corev1.ResourceQuota](t, `{"spec":`+spec+`}`))
		got := "["
		for _, e := range errs {
			got += e.Error()
		}
		if got += "]"; got != want {
			t.Errorf("%s: found %s, want %s", spec, got, want)
		}
	}
	scoped := func(scopes string) *corev1.ResourceQuota {
		return parse[corev1.ResourceQuota](t, `{"spec":{"scopes":`+scopes+`}}`)
	}
	if errs := CheckQuotaUpdate(scoped(`["Terminating","BestEffort"]`), scoped(`["BestEffort","Terminating"]`)); len(errs) > 0 {
		t.Errorf("another order: found %v, want nothing wrong", errs)
	}
	if errs := CheckQuotaUpdate(scoped(`["BestEffort"]`), scoped(`["BestEffort","Terminating"]`)); len(errs) != 1 {
		t.Errorf("a scope less: found %v, want that it can't change", errs)
	}
}

package daemon_test

import (
	"slices"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"
)

// A history goes on where the same is asked for, in the same words; what was asked for otherwise doesn't narrow what is recorded now.
func TestHistoryOfAnotherScope(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	clock := clocktesting.NewFakeClock(start)
	o := options(a, dir)
	for _, c := range []struct {
		selector string
		anew     bool
	}{{"eks.amazonaws.com/nodegroup=a", false}, {"eks.amazonaws.com/nodegroup=a", false}, {"", true}} {
		o.Record.Scope.Selector = c.selector
		r := run(t, o, clock)
		r.recording()
		r.mu.Lock()
		anew := slices.ContainsFunc(r.logs, func(line string) bool { return strings.Contains(line, "a new history begins") })
		r.mu.Unlock()
		if anew != c.anew {
			t.Errorf("with the selector %q a new history begins: %t, want %t; log:\n%s", c.selector, anew, c.anew, strings.Join(r.logs, "\n"))
		}
		if c.anew {
			a.node("MODIFIED", "b-1", `"unschedulable":true`)
			a.node("DELETED", "b-1", `"unschedulable":true`)
			if tapes := r.finished(1); tapes[0].Group != "b" {
				t.Errorf("found a tape of %s, want that of a group that was out of scope before", tapes[0].Group)
			}
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
	}
}

// withMachines is what a server offers that has all that is recorded by default, Karpenter's NodeClaims among it.
var withMachines = map[string]string{
	"/version": discovery["/version"], "/api": discovery["/api"],
	"/api/v1": strings.Replace(discovery["/api/v1"], `"resources":[`, `"resources":[
		{"name":"events","singularName":"event","namespaced":true,"kind":"Event","verbs":["get","list","watch"],"shortNames":["ev"]},`, 1),
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[
		{"name":"policy","versions":[{"groupVersion":"policy/v1","version":"v1"}],"preferredVersion":{"groupVersion":"policy/v1","version":"v1"}},
		{"name":"karpenter.sh","versions":[{"groupVersion":"karpenter.sh/v1","version":"v1"}],"preferredVersion":{"groupVersion":"karpenter.sh/v1","version":"v1"}}]}`,
	"/apis/policy/v1": `{"kind":"APIResourceList","groupVersion":"policy/v1","resources":[
		{"name":"poddisruptionbudgets","singularName":"poddisruptionbudget","namespaced":true,"kind":"PodDisruptionBudget","verbs":["get","list","watch"],"shortNames":["pdb"]}]}`,
	"/apis/karpenter.sh/v1": `{"kind":"APIResourceList","groupVersion":"karpenter.sh/v1","resources":[
		{"name":"nodeclaims","singularName":"nodeclaim","namespaced":false,"kind":"NodeClaim","verbs":["get","list","watch"]}]}`,
}

// By default NodeClaims are recorded where they are and may be: that changes between two starts, in both directions.
func TestHistoryOfOtherDefaults(t *testing.T) {
	const claims = "/apis/karpenter.sh/v1/nodeclaims"
	a, dir := cluster(t), t.TempDir()
	a.set(func(a *api) { a.offers, a.refuse = withMachines, claims })
	clock := clocktesting.NewFakeClock(start)
	o := options(a, dir)
	o.Record.Resources = nil
	for i, c := range []struct {
		refused string
		watches int
		anew    bool
	}{{claims, 4, false}, {claims, 4, false}, {"", 5, true}, {"", 5, false}, {claims, 4, true}} {
		a.set(func(a *api) { a.refuse = c.refused })
		r := run(t, o, clock)
		r.recording()
		r.mu.Lock()
		anew := slices.ContainsFunc(r.logs, func(line string) bool { return strings.Contains(line, "a new history begins") })
		r.mu.Unlock()
		if is := len(r.Stats().Watches); anew != c.anew || is != c.watches {
			t.Errorf("start %d: %d watches, a new history begins: %t; want %d, %t; log:\n%s", i, is, anew, c.watches, c.anew, strings.Join(r.logs, "\n"))
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
	}
}

package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// folded is the analysis of a scenario's events as they are made. What the bytes of an event hold after the call is spoilt.
func folded(t testing.TB, f *scenarios.File, o analysis.Options) (*analysis.Analysis, *analysis.Fold) {
	t.Helper()
	h := f.Header()
	fold, err := analysis.NewFold(&h, o)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := f.Simulate(func(ev timeline.Event) error {
		ev.Object, ev.Patch = slices.Clone(ev.Object), slices.Clone(ev.Patch)
		err := fold.Add(ev)
		for _, text := range [][]byte{ev.Object, ev.Patch} {
			for i := range text {
				text[i] = '#'
			}
		}
		return err
	})
	if err == nil {
		err = sim.Run()
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := fold.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return a, fold
}

// Events that are analysed while they are made give what their tape gives, to the line.
func TestAFoldAgreesWithTheTape(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			f, err := s.Document.Resolve(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := simulated(s.Name).analyse(t, true)
			h := f.Header()
			o, err := observe.OptionsFor(&h, "", "", "")
			if err != nil {
				t.Fatal(err)
			}
			got, _ := folded(t, f, analysis.Options{Options: o, Series: true})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the tape (-) and its events (+) differ:\n%s", diff)
			}
		})
	}
}

// A Fold names the pods that the roll has left without a node, or without an image, in the words of the cluster.
func TestUnreadyPods(t *testing.T) {
	smaller, err := scenarios.Parse("smaller", []byte(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: smaller, title: the new nodes have no room for a pod of the old ones}
cluster: {provider: eks}
groups:
- {name: workers, nodes: 2, to: {instanceType: t3.medium}}
workloads:
- {name: cache, namespace: shop, replicas: 2, requests: {memory: 5Gi}, spread: host}
- {name: later, namespace: shop, replicas: 1, requests: {memory: 50Gi}}
roll: {strategy: eks-default, maxUnavailable: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	backoff, err := scenarios.Find("pull-backoff")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		document *scenarios.Document
		want     map[string]string // by workload: reason, parts of the message, and whether it was so before
	}{
		{smaller, map[string]string{
			"Deployment/shop/cache": "Unschedulable: 0/ Insufficient memory after",
			"Deployment/shop/later": "Unschedulable: 0/ Insufficient memory before",
		}},
		{backoff.Document, map[string]string{"Deployment/shop/web": "ImagePullBackOff: Back-off pulling image after"}},
	} {
		f, err := c.document.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, fold := folded(t, f, analysis.Options{})
		got := map[string]string{}
		for _, u := range fold.Unready() {
			when := " after"
			if u.Before {
				when = " before"
			}
			got[u.Workload] = u.Reason + ":"
			for _, part := range []string{"0/", "Insufficient memory", "Back-off pulling image"} {
				if strings.Contains(u.Message, part) {
					got[u.Workload] += " " + part
				}
			}
			got[u.Workload] += when
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: want (-), got (+):\n%s", f.Metadata.Name, diff)
		}
	}
}

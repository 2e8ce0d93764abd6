package scenarios_test

import (
	"testing"

	"github.com/nodesim/nodesim/scenarios"
)

// A cluster that acts has every resource once, those that a scenario's own tape has among them.
func TestActOffersEachResourceOnce(t *testing.T) {
	for _, name := range []string{"empty", "surge"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Document.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Act(scenarios.ActConfig{AtRest: true})
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]int{}
		for _, r := range a.Header().Resources {
			there[r.String()]++
			if there[r.String()] > 1 {
				t.Errorf("%s: found %s twice", name, r)
			}
		}
		for _, want := range []string{"nodes", "secrets", "flowschemas.flowcontrol.apiserver.k8s.io", "volumeattachments.storage.k8s.io"} {
			if there[want] != 1 {
				t.Errorf("%s: found no %s", name, want)
			}
		}
	}
}

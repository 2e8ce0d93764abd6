package scenarios_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// file resolves a scenario that is written down in a test.
func file(t testing.TB, text string) *scenarios.File {
	t.Helper()
	d, err := scenarios.Parse("test.yaml", []byte("apiVersion: nodesim.dev/v1\nkind: Scenario\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// events simulates a file and reads its tape.
func events(t *testing.T, f *scenarios.File) []timeline.Event {
	t.Helper()
	r, err := timeline.NewReader(bytes.NewReader(simulated(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	var all []timeline.Event
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
	if !r.Complete() {
		t.Fatalf("the tape isn't complete: %q", r.Torn())
	}
	return all
}

func marks(all []timeline.Event) []string {
	var some []string
	for _, ev := range all {
		if ev.Type == timeline.Mark {
			some = append(some, strings.TrimSpace(timeline.FormatAt(ev.At.Truncate(time.Second))+" "+ev.Name+" "+ev.Reason))
		}
	}
	return some
}

func TestFaultsFollowTimesStatesAndEachOther(t *testing.T) {
	all := events(t, file(t, `
metadata: {name: triggers, title: marks alone}
cluster: {provider: eks}
groups: [{name: workers, nodes: 3}]
settle: 5s
faults:
- {name: first, at: 10s, mark: {name: first}}
- {name: second, after: {fault: first, delay: 20s}, mark: {name: second}}
- {after: {fault: second}, mark: {name: third}}
- {at: 1m, cordon: {nodes: 2}}
- {when: {nodes: draining, count: 2, delay: 7s}, mark: {name: "two are cordoned"}}
- {when: {nodes: draining, count: 3}, mark: {name: "never"}}
`))
	want := []string{"10s first", "30s second", "30s third", "67s two are cordoned"}
	if diff := cmp.Diff(want, marks(all)); diff != "" {
		t.Error(diff)
	}
	if end := all[len(all)-1]; end.Type != timeline.End || end.At != 72*time.Second {
		t.Errorf("the tape ends with %s at %s, want END 5 s behind the last mark", end.Type, end.At)
	}
}

func TestAStuckRollEndsByItsTimeLimit(t *testing.T) {
	all := events(t, file(t, `
metadata: {name: stuck, title: nothing may ever leave}
cluster: {provider: capi}
groups: [{name: md-0, nodes: 2}]
workloads: [{name: web, replicas: 2}]
budgets: [{workload: web, minAvailable: 2}]
roll: {strategy: capi}
timeLimit: 20m
`))
	want := []string{"1200s time limit the roll isn't done after 20m0s: 1 of 1 groups are still to be rolled"}
	if diff := cmp.Diff(want, marks(all)); diff != "" {
		t.Error(diff)
	}
	if end := all[len(all)-1]; end.Type != timeline.End || end.At != 20*time.Minute {
		t.Errorf("the tape ends with %s at %s", end.Type, end.At)
	}
}

func TestPodsWithoutRoomWaitAndSayWhy(t *testing.T) {
	all := events(t, file(t, `
metadata: {name: crowded, title: more pods than fit}
cluster: {provider: eks}
groups: [{name: workers, nodes: 2, instanceType: m5.large}]
workloads: [{name: big, replicas: 5, requests: {cpu: 1500m, memory: 1Gi}}]
settle: 2m
`))
	pending, reasons := map[string]bool{}, map[string]bool{}
	for _, ev := range all {
		if ev.Resource == "pods" && strings.HasPrefix(ev.Name, "big-") {
			pending[ev.Name] = bytes.Contains(ev.Object, []byte(`"phase":"Pending"`)) && !bytes.Contains(ev.Object, []byte(`"nodeName"`))
		}
		if ev.Resource == "events" && bytes.Contains(ev.Object, []byte("FailedScheduling")) {
			reasons[ev.Name[:4]] = bytes.Contains(ev.Object, []byte("0/2 nodes are available: 2 Insufficient cpu."))
		}
	}
	waiting := 0
	for _, is := range pending {
		if is {
			waiting++
		}
	}
	if len(pending) != 5 || waiting != 3 || !reasons["big-"] {
		t.Errorf("%d pods, %d of them wait, reasons %v: want 5, 3, and that the nodes lack cpu", len(pending), waiting, reasons)
	}
}

func TestLargeGroupsAndWorkloadsAreSplit(t *testing.T) {
	all := events(t, file(t, `
metadata: {name: split, title: seven nodes in groups of three}
cluster: {provider: eks, events: false}
groups: [{name: fleet, nodes: 7, nodesPerGroup: 3}]
workloads: [{name: web, replicas: 10, replicasPerWorkload: 4}]
budgets: [{workload: web, maxUnavailable: 1}]
settle: 1s
`))
	groups, budgets := map[string]int{}, map[string]int{}
	for _, ev := range all {
		if ev.Type != timeline.Added {
			continue
		}
		for _, name := range []string{"fleet-1", "fleet-2", "fleet-3"} {
			if ev.Resource == "nodes" && bytes.Contains(ev.Object, []byte(`"eks.amazonaws.com/nodegroup":"`+name+`"`)) {
				groups[name]++
			}
		}
		if ev.Resource == "poddisruptionbudgets" {
			budgets[ev.Name]++
		}
	}
	if diff := cmp.Diff(map[string]int{"fleet-1": 3, "fleet-2": 2, "fleet-3": 2}, groups); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"web-1": 1, "web-2": 1, "web-3": 1}, budgets); diff != "" {
		t.Error(diff)
	}
}

// The tape names the nodes that it shows: of a group that is split, all parts.
func TestTheHeaderNamesAllPartsOfASplitGroup(t *testing.T) {
	for most, want := range map[string]timeline.Scope{
		"7": {Provider: "eks", Nodegroup: "fleet"},
		"3": {Provider: "eks", Selector: "eks.amazonaws.com/nodegroup in (fleet-1,fleet-2,fleet-3)"},
	} {
		f := file(t, `
metadata: {name: split, title: seven nodes in groups}
cluster: {provider: eks, events: false}
groups: [{name: fleet, nodes: 7, nodesPerGroup: `+most+`}, {name: other, nodes: 1}]
roll: {strategy: eks-default, groups: [fleet]}
settle: 1s
`)
		if diff := cmp.Diff(want, f.Header().Scope); diff != "" {
			t.Errorf("groups of at most %s nodes: %s", most, diff)
		}
	}
}

func TestASplitGroupMayNotBeNamed(t *testing.T) {
	_, err := file(t, `
metadata: {name: split, title: a fault names what is split}
cluster: {provider: eks}
groups: [{name: fleet, nodes: 7, nodesPerGroup: 3}]
faults: [{at: 1s, reboot: {group: fleet}}]
`).Simulate(func(timeline.Event) error { return nil })
	if err == nil || err.Error() != `scenario split: group "fleet" is split into 3: nothing in the file may name it then` {
		t.Errorf("got %v", err)
	}
}

// TestTapesHoldWhatRecordingsHold: nothing on a simulated tape would have been
// dropped by a recorder, so that nobody can tell it by what it holds.
func TestTapesHoldWhatRecordingsHold(t *testing.T) {
	redactor := timeline.DefaultRedaction()
	for _, s := range scenarios.All() {
		if s.Document == nil || s.Name == "percentage" {
			continue
		}
		f, err := s.Document.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		header := f.Header()
		seen := map[string]bool{}
		for _, ev := range events(t, f) {
			// One object of each kind and owner says it for all.
			kind := fmt.Sprint(ev.Resource, len(ev.Object)/200)
			if len(ev.Object) == 0 || seen[kind] {
				continue
			}
			seen[kind] = true
			resource, _ := header.Lookup(ev.Resource)
			kept, err := redactor.Redact(resource, ev.Object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, ev.Object), decoded(t, kept)); diff != "" {
				t.Errorf("%s: %s %s at %s (-simulated +recorded):\n%s", s.Name, ev.Resource, ev.Name, ev.At, diff)
				break
			}
		}
	}
}

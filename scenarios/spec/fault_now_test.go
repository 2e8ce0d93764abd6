package spec

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A fault that happens now is checked as those of a file, and has their defaults.
func TestFaultNow(t *testing.T) {
	f, err := Bare(Metadata{Name: "bare", Title: "a bare cluster"}, Cluster{Provider: ProviderGKE, Region: "europe-west1", Zones: []string{"europe-west1-b"}}, []Group{
		{Name: "workers", Nodes: 2, Labels: map[string]string{"a": "b"}}, {Name: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if g := f.Groups[0]; g.InstanceType != "e2-standard-2" || len(g.Zones) != 1 || g.Max != 12 || g.Labels["a"] != "b" || !f.Cluster.Events {
		t.Errorf("%+v", g)
	}
	for _, one := range []struct{ text, bad string }{
		{"{kubeletDown: {node: n1, for: 1m, times: 2}}", ""},
		{"vanish: {group: workers, terminated: false}", ""},
		{"zoneOutage: {zone: europe-west1-c}", `fault: zoneOutage.zone: no zone "europe-west1-c"; did you mean europe-west1-b?`},
		{"zoneOutage: {}", `fault:1: zoneOutage: no "zone": want it`},
		{"{vanish: {}, reboot: {}}", "fault: more than one action, vanish and reboot: want one action: "},
		{"vanish: {node: A}", `fault:1: vanish.node: "A": want the name of a node`},
		{"", "fault:1: "},
		{"- vanish", "fault:1: a list: want an action: spotInterruption, "},
		{"{at: 1m, reboot: {}}", "fault: a trigger, or if: want neither of a fault that happens now"},
	} {
		fault, err := ParseFault(one.text)
		if err == nil {
			fault, err = f.FaultNow(fault)
		}
		if err != nil {
			if got := err.Error(); one.bad == "" || !strings.HasPrefix(got, one.bad) {
				t.Errorf("%s: %s: want %s", one.text, got, one.bad)
			}
		} else if one.bad != "" {
			t.Errorf("%s: %+v: want %s", one.text, fault, one.bad)
		}
	}
	// Of Go values, what is zero has its default, but for truth values.
	got, err := f.FaultNow(&Fault{Vanish: &Vanish{}})
	if diff := cmp.Diff(&Fault{Vanish: &Vanish{Victims: Victims{Nodes: 1, Which: WhichAny}}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = f.FaultNow(&Fault{KubeletDown: &Down{For: time.Minute, Times: 3}})
	if diff := cmp.Diff(&Fault{KubeletDown: &Down{Victims: Victims{Nodes: 1, Which: WhichAny}, For: time.Minute, Times: 3, Every: 2 * time.Minute}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if f.Faults != nil {
		t.Error("the file has a fault")
	}
}

package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// changeable is a cluster with something of each kind that can be changed.
const changeable = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: changeable, title: something of each kind}
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- name: workers
  nodes: 2
  members: [{name: ip-10-0-0-1}, {name: ip-10-0-0-2}]
- {name: spare, nodes: 2}
workloads:
- name: web
  namespace: shop
  replicas: 3
  pods: [{name: web-1, node: ip-10-0-0-1}, {name: web-2, node: ip-10-0-0-2}, {name: web-3}]
- {name: web, namespace: lab, replicas: 2}
- {name: logs, kind: DaemonSet}
budgets:
- {workload: web, namespace: shop, minAvailable: 3}
roll: {strategy: eks-default, maxUnavailable: 2, force: true, groups: [workers]}
`

func changed(t *testing.T, changes ...string) (*spec.File, error) {
	t.Helper()
	f := resolved(t, changeable)
	var all []spec.Change
	for _, text := range changes {
		c, err := spec.ParseChange(text)
		if err != nil {
			return nil, err
		}
		if c.String() != text {
			t.Errorf("%s is written as %s", text, c)
		}
		all = append(all, c)
	}
	return f.With(all...)
}

func resolved(t *testing.T, text string) *spec.File {
	t.Helper()
	d, err := spec.Parse("mine.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Changes change a copy of the file, as if it had been written so.
func TestChanges(t *testing.T) {
	was := fmt.Sprintf("%+v", *resolved(t, changeable))
	f, err := changed(t,
		"budget/web:maxUnavailable=50%", "workload/shop/web:replicas=2", "workload/lab/web:grace=90s", "group/workers:version=1.33",
		"group/workers:instanceType=m5.xlarge", "zone/eu-central-1b:lost=10m", "node/ip-10-0-0-2:lost=12m")
	if err != nil {
		t.Fatal(err)
	}
	b, w, to := f.Budgets[0], f.Workloads[0], f.Groups[0].To
	if b.MinAvailable != nil || b.MaxUnavailable.String() != "50%" {
		t.Errorf("got the budget %+v", b)
	}
	if w.Replicas != 2 || len(w.Pods) != 2 || f.Workloads[1].Grace.Seconds() != 90 {
		t.Errorf("got the workloads %+v", f.Workloads)
	}
	if !strings.HasPrefix(to.Version, "v1.33.") || !strings.HasPrefix(to.Release, "1.33.") || to.InstanceType != "m5.xlarge" || to.Image == resolved(t, changeable).Groups[0].To.Image {
		t.Errorf("got the nodes %+v", to)
	}
	zone, node := f.Faults[0], f.Faults[1]
	if zone.ZoneOutage.Zone != "eu-central-1b" || zone.At.Minutes() != 10 || node.Vanish.Node != "ip-10-0-0-2" || node.At.Minutes() != 12 {
		t.Errorf("got the faults %+v", f.Faults)
	}
	if _, err := changed(t, "workload/shop/web:replicas=1", "budget/web:minAvailable=1"); err != nil {
		t.Errorf("two changes that need one another: %v", err)
	}
	g := resolved(t, changeable)
	if _, err := g.With(spec.Change{Object: "budget/web", Key: "minAvailable", Value: "2"}, spec.Change{Object: "workload/shop/web", Key: "replicas", Value: "1"}); err == nil {
		t.Error("a budget above the replicas was taken")
	}
	if is := fmt.Sprintf("%+v", *g); !strings.HasPrefix(is, was[:200]) || len(g.Workloads[0].Pods) != 3 || g.Budgets[0].MinAvailable.Value != 3 {
		t.Error("the file itself was changed")
	}
}

// A roll is the file's with other settings, or one with the defaults of its provider.
func TestRolled(t *testing.T) {
	settings := func(text ...string) (all []spec.Setting) {
		for _, s := range text {
			name, value, _ := strings.Cut(s, "=")
			all = append(all, spec.Setting{Name: name, Value: value})
		}
		return all
	}
	for _, c := range []struct {
		groups []string
		with   []spec.Setting
		roll   bool // the file has one
		want   string
	}{
		{nil, nil, true, "[workers] strategy=eks-default maxUnavailable=2 force=true evictionTimeout=15m joinTimeout=15m settleAfterDrain=1m"},
		{[]string{"spare"}, settings("maxUnavailable=50%", "force=false"), true, "[spare] strategy=eks-default maxUnavailable=50% force=false evictionTimeout=15m joinTimeout=15m settleAfterDrain=1m"},
		{nil, settings("maxSurge=2", "strategy=plain"), true, "[workers] strategy=plain maxUnavailable=0 maxSurge=2 force=false evictionTimeout=15m joinTimeout=15m settleAfterDrain=0s"},
		{nil, nil, false, "[workers spare] strategy=eks-default maxUnavailable=1 force=false evictionTimeout=15m joinTimeout=15m settleAfterDrain=1m"},
	} {
		f := resolved(t, changeable)
		if !c.roll {
			f.Roll = nil
		}
		g, err := f.Rolled(c.groups, c.with)
		if err != nil {
			t.Error(err)
			continue
		}
		got := fmt.Sprint(g.Roll.Groups)
		for _, s := range g.Roll.RollSettings() {
			got += " " + s.Name + "=" + s.Value
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if g.Roll.At.Seconds() != 30 {
			t.Errorf("the roll begins at %s", g.Roll.At)
		}
	}
}

// Every change and setting that names nothing, or can't be, is one line that says so.
func TestBadChanges(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{
		"", "replicas=4", "budget/web", "budget/web:maxUnavailable", "bugdet/web:maxUnavailable=1", "budget/web:maxUnavailabel=1",
		"budget/wob:maxUnavailable=1", "budget/web:maxUnavailable=x", "workload/web:replicas=1", "workload/shop/web:replicas=2",
		"workload/logs:replicas=2", "workload/shop/web:grace=1.5s", "group/worker:instanceType=m5.large", "group/workers:instanceType=m5.lrge",
		"group/workers:version=1.36", "group/workers:version=1.99", "group/workers:version=[1]", "zone/eu-central-1d:lost=10m", "zone/eu-central-1a:lost=soon",
		"zone/eu-central-1a:lost=100h", "node/ip-10-0-0-3:lost=1m", "group/workers:max=1", "workload/shop/web:replicas=4\nx: 1",
	} {
		_, err := changed(t, text)
		fmt.Fprintf(&b, "%q\n  %v\n", text, err)
	}
	for _, s := range []spec.Setting{
		{Name: "maxUnavailable", Value: "many"}, {Name: "maxUnavailabel", Value: "1"}, {Name: "maxSurge", Value: "1"}, {Name: "strategy", Value: "plian"},
		{Name: "strategy", Value: "gke-surge"}, {Name: "strategy", Value: "inplace-image"}, {Name: "maxUnavailable", Value: "0"}, {Name: "groups", Value: "workers"},
	} {
		_, err := resolved(t, changeable).Rolled(nil, []spec.Setting{s})
		fmt.Fprintf(&b, "%s=%s\n  %v\n", s.Name, s.Value, err)
	}
	_, err := resolved(t, changeable).Rolled([]string{"workrs"}, nil)
	fmt.Fprintf(&b, "group workrs\n  %v\n", err)
	golden.Assert(t, "change-errors", b.String())
}

// What can be changed is listed as a change begins.
func TestChangeable(t *testing.T) {
	all := resolved(t, changeable).Changeable()
	for _, want := range []string{"budget/shop/web:maxUnavailable=", "workload/lab/web:replicas=", "group/spare:instanceType=", "zone/eu-central-1a:lost=", "node/ip-10-0-0-1:lost="} {
		if !slices.Contains(all, want) {
			t.Errorf("found no %s among %q", want, all)
		}
	}
}

package spec

import (
	"testing"
	"time"
)

const timingsHead = "apiVersion: nodesim.dev/v1\nkind: Timings\n"

func TestTimingsFileErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "t.yaml:1: an empty file: want apiVersion, kind and timings"},
		{"[]", "t.yaml:1: a list: want apiVersion, kind and timings"},
		{"kind: Timings\n", `t.yaml:1: no "apiVersion": want nodesim.dev/v1`},
		{"apiVersion: nodesim.dev/v1\nkind: Scenario\n", `t.yaml:2: kind: "Scenario": want Timings`},
		{timingsHead, `t.yaml:1: no "timings": want it`},
		{timingsHead + "timings: 5\n", "t.yaml:3: timings: 5: want a mapping of timings"},
		{timingsHead + "timing: {}\n", "t.yaml:3: timing: unknown key: want apiVersion, kind, timings or samples"},
		{timingsHead + "timings:\n  bot: 5s\n", `t.yaml:4: timings.bot: no timing "bot"; did you mean boot?`},
		{timingsHead + "timings:\n  boot: {median: 60s, p95: 5s}\n", `t.yaml:4: timings.boot.p95: "5s": want a duration from 1m to 240h, such as 90s or 1h30m`},
		{timingsHead + "timings:\n  boot: $(x)\n", `t.yaml:4: timings.boot: "$(x)": want a duration, {median: 38s, p95: 65s}, {uniform: [1s, 5s]} or {triangular: [1s, 4s, 6s]}`},
		{timingsHead + "timings:\n  rollerPoll: 1ms\n", "t.yaml:4: timings.rollerPoll: 1ms in the middle: want at least 100ms, since it is waited for again and again"},
		{timingsHead + "timings: {}\nsamples: 3\n", "t.yaml:4: samples: 3: want a mapping of timings"},
		{timingsHead + "timings: {boot: 5s}\nsamples: {register: 3}\n", "t.yaml:4: samples.register: no such key below timings: want a timing of this file"},
		{timingsHead + "timings: {boot: 5s}\nsamples: {boot: many}\n", `t.yaml:4: samples.boot: "many": want a whole number from 0 to 2147483647`},
	} {
		_, err := ParseTimings("t.yaml", []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n  %v\n  want %s", c.text, err, c.want)
		}
	}
}

// Measured timings go before those of the scenario, which keeps the others; workloads that don't say how long they take have them
// too. The file stays as it was.
func TestMeasuredTimingsAreLaidOver(t *testing.T) {
	m, err := ParseTimings("t.yaml", []byte(timingsHead+`timings:
  boot: {median: 90s, p95: 120s}
  appStop: 7s
  containerReady: {median: 9s, p95: 30s}
samples: {boot: 12}
`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse("mine.yaml", []byte(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: mine, title: mine}
cluster: {provider: eks}
groups: [{name: workers, nodes: 1}]
workloads:
- {name: web, stop: 1s, containers: [{name: proxy, ready: 2s}]}
timings: {boot: 5s, register: 6s}
`))
	if err != nil {
		t.Fatal(err)
	}
	before, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := before.Calibrated(m)
	boot, _ := f.Timings.Get("boot")
	register, _ := f.Timings.Get("register")
	web := f.Workloads[0]
	proxy := web.Containers[0]
	if boot.Median != 90*time.Second || boot.P95 != 2*time.Minute || register.Median != 6*time.Second {
		t.Errorf("boot is %+v, register %+v", boot, register)
	}
	if web.Stop.Median != time.Second || web.Ready.P95 != 30*time.Second || proxy.Stop.Median != 7*time.Second || proxy.Ready.Median != 2*time.Second {
		t.Errorf("the workload stops in %+v and is ready in %+v, its proxy in %+v and %+v", web.Stop, web.Ready, proxy.Stop, proxy.Ready)
	}
	if f.Measured != m || m.Samples["boot"] != 12 {
		t.Errorf("measured is %+v", f.Measured)
	}
	own, _ := before.Timings.Get("boot")
	if old := before.Workloads[0]; own.Median != 5*time.Second || len(before.Timings) != 2 || before.Measured != nil || old.Ready.Median != 3*time.Second || old.Containers[0].Stop.Median != 2*time.Second {
		t.Errorf("the file has changed: %+v", before)
	}
}

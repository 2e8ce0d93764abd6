package cloud_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// rig is a provider whose every change is a line.
type rig struct {
	*cloud.Cloud
	*loop.Loop
	lines []string
}

func newRig(t *testing.T, grace time.Duration) *rig {
	t.Helper()
	timings := model.DefaultTimings(model.EKS, model.AL2023)
	r := &rig{Loop: &loop.Loop{}}
	r.Cloud = cloud.New(cloud.Config{
		Loop: r.Loop, Seed: 1, Timings: func(*cloud.Group) *model.Timings { return &timings },
		Identify: func(i *cloud.Instance) {
			i.ID, i.Name = fmt.Sprintf("i-%d", i.Number), fmt.Sprintf("node-%d", i.Number)
		},
		ShutdownGrace: func(*cloud.Instance) time.Duration { return grace },
	})
	names := [...]string{"launched", "started", "told", "shutdown", "ended", "ailing"}
	r.Cloud.Watch(func(c cloud.Change, i *cloud.Instance) {
		r.lines = append(r.lines, fmt.Sprintf("%v %s %s %s", r.Now(), i.ID, names[c], i.State))
	})
	return r
}

func (r *rig) group(zones ...string) *cloud.Group {
	g := &cloud.Group{Name: "workers", Zones: zones}
	r.AddGroup(g)
	return g
}

func (r *rig) run(t *testing.T, d time.Duration) []string {
	t.Helper()
	r.lines = nil
	if err := r.Run(r.Now() + d); err != nil {
		t.Fatal(err)
	}
	return r.lines
}

// TestDesired launches what a group lacks, where there is least, and replaces
// what is lost.
func TestDesired(t *testing.T) {
	r := newRig(t, 0)
	g := r.group("a", "b", "c")
	r.SetDesired(g, 6)
	r.run(t, time.Minute)
	zones := map[string]int{}
	for _, i := range g.Instances() {
		zones[i.Zone]++
	}
	if len(g.Instances()) != 6 || zones["a"] != 2 || zones["b"] != 2 || zones["c"] != 2 {
		t.Errorf("%d instances in %v", len(g.Instances()), zones)
	}
	lost := g.Instances()[0]
	r.Kill(lost, false)
	r.run(t, time.Minute)
	if len(g.Instances()) != 6 || slices.Contains(g.Instances(), lost) || r.Launches() != 7 {
		t.Errorf("%d instances of %d launches", len(g.Instances()), r.Launches())
	}
	r.Terminate(g.Instances()[0], true)
	r.run(t, 5*time.Minute)
	if len(g.Instances()) != 5 || g.Desired != 5 {
		t.Errorf("%d instances, want 5 of %d", len(g.Instances()), g.Desired)
	}
}

// TestTermination tells the machine first; one that has shut down by itself
// isn't waited for.
func TestTermination(t *testing.T) {
	for _, c := range []struct {
		halts bool
		takes time.Duration
	}{{false, 180 * time.Second}, {true, 40 * time.Second}} {
		r := newRig(t, 150*time.Second)
		i := r.Seed(r.group("a"), "a")
		r.Terminate(i, true)
		if len(r.lines) != 1 || r.lines[0] != "0s i-0 shutdown shutting-down" {
			t.Fatalf("at first %v", r.lines)
		}
		r.run(t, 10*time.Second)
		if c.halts {
			r.Halted(i)
		}
		got := r.run(t, 10*time.Minute)
		if want := fmt.Sprintf("%v i-0 ended terminated", c.takes); len(got) != 1 || got[0] != want {
			t.Errorf("halts %v: %v, want %s", c.halts, got, want)
		}
	}
}

// TestNoCapacity refuses, tells its watchers, and tries again until there is.
func TestNoCapacity(t *testing.T) {
	r := newRig(t, 0)
	g := r.group("a", "b")
	r.Shortage("a", "", true)
	var refused []string
	r.WatchRefusals(func(g *cloud.Group, zone string) { refused = append(refused, zone) })
	r.SetDesired(g, 2)
	r.run(t, time.Minute)
	if len(g.Instances()) != 2 || g.Instances()[0].Zone != "b" || g.Instances()[1].Zone != "b" {
		t.Errorf("%d instances where b has capacity", len(g.Instances()))
	}
	r.Shortage("", "workers", true)
	_, err := r.Launch(g, "b", g.Template)
	var none *cloud.NoCapacity
	if !errors.As(err, &none) || none.Zone != "b" {
		t.Errorf("error %v", err)
	}
	r.SetDesired(g, 3)
	r.run(t, 10*time.Minute)
	if len(g.Instances()) != 2 || len(refused) < 2 {
		t.Errorf("%d instances, refused %v", len(g.Instances()), refused)
	}
	r.Shortage("", "workers", false)
	r.run(t, 10*time.Minute)
	if len(g.Instances()) != 3 {
		t.Errorf("%d instances once there is capacity", len(g.Instances()))
	}
}

// TestInterruption takes an instance when its lead is over, once.
func TestInterruption(t *testing.T) {
	r := newRig(t, 0)
	g := r.group("a")
	i := r.Seed(g, "a")
	r.run(t, time.Second)
	r.Recommend(i)
	r.Interrupt(i, 2*time.Minute)
	r.Interrupt(i, time.Second)
	got := r.run(t, 2*time.Minute)
	want := []string{"2m1s i-0 shutdown shutting-down"}
	if !slices.Equal(got, want) || i.Notice != 121*time.Second || i.Noticed != time.Second || i.Rebalance == 0 {
		t.Errorf("%v, want %v; notice %v", got, want, i.Notice)
	}
}

// TestHidden kills an instance that the provider still calls running.
func TestHidden(t *testing.T) {
	r := newRig(t, 0)
	g := r.group("a")
	i := r.Seed(g, "a")
	r.Kill(i, true)
	r.run(t, time.Hour)
	if !i.Alive() || !i.Ailments.Dead || len(g.Instances()) != 1 {
		t.Errorf("state %s, %d instances", i.State, len(g.Instances()))
	}
}

// TestRestart boots once more, and mends what was wrong.
func TestRestart(t *testing.T) {
	r := newRig(t, 0)
	i := r.Seed(r.group("a"), "a")
	r.Ail(i, func(a *cloud.Ailments) { a.RuntimeDown = true })
	r.Restart(i, cloud.Template{Image: "new"})
	r.run(t, time.Second)
	if i.State != cloud.Running || i.Boot != 2 || i.Template.Image != "new" || i.Ailments != (cloud.Ailments{}) {
		t.Errorf("instance %+v", i)
	}
}

// TestVolumes are on one instance at most; watchers learn where.
func TestVolumes(t *testing.T) {
	r := newRig(t, 0)
	var told []string
	r.Volumes.Watch(func(volume, instance string) { told = append(told, volume+" on "+instance) })
	if !r.Volumes.Attach("v", "i-0") || r.Volumes.Attach("v", "i-1") || !r.Volumes.Attach("v", "i-0") {
		t.Error("a volume is attached to one instance, and again to the same")
	}
	end := r.Volumes.Stick(func(volume string) bool { return volume == "v" })
	if r.Volumes.Detach("v", false) || !r.Volumes.Detach("v", true) || r.Volumes.On("v") != "" {
		t.Error("a volume that is stuck goes by force alone")
	}
	if !r.Volumes.Detach("w", false) {
		t.Error("another one isn't stuck")
	}
	all := r.Volumes.Stick(nil)
	if end(); r.Volumes.Detach("w", false) {
		t.Error("all are stuck, and one isn't")
	}
	if all(); !r.Volumes.Detach("v", false) {
		t.Error("a volume is stuck where nothing holds it any more")
	}
	if !slices.Equal(told, []string{"v on i-0", "v on i-0"}) {
		t.Errorf("told %v", told)
	}
}

// TestRegistry fails where it is broken, and neither before nor after.
func TestRegistry(t *testing.T) {
	r := newRig(t, 0)
	g := r.group("a")
	old, fresh := r.Seed(g, "a"), r.Seed(g, "a")
	mend := r.Registry.Break("web", "not found", 1)
	if r.Registry.Pull(old, "web") != "" || r.Registry.Pull(fresh, "web") != "not found" || r.Registry.Pull(fresh, "other") != "" {
		t.Error("the image is broken on new instances alone")
	}
	mend()
	if r.Registry.Pull(fresh, "web") != "" {
		t.Error("the image is mended")
	}
}

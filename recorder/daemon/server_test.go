package daemon_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon"
)

// Watches that break are told of, though the recording goes on.
func TestBrokenWatches(t *testing.T) {
	a := cluster(t)
	r := run(t, options(a, t.TempDir()), clocktesting.NewFakeClock(start))
	open := func(want bool) func() bool {
		return func() bool {
			s := r.Stats()
			return s.Recording && maps.Equal(s.Watches, map[string]bool{"nodes": want, "pods": want})
		}
	}
	r.until("the watches", open(true))
	a.set(func(a *api) { a.away = true })
	a.CloseClientConnections()
	r.until("the watches to break", open(false))
	a.set(func(a *api) { a.away = false })
	r.until("the watches again", open(true))
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if s := r.Stats(); s.Recording || s.Watches != nil {
		t.Errorf("found %v after the end, want none", s.Watches)
	}
}

// A recorder of a node group without nodes waits for the first one, and says so.
func TestWaitingForTheFirstNode(t *testing.T) {
	a := cluster(t)
	o := options(a, t.TempDir())
	o.Record.Scope.Selector = "eks.amazonaws.com/nodegroup=z"
	r := run(t, o, clocktesting.NewFakeClock(start))
	r.until("waiting", func() bool { s := r.Stats(); return s.Waiting && !s.Recording })
	a.node("ADDED", "z-1", "")
	r.until("recording", func() bool { s := r.Stats(); return s.Recording && !s.Waiting })
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// A server that is away is asked again; one that refuses isn't.
func TestServerAwayAndRefusals(t *testing.T) {
	a := cluster(t)
	for _, away := range []func(*api){
		func(a *api) { a.away = true },
		func(a *api) { a.busy = "/api/v1/namespaces/kube-system" },
	} {
		a.set(away)
		r := run(t, options(a, t.TempDir()), clocktesting.NewFakeClock(start))
		r.until("an error", func() bool { return r.Stats().Errors["record"] > 1 })
		a.set(func(a *api) { a.away, a.busy = false, "" })
		r.recording()
		if err := r.end(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ refuse, cluster, want string }{
		{"/api/v1/pods", "cluster-1", "check with: kubectl auth can-i list pods"},
		{"", "", "cluster: found no UID of the namespace kube-system"},
	} {
		a.set(func(a *api) { a.refuse, a.cluster = c.refuse, c.cluster })
		o := options(a, t.TempDir())
		d, err := daemon.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found the error %v, want %q", err, c.want)
		}
	}
	// The history of another cluster isn't mixed with this one's.
	a.set(func(a *api) { a.refuse, a.cluster = "", "cluster-1" })
	dir := t.TempDir()
	r := run(t, options(a, dir), clocktesting.NewFakeClock(start))
	r.recording()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	a.set(func(a *api) { a.cluster = "cluster-2" })
	d, err := daemon.New(options(a, dir))
	if err != nil {
		t.Fatal(err)
	}
	var other *recorder.OtherClusterError
	if err := d.Run(t.Context()); !errors.As(err, &other) {
		t.Errorf("found the error %v, want that it is another cluster", err)
	}
}

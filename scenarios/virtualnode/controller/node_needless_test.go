package controller

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const patches = "PATCH nodes/virtual/status"

// A status that doesn't change is written each five minutes, one that changes at once.
func TestReportInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		given := readyNode()
		running(t.Context(), t, f.controller(t, given, f.leases(), WithNodeStatusReportInterval(5*time.Minute)))
		pass(4*time.Minute + time.Second)
		if got := f.requests(patches); got != 0 {
			t.Errorf("found %d reports in four minutes, want none", got)
		}
		pass(time.Minute)
		if got := f.requests(patches); got != 1 {
			t.Errorf("found %d reports in five minutes, want 1", got)
		}
		if age := time.Since(conditionOf(f.node(), corev1.NodeReady).LastHeartbeatTime.Time); age > 5*time.Second {
			t.Errorf("found a heartbeat %s old", age)
		}

		f.say(t, given) // nothing new
		f.edit(func(n *corev1.Node) { n.Spec.Unschedulable = true })
		pass(time.Minute)
		if got := f.requests(patches); got != 1 {
			t.Errorf("found %d reports after what isn't ours to say, want 1", got)
		}
		f.edit(func(n *corev1.Node) { n.Labels["zone"] = "meddled" })
		pass(time.Minute)
		if got := f.requests(patches); got != 2 || f.node().Labels["zone"] != "a" {
			t.Errorf("found %d reports and zone %s after somebody meddled, want 2 and a", got, f.node().Labels["zone"])
		}
		pressed := given.DeepCopy()
		pressed.Status.Conditions = append(pressed.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})
		f.say(t, pressed)
		if got := f.requests(patches); got != 3 || conditionOf(f.node(), corev1.NodeDiskPressure) == nil {
			t.Errorf("found %d reports after a change, want 3", got)
		}
		for range 20 {
			pass(DefaultStatusUpdateInterval)
		}
		if got := f.requests(patches); got != 7 {
			t.Errorf("found %d reports after twenty minutes more, want 7", got)
		}
	})
}

// Without the option, each update is written.
func TestEveryUpdateIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases()))
		pass(5*time.Minute + time.Second)
		if got := f.requests(patches); got != 5 {
			t.Errorf("found %d reports in five minutes, want 5", got)
		}
	})
}

// Nodes that started together don't report together: the first interval is longer or shorter by chance.
func TestReportsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[int]bool{}
		for range 20 {
			f := newFixture(t)
			stop := running(t.Context(), t, f.controller(t, readyNode(), f.leases(), WithNodeJitter(DefaultJitter),
				WithNodeStatusReportInterval(5*time.Minute)))
			minutes := 0
			for ; f.requests(patches) == 0 && minutes < 20; minutes++ {
				pass(time.Minute)
			}
			seen[minutes] = true
			if minutes < 2 || minutes > 9 {
				t.Errorf("found the first report after %d minutes, want 5 and up to a half more or less", minutes)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
		if len(seen) < 2 {
			t.Errorf("found the first report of twenty nodes after %v minutes", seen)
		}
	})
}

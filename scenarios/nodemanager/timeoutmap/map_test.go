package timeoutmap_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/timeoutmap"
)

func TestEntriesEnd(t *testing.T) {
	c := clocktesting.NewFakeClock(time.Unix(0, 0))
	m := timeoutmap.New(c)
	m.Add("a", 1, time.Minute)
	m.Add("b", 2, time.Hour)
	c.Step(time.Minute - 1)
	if v, ok := m.Get("a"); !ok || v != 1 {
		t.Errorf("before the end: found %v, %t, want 1", v, ok)
	}
	c.Step(1)
	if v, ok := m.Get("a"); ok {
		t.Errorf("at the end: found %v, want nothing", v)
	}
	if left := m.Sweep(); left != 1 {
		t.Errorf("after a sweep: found %d entries, want 1", left)
	}
	if v, ok := m.Get("b"); !ok || v != 2 {
		t.Errorf("the other: found %v, %t, want 2", v, ok)
	}
}

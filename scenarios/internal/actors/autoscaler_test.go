package actors_test

import (
	"testing"
	"time"
)

func TestWaitingPodsGrowAGroup(t *testing.T) {
	c := newScaling(t, 0, "workers 1..10 1")
	c.scale()
	// An m5.large has 1930m: of 900m two fit on a node.
	c.deploy("web", 20, 900)
	c.run(15 * time.Minute)
	c.wantSizes("workers 10/10")
	if c.pending() != 0 {
		t.Errorf("%d pods wait, want none", c.pending())
	}
	c.wantTold(
		"1 ConfigMap Normal ScaledUpGroup: Scale-up: setting group workers size to 10 instead of 1 (max: 10)",
		"18 Pod Normal TriggeredScaleUp: pod triggered scale-up: [{workers 1->10 (max: 10)}]",
	)
}

package fakeclient

import (
	"context"
	"errors"
	"testing"

	"github.com/nodesim/nodesim/replay"
)

// A context that has ended stops the tape even where no watch is open.
func TestStepObeysItsContext(t *testing.T) {
	c := client(t, roll())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := c.Player().Status().Number
	for name, err := range map[string]error{"Step": c.Step(ctx), "StepTo": c.StepTo(ctx, replay.End)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := c.Player().Status().Number; after != before {
		t.Errorf("%d events were applied", after-before)
	}
}

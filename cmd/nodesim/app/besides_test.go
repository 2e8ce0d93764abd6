package app

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// What went wrong beside an interruption is told.
func TestBesides(t *testing.T) {
	removal, tape := errors.New("the user may not delete namespaces"), errors.New("no space left on device")
	stopped := fmt.Errorf("stopped: %w", context.Canceled)
	got := besides(errors.Join(errors.Join(stopped, removal), tape), context.Canceled)
	if len(got) != 2 || !errors.Is(got[0], removal) || !errors.Is(got[1], tape) {
		t.Errorf("found %v, want what isn't the interruption", got)
	}
	if got := besides(stopped, context.Canceled); got != nil {
		t.Errorf("found %v of an interruption, want nothing", got)
	}
}

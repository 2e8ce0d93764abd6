package record_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
)

// gogc is GOGC as it is, and puts it back when the test ends.
func gogc(t *testing.T) func() int {
	was := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(was) })
	return func() int {
		is := debug.SetGCPercent(100)
		debug.SetGCPercent(is)
		return is
	}
}

// What is asked for is set at once, and again at each look until the end.
func TestGovernGC(t *testing.T) {
	t.Setenv("GOGC", "")
	runtime.GC() // what lives is known after the first
	is := gogc(t)
	looks := make(chan int)
	asked := 0
	end := record.GovernGC(t.Context(), time.Millisecond, func(live, _ uint64) int {
		if live == 0 {
			t.Error("nothing lives")
		}
		if asked++; asked > 1 {
			select {
			case looks <- asked:
			case <-t.Context().Done():
			}
		}
		return 40 + asked
	})
	if got := is(); got != 41 {
		t.Errorf("at once: found %d percent, want 41", got)
	}
	<-looks
	<-looks // the one before is set
	if got := is(); got < 42 {
		t.Errorf("after a look: found %d percent, want at least 42", got)
	}
	ended := make(chan struct{})
	go func() { end(); close(ended) }()
	for {
		select {
		case <-looks:
		case <-ended:
			return
		}
	}
}

// A user that sets GOGC is obeyed.
func TestGOGCIsObeyed(t *testing.T) {
	t.Setenv("GOGC", "70")
	is := gogc(t)
	end := record.GovernGC(t.Context(), time.Millisecond, func(uint64, uint64) int {
		t.Error("asked")
		return 10
	})
	end()
	if got := is(); got != 100 {
		t.Errorf("found %d percent, want it left alone", got)
	}
}

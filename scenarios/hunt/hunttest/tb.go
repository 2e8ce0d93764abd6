package hunttest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// TB is the test of one case: it fails the case alone. What is logged of a case is dropped, but for a file of testdata/hunt that is tried
// again.
type TB interface{ testing.TB }

// oneCase implements TB: by the bubble's test, but for all that fails it, ends it, or lasts as long.
type oneCase struct {
	testing.TB
	ctx  context.Context
	loud bool // what is logged is shown

	mu       sync.Mutex
	failed   bool
	text     string // of the first failure
	cleanups []func()
}

// try runs a function in the cluster of a file, and returns why it fails, or "". Where it is loud, what the case logs is shown.
func try(t *testing.T, f *spec.File, body Body, loud bool) (fails string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		one := &oneCase{TB: t, ctx: ctx, loud: loud}
		one.run(func() { body(one, simtest.New(one, simcluster.File(&scenarios.File{File: *f}))) })
		cancel()
		for cleanup := one.last(); cleanup != nil; cleanup = one.last() {
			one.run(cleanup)
		}
		fails = one.why()
	})
	return fails
}

// run calls a function in a goroutine that it may end, and waits.
func (o *oneCase) run(f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				o.fail(fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		f()
	}()
	<-ended
}

// last takes the cleanup that was registered last.
func (o *oneCase) last() func() {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.cleanups)
	if n == 0 {
		return nil
	}
	f := o.cleanups[n-1]
	o.cleanups = slices.Delete(o.cleanups, n-1, n)
	return f
}

func (o *oneCase) fail(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.failed || o.text == "" {
		o.text = strings.TrimSpace(text)
	}
	o.failed = true
}

func (o *oneCase) why() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed && o.text == "" {
		return "it has failed without a word"
	}
	return o.text
}

// Context ends before the cleanups are called, as a test's does.
func (o *oneCase) Context() context.Context { return o.ctx }

// Cleanup calls a function when the case ends, the last one first.
func (o *oneCase) Cleanup(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cleanups = append(o.cleanups, f)
}

// Failed reports whether the case has failed.
func (o *oneCase) Failed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// Fail fails the case.
func (o *oneCase) Fail() { o.fail("") }

// FailNow fails the case, and ends its goroutine.
func (o *oneCase) FailNow() {
	o.fail("")
	runtime.Goexit()
}

// Error fails the case with a text, as the methods below do.
func (o *oneCase) Error(args ...any) { o.fail(fmt.Sprintln(args...)) }

// Errorf is Error with a format.
func (o *oneCase) Errorf(format string, args ...any) { o.fail(fmt.Sprintf(format, args...)) }

// Fatal is Error, and ends the case's goroutine.
func (o *oneCase) Fatal(args ...any) {
	o.Error(args...)
	runtime.Goexit()
}

// Fatalf is Fatal with a format.
func (o *oneCase) Fatalf(format string, args ...any) {
	o.Errorf(format, args...)
	runtime.Goexit()
}

// Log drops what is said by a case of a search: hundreds of them say it.
func (o *oneCase) Log(args ...any) {
	if o.loud {
		o.TB.Helper()
		o.TB.Log(args...)
	}
}

// Logf is Log with a format.
func (o *oneCase) Logf(format string, args ...any) {
	if o.loud {
		o.TB.Helper()
		o.TB.Logf(format, args...)
	}
}

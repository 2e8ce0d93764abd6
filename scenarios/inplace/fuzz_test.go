package inplace_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// Whatever is in the annotations, nothing panics, an error is ErrBrokenState or says that there is nothing to go back
// to, and what can be read can be written and read again.
func FuzzState(f *testing.F) {
	f.Add(`{"phase":"starting","targetImages":{"app":"app:2"},"lastContainerStatuses":{"app":{"containerID":"a"}}}`, `{"phase":"starting"}`)
	f.Add(`{"phase":"completed","targetPodPhase":"running","stableContainerStatuses":{"app":{"restartCount":1}}}`, `{`)
	f.Add(`{"phase":"failed","fromImages":{"gone":"x"},"updateTime":"2026-03-01T12:00:00.5Z","updateTimestamp":"2026-03-01T12:00:00Z"}`, `null`)
	f.Add(`{"phase":"starting","targetImages":null,"fromImages":{"app":"!!"},"updateTimestamp":null}`, `{"phase":"failed","targetResources":{"app":{"requests":{"cpu":"1e999"}}}}`)
	f.Fuzz(func(t *testing.T, state, resize string) {
		var k podupdate.Keys
		pod := withAnnotation(aPod("starting", "app:2"), state)
		pod.Annotations[podupdate.DefaultKeys().Resize] = resize
		s, err := k.Read(pod)
		if err != nil {
			wantError(t, err, podupdate.ErrBrokenState)
		}
		if _, err := k.Progress(pod, nil, 1, t0); err != nil {
			wantError(t, err, podupdate.ErrBrokenState)
		}
		if _, err := k.ResizeProgress(pod, 1, t0); err != nil {
			wantError(t, err, podupdate.ErrBrokenState)
		}
		k.UnexpectedRestart(pod)
		applied, _, applyErr := k.Apply(pod, images("app:3"), t0)
		if (applyErr == nil) != (err == nil) {
			t.Errorf("Apply: %v, and Read: %v", applyErr, err)
		}
		_, _, rollbackErr := k.Rollback(pod, t0)
		_, _, resizeErr := k.BeginResize(pod, podupdate.Resources{"app": {}}, t0)
		_, _, resizeBackErr := k.RollbackResize(pod, podupdate.Progress{}, t0)
		for _, err := range []error{rollbackErr, resizeErr, resizeBackErr} {
			if err != nil && !errors.Is(err, podupdate.ErrBrokenState) && !errors.Is(err, podupdate.ErrNothingToRollBack) {
				t.Error(err)
			}
		}
		done, _, completeErr := k.Complete(pod, t0)
		if (completeErr == nil) != (err == nil) {
			t.Errorf("Complete: %v, and Read: %v", completeErr, err)
		}
		if err != nil || s == nil {
			return
		}
		if again, err := k.Read(applied); err != nil || !again.InFlight() {
			t.Errorf("what Apply writes: %+v, %v", again, err)
		}
		twice, changed, err := k.Complete(done, t0)
		if err != nil || changed || !cmp.Equal(done, twice) {
			t.Errorf("Complete twice: %v, %v", changed, err)
		}
	})
}

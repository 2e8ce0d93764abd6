package inplace_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

var errConflict = apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "box-1", errors.New("another was first"))

// refusing answers the first patches with an error.
func refusing(times int, err error, pods ...*corev1.Pod) (client.Client, *int) {
	tries := 0
	funcs := interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
		if tries++; tries <= times {
			return err
		}
		return c.Patch(ctx, obj, patch, opts...)
	}}
	return meddled(funcs, pods...), &tries
}

func TestConflictsAreTriedFiveTimes(t *testing.T) {
	for _, c := range []struct {
		conflicts, tries int
		once, ok         bool
	}{{4, 5, false, true}, {5, 5, false, false}, {1, 1, true, false}, {0, 1, true, true}} {
		pod := aPod("idle", "app:1")
		api, tries := refusing(c.conflicts, errConflict, pod)
		var endings []podupdate.Ending
		u := podupdate.Updater{Pods: inplace.Pods(api, nil), Observe: func(e podupdate.Ending) { endings = append(endings, e) }}
		opts := images("app:2")
		opts.DisableRetry = c.once
		got, err := u.Trigger(t.Context(), pod, opts)
		if (err == nil) != c.ok || (got != nil) != c.ok || *tries != c.tries {
			t.Errorf("%+v: %v after %d tries", c, err, *tries)
		}
		want := podupdate.Success
		if !c.ok {
			want = podupdate.Conflict
		}
		if len(endings) != 1 || endings[0] != want {
			t.Errorf("%+v: %v", c, endings)
		}
	}
}

func TestOtherErrorsAreNotRepeated(t *testing.T) {
	pod := aPod("idle", "app:1")
	api, tries := refusing(9, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "box-1", errors.New("no")), pod)
	var ending podupdate.Ending
	u := podupdate.Updater{Pods: inplace.Pods(api, nil), Observe: func(e podupdate.Ending) { ending = e }}
	if _, err := u.Trigger(t.Context(), pod, images("app:2")); !apierrors.IsForbidden(err) || *tries != 1 || ending != podupdate.Error {
		t.Error(err, *tries, ending)
	}
	if _, err := u.Trigger(t.Context(), pod, inplace.UpdateOptions{ExpectedCurrentSandboxPhase: "running"}); !errors.Is(err, inplace.ErrUnexpectedPodPhase) || ending != podupdate.Conflict {
		t.Error(err, ending)
	}
}

func TestARetryObeysItsContext(t *testing.T) {
	pod := aPod("idle", "app:1")
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	funcs := interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		cancel(over)
		return errConflict
	}}
	_, err := inplace.TriggerUpdateWithOptions(ctx, meddled(funcs, pod), pod, images("app:2"))
	wantError(t, err, over)
}

func TestNothingToChangeIsNothingWritten(t *testing.T) {
	pod := aPod("running", "app:1")
	api, tries := refusing(9, errConflict, pod)
	got, err := inplace.TriggerUpdateWithOptions(t.Context(), api, pod, inplace.UpdateOptions{Labels: map[string]string{"app": "web"}, TargetPodPhase: "running"})
	if err != nil || got.Name != "box-1" || *tries != 0 {
		t.Error(got, err, *tries)
	}
}

func TestAPodOfTheSameNameIsAnother(t *testing.T) {
	pod := aPod("idle", "app:1")
	other := pod.DeepCopy()
	other.UID = "uid-of-another"
	got, err := inplace.TriggerUpdateWithOptions(t.Context(), server(other), pod, images("app:2"))
	if got != nil {
		t.Error(got)
	}
	wantError(t, err, podupdate.ErrPodReplaced)
}

// Another writer comes before a third of the writes and leaves its mark; sometimes the server just refuses. Whatever the
// machine does, no mark of the other is lost, and the pod is never in two phases.
func TestNoUpdateIsLostUnderConflicts(t *testing.T) {
	for seed := range uint64(6) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			pod, marks := aPod("idle", "app:1", "side:1"), 0
			funcs := interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
				switch r.IntN(6) {
				case 0, 1:
					live := &corev1.Pod{}
					if err := c.Get(ctx, client.ObjectKeyFromObject(pod), live); err != nil {
						return err
					}
					live.Labels[fmt.Sprintf("mark-%d", marks)] = "x"
					delete(live.Annotations, "stale")
					if err := c.Update(ctx, live); err != nil {
						return err
					}
					marks++
				case 2:
					return errConflict
				}
				return c.Patch(ctx, obj, patch, opts...)
			}}
			api := meddled(funcs, pod)
			u := podupdate.Updater{Pods: inplace.Pods(api, nil)}
			for range 40 {
				live := stored(t, api, pod)
				var err error
				switch r.IntN(5) {
				case 0, 1:
					_, err = u.Trigger(t.Context(), live, inplace.UpdateOptions{ContainerImages: map[string]string{
						fakekubelet.Names[r.IntN(2)]: fmt.Sprintf("app:%d", r.IntN(3)),
					}})
				case 2:
					kubelet(t, api, pod)
					_, err = u.Mark(t.Context(), stored(t, api, pod))
				case 3:
					_, err = u.Rollback(t.Context(), live, podupdate.Progress{Reason: "Why"}, "")
				case 4:
					_, err = u.Fail(t.Context(), live, podupdate.Progress{Reason: "Why"})
				}
				if err != nil && !apierrors.IsConflict(err) && !errors.Is(err, podupdate.ErrNothingToRollBack) {
					t.Fatal(err)
				}
				l := &life{t: t, pod: stored(t, api, pod), now: t0.Add(time.Hour)}
				l.checkPhases()
			}
			live := stored(t, api, pod)
			if marks == 0 {
				t.Fatalf("seed %d: nobody has interfered", seed)
			}
			for i := range marks {
				if live.Labels[fmt.Sprintf("mark-%d", i)] != "x" {
					t.Errorf("seed %d: mark %d is lost", seed, i)
				}
			}
		})
	}
}

// The pod in which a retry reads must hold nothing of the read before.
func TestARetryReadsIntoAFreshObject(t *testing.T) {
	pod := aPod("idle", "app:1")
	pod.Annotations = map[string]string{"stale": "1"}
	first := true
	funcs := interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
		if first {
			first = false
			live := &corev1.Pod{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(pod), live); err != nil {
				return err
			}
			delete(live.Annotations, "stale")
			if err := c.Update(ctx, live); err != nil {
				return err
			}
		}
		return c.Patch(ctx, obj, patch, opts...)
	}}
	got, err := inplace.TriggerUpdateWithOptions(t.Context(), meddled(funcs, pod), pod, images("app:2"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := got.Annotations["stale"]; ok {
		t.Error("an annotation that another has removed is back")
	}
}

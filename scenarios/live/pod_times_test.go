package live

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What was posted once keeps its times in every later post, and what is new has its own.
func TestTimesOfEarlierPostsStay(t *testing.T) {
	at := func(second int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 11, 21, 9, 0, second, 0, time.UTC))
	}
	start := func(second int) *metav1.Time { at := at(second); return &at }
	running := func(second int) corev1.ContainerState {
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(second)}}
	}
	over := func(id string, from, to int) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: id, StartedAt: at(from), FinishedAt: at(to)}}
	}
	one := func(began int, id string, state, last corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{StartTime: start(began), ContainerStatuses: []corev1.ContainerStatus{
			{Name: "web", ContainerID: id, State: state, LastTerminationState: last},
		}}
	}
	none := corev1.ContainerState{}
	for name, c := range map[string]struct{ was, is, want corev1.PodStatus }{
		"first post":    {corev1.PodStatus{}, one(1, "a", running(2), none), one(1, "a", running(2), none)},
		"still running": {one(1, "a", running(2), none), one(3, "a", running(4), none), one(1, "a", running(2), none)},
		"ended":         {one(1, "a", running(2), none), one(3, "a", over("a", 4, 9), none), one(1, "a", over("a", 2, 9), none)},
		"still ended":   {one(1, "a", over("a", 2, 5), none), one(3, "a", over("a", 4, 7), none), one(1, "a", over("a", 2, 5), none)},
		"restarted":     {one(1, "a", running(2), none), one(3, "b", running(9), over("a", 4, 8)), one(1, "b", running(9), over("a", 2, 8))},
		"runs again":    {one(1, "b", running(5), over("a", 2, 4)), one(1, "b", running(6), over("a", 3, 5)), one(1, "b", running(5), over("a", 2, 4))},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, keepTimes(c.is, c.was)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A scenario that was held up may come out before the server's clock: nothing of a pod is before its creation then.
func TestNothingIsBeforeThePod(t *testing.T) {
	at := func(second int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 11, 21, 9, 0, second, 0, time.UTC))
	}
	status := func(shift func(int) metav1.Time) corev1.PodStatus {
		start := shift(1)
		return corev1.PodStatus{
			StartTime: &start,
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, LastTransitionTime: shift(1)}, {Type: corev1.PodReady, LastTransitionTime: shift(9)}, {Type: "example.com/unset"},
			},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "runs", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: shift(3)}}},
				{
					Name: "restarted", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: shift(9)}},
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: "a", StartedAt: shift(2), FinishedAt: shift(8)}},
				},
				{Name: "waits", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}},
			},
		}
	}
	is := status(at)
	want := status(func(second int) metav1.Time { return at(max(second, 5)) })
	shared := is.DeepCopy()
	is.ContainerStatuses = slices.Clone(is.ContainerStatuses) // as keepTimes does
	if d := cmp.Diff(want, afterCreation(is, at(5))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(shared.Conditions, is.Conditions); d != "" {
		t.Errorf("the conditions that were given (-before +after):\n%s", d)
	}
	if d := cmp.Diff(status(at), afterCreation(status(at), at(0))); d != "" {
		t.Errorf("of a pod that was made earlier (-want +got):\n%s", d)
	}
}

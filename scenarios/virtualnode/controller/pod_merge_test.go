package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func at(second int) metav1.Time { return metav1.Date(2026, 11, 20, 12, 0, second, 0, time.UTC) }

func cond(kind corev1.PodConditionType, status corev1.ConditionStatus, when metav1.Time) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: when}
}

const (
	yes = corev1.ConditionTrue
	no  = corev1.ConditionFalse
)

func TestMergedConditions(t *testing.T) {
	now := at(50)
	for name, c := range map[string]struct {
		phase     corev1.PodPhase
		was, said []corev1.PodCondition
		want      []corev1.PodCondition
	}{
		"others' conditions survive": {
			corev1.PodRunning,
			[]corev1.PodCondition{cond("example.org/gate", yes, at(1)), cond(corev1.DisruptionTarget, yes, at(2))},
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(3))},
			[]corev1.PodCondition{
				cond("example.org/gate", yes, at(1)), cond(corev1.DisruptionTarget, yes, at(2)), cond(corev1.PodReady, yes, at(3)),
			},
		},
		"the provider's word on others' conditions doesn't count": {
			corev1.PodRunning,
			[]corev1.PodCondition{cond("example.org/gate", yes, at(1))},
			[]corev1.PodCondition{cond("example.org/gate", no, at(3)), cond("example.org/stale", yes, at(3))},
			[]corev1.PodCondition{cond("example.org/gate", yes, at(1))},
		},
		"the scheduler's word stays where the provider is silent": {
			corev1.PodRunning,
			[]corev1.PodCondition{cond(corev1.PodScheduled, yes, at(1)), cond(corev1.PodReady, no, at(1))},
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(2))},
			[]corev1.PodCondition{cond(corev1.PodScheduled, yes, at(1)), cond(corev1.PodReady, yes, at(2))},
		},
		"own conditions that are left out disappear": {
			corev1.PodRunning,
			[]corev1.PodCondition{cond(corev1.PodResizePending, yes, at(1))}, nil, nil,
		},
		"a condition that doesn't change keeps its time": {
			corev1.PodRunning,
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(1))},
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(9))},
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(1))},
		},
		"a change without a time gets now": {
			corev1.PodRunning,
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(1))},
			[]corev1.PodCondition{cond(corev1.PodReady, no, metav1.Time{})},
			[]corev1.PodCondition{cond(corev1.PodReady, no, now)},
		},
		"a pod that ends isn't ready": {
			corev1.PodFailed,
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(1))},
			[]corev1.PodCondition{cond(corev1.PodReady, yes, at(1))},
			[]corev1.PodCondition{{Type: corev1.PodReady, Status: no, Reason: "PodFailed", LastTransitionTime: now}},
		},
		"a kubelet that shuts down disrupts": {
			corev1.PodFailed, nil,
			[]corev1.PodCondition{cond(corev1.DisruptionTarget, yes, at(4))},
			[]corev1.PodCondition{cond(corev1.DisruptionTarget, yes, at(4))},
		},
		"only with the end of the pod": {
			corev1.PodRunning, nil, []corev1.PodCondition{cond(corev1.DisruptionTarget, yes, at(4))}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := aPod("web")
			pod.Status.Conditions = c.was
			merged := mergePodStatus(pod, &corev1.PodStatus{Phase: c.phase, Conditions: c.said}, nil, now)
			if diff := cmp.Diff(c.want, merged.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			pod.Status = merged
			if again := mergePodStatus(pod, &corev1.PodStatus{Phase: c.phase, Conditions: c.said}, nil, at(59)); !cmp.Equal(again, merged) {
				t.Errorf("merged twice it differs:\n%s", cmp.Diff(merged, again))
			}
		})
	}
}

func TestReadinessGatesHoldAPodBack(t *testing.T) {
	pod := aPod("web")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.org/gate"}}
	said := &corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{cond(corev1.PodReady, yes, at(1))}}
	for _, step := range []struct {
		gate    []corev1.PodCondition
		want    corev1.ConditionStatus
		message string
	}{
		{nil, no, `corresponding condition of pod readiness gate "example.org/gate" does not exist.`},
		{[]corev1.PodCondition{cond("example.org/gate", no, at(2))}, no, `the status of pod readiness gate "example.org/gate" is not "True", but False`},
		{[]corev1.PodCondition{cond("example.org/gate", yes, at(2))}, yes, ""},
	} {
		pod.Status.Conditions = step.gate
		merged := mergePodStatus(pod, said, nil, at(3))
		if ready := podCondition(merged.Conditions, corev1.PodReady); ready.Status != step.want || ready.Message != step.message {
			t.Errorf("gate %v: Ready %v: want %s, %q", step.gate, ready, step.want, step.message)
		}
	}
}

func TestConditionsThatTheProviderOwns(t *testing.T) {
	pod := aPod("web")
	pod.Status.Conditions = []corev1.PodCondition{cond("example.org/own", no, at(1))}
	said := &corev1.PodStatus{Conditions: []corev1.PodCondition{cond("example.org/own", yes, at(2))}}
	merged := mergePodStatus(pod, said, []corev1.PodConditionType{"example.org/own"}, at(3))
	if diff := cmp.Diff(said.Conditions, merged.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestFieldsOfOthersSurvive(t *testing.T) {
	pod := aPod("web")
	start := at(1)
	pod.Status = corev1.PodStatus{
		QOSClass: corev1.PodQOSBurstable, NominatedNodeName: "n", StartTime: &start, ObservedGeneration: 3,
		ResourceClaimStatuses: []corev1.PodResourceClaimStatus{{Name: "gpu"}},
	}
	want := pod.Status
	want.Phase = corev1.PodRunning
	merged := mergePodStatus(pod, &corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBestEffort}, nil, at(3))
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestStatusTimesAreWholeSeconds(t *testing.T) {
	fine := metav1.NewTime(at(1).Add(123456789))
	status := &corev1.PodStatus{
		StartTime: &fine, Conditions: []corev1.PodCondition{{LastTransitionTime: fine, LastProbeTime: fine}},
		ContainerStatuses: []corev1.ContainerStatus{{
			State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: fine}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: fine, FinishedAt: fine}},
		}},
	}
	normal := normalPodStatus(status)
	whole := at(1)
	want := corev1.PodStatus{
		StartTime: &whole, Conditions: []corev1.PodCondition{{LastTransitionTime: whole, LastProbeTime: whole}},
		ContainerStatuses: []corev1.ContainerStatus{{
			State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: whole}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: whole, FinishedAt: whole}},
		}},
	}
	if diff := cmp.Diff(want, normal); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if !status.StartTime.Equal(&fine) {
		t.Error("the provider's own status was changed")
	}
}

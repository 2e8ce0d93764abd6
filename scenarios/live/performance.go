package live

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios"
)

// A performance is the simulation of a live run: [scenarios.Performance], or a fake of it. The event loop alone uses
// it.
type performance interface {
	Objects() []runtime.Object
	CustomKinds() []scenarios.CustomKind
	GoesOnWith(*corev1.Node) bool
	Adopt(nodes []*corev1.Node, at time.Duration, rolled bool) error
	Seed()
	Unsettled() []string
	Begin() error
	Advance(to time.Duration) error
	Next() (at time.Duration, is bool)
	Ended() bool
	Outcomes() []string

	NodeSeen(watch.EventType, *corev1.Node)
	PodSeen(watch.EventType, *corev1.Pod)
	PodGiven(*corev1.Pod)
	BudgetSeen(watch.EventType, *policyv1.PodDisruptionBudget)
	CustomSeen(watch.EventType, scenarios.CustomKind, *unstructured.Unstructured)
	ClaimSeen(watch.EventType, *corev1.PersistentVolumeClaim)
	VolumeSeen(watch.EventType, *corev1.PersistentVolume)
	AttachmentSeen(watch.EventType, *storagev1.VolumeAttachment)

	provider
	Rolled(code, reason string)
}

var _ performance = (*scenarios.Performance)(nil)

// A script is the part of a scenario file that a Performer needs.
type script struct {
	perform func(scenarios.PerformConfig) (performance, error)
	rolls   int                 // how many groups are rolled
	plain   bool                // by package cycle
	pods    *scenarios.Workload // whose pods are rolled in place
}

func scriptOf(f *scenarios.File) script {
	s := script{
		perform: func(c scenarios.PerformConfig) (performance, error) { return f.Perform(c) },
	}
	if f.Roll != nil {
		s.rolls, s.plain = len(f.Roll.Groups), byCycle(f.Roll)
		if s.pods = f.RolledInPlace(); s.pods != nil {
			s.rolls = 1
		}
	}
	return s
}

package roller

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// change is the change of each pod by a roll: of its images, or of its resources.
type change interface {
	// holds says whether the pod's spec is the wanted one. The error is that the pod can't be changed so.
	holds(pod *corev1.Pod) (bool, error)
	// read returns the record on the pod.
	read(pod *corev1.Pod) (record, error)
	// progress returns how far the pod has come.
	progress(pod *corev1.Pod, now time.Time) (podupdate.Progress, error)
	// String returns the change in a few words.
	String() string
}

// record is a change as recorded on a pod.
type record struct {
	phase string // of the state; empty if there is none
	since time.Time
	// rollback says that the pod was taken back, or is on its way; gaveUp that it is this roll's target that was given up.
	rollback, gaveUp bool
	// origin says that the pod can be taken back.
	origin bool
	// forsaken says that it was taken back for another pod's failure.
	forsaken bool
}

func (r record) inFlight() bool {
	return r.phase == podupdate.InplaceUpdatePhaseStarting || r.phase == podupdate.InplaceUpdatePhaseStopping
}

// ReasonForsaken is on pods that were taken back since the roll was given up, not since they failed.
const ReasonForsaken = "RollForsaken"

func (r Roll) change() change {
	if len(r.Resources) > 0 {
		return resources{r}
	}
	return images{r}
}

// pick is the label of the container, or how many there are.
func pick(names []string, of func(string) string) string {
	if len(names) == 1 {
		return of(names[0])
	}
	return fmt.Sprintf("%d containers", len(names))
}

package roller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Kind is the kind of an Action.
type Kind string

// What an Action can do.
const (
	Trigger  Kind = "trigger"  // start the change of a pod
	Mark     Kind = "mark"     // complete it
	TakeBack Kind = "rollback" // take the pod back to what it was before
	Fail     Kind = "fail"     // give the change up where it stands
	Report   Kind = "report"   // tell of an unexpected restart
)

// Action is one thing to do to one pod. Actions compare with ==.
type Action struct {
	Kind           Kind
	Namespace, Pod string
	UID            types.UID
	// Container is the one that is in the way, or was restarted. It may be empty.
	Container string
	// Reason and Message say why: a reason of package inplace, or the kubelet's.
	Reason, Message string
}

// String is the action in one line: "rollback shop/web-1 (app): DeadlineExceeded: ImagePullBackOff after 5m0s of 4m0s".
func (a Action) String() string {
	text := string(a.Kind) + " " + a.Namespace + "/" + a.Pod
	if a.Container != "" {
		text += fmt.Sprintf(" (%s)", a.Container)
	}
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	if a.Message != "" {
		text += ": " + a.Message
	}
	return text
}

func on(kind Kind, pod *corev1.Pod) Action {
	return Action{Kind: kind, Namespace: pod.Namespace, Pod: pod.Name, UID: pod.UID}
}

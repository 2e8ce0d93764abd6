package daemon

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
)

// events writes an Event about the node whose change began a roll, where people look for what happened to it.
type events struct{ client *kubeclient.Client }

func newEvents(config *rest.Config) (*events, error) {
	c, err := kubeclient.New(config, nil)
	if err != nil {
		return nil, err
	}
	return &events{c}, nil
}

// The Event's namespace is default, as that of all Events about objects without one (k8s.io/client-go/tools/record/event.go,
// makeEvent).
func (h *events) tell(ctx context.Context, f finished) error {
	// kubectl describe looks for Events by the node's UID (k8s.io/kubectl/pkg/describe, NodeDescriber).
	about := corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: f.tape.Trigger.Name, UID: types.UID(f.tape.Trigger.UID)}
	if f.tape.Trigger.Resource != "nodes" {
		about = corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: metav1.NamespaceSystem}
	}
	at := metav1.NewTime(f.tape.Ended)
	kind := corev1.EventTypeNormal
	if f.tape.Gaps > 0 || f.tape.Outcome != trigger.Complete {
		kind = corev1.EventTypeWarning
	}
	_, err := h.client.CoreV1().Events(metav1.NamespaceDefault).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "nodesim-", Namespace: metav1.NamespaceDefault},
		InvolvedObject: about, Type: kind, Reason: "RollRecorded", FirstTimestamp: at, LastTimestamp: at, Count: 1,
		Message: fmt.Sprintf("The roll of %s, %s, is on the tape %s (%d events, %d gaps)", f.tape.Group, f.tape.Outcome, f.tape.Name, f.tape.Events, f.tape.Gaps),
		Source:  corev1.EventSource{Component: "nodesim"},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create an Event in the namespace default: %w: want the right to, or no --events", err)
	}
	return nil
}

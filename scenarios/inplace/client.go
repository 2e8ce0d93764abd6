package inplace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ClientPods reads and writes the pods of an Updater or a roller.Roller through a controller-runtime client.
type ClientPods struct {
	client client.Client
	reader client.Reader
}

// Pods reads by reader, and by the client where reader is nil, and writes by the client. A reader is an API reader where the
// client reads from a cache.
func Pods(c client.Client, reader client.Reader) ClientPods {
	if reader == nil {
		reader = c
	}
	return ClientPods{client: c, reader: reader}
}

// GetPod reads a pod.
func (p ClientPods) GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := p.reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod); err != nil {
		return nil, err
	}
	return pod, nil
}

// ListPods reads the pods of a namespace that selector matches.
func (p ClientPods) ListPods(ctx context.Context, namespace string, selector labels.Selector) (*corev1.PodList, error) {
	pods := &corev1.PodList{}
	if err := p.reader.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, err
	}
	return pods, nil
}

// PatchPod writes a strategic merge patch.
func (p ClientPods) PatchPod(ctx context.Context, namespace, name, subresource string, patch []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	raw := client.RawPatch(types.StrategicMergePatchType, patch)
	if subresource == "" {
		return pod, p.client.Patch(ctx, pod, raw)
	}
	return pod, p.client.SubResource(subresource).Patch(ctx, pod, raw)
}

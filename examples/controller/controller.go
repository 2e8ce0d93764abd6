// Package controller is the subject of docs/testing.md: a small controller,
// and its test against a recorded roll.
package controller

import (
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Reporter tells an operator about drains: when one begins and with how many
// pods, and when the node is gone.
type Reporter struct {
	out  io.Writer
	pods listers.PodLister
}

// New builds a Reporter on a factory's informers.
func New(f informers.SharedInformerFactory, out io.Writer) (*Reporter, error) {
	r := &Reporter{out: out, pods: f.Core().V1().Pods().Lister()}
	_, err := f.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			was, is := before.(*corev1.Node), after.(*corev1.Node)
			if !was.Spec.Unschedulable && is.Spec.Unschedulable {
				fmt.Fprintf(r.out, "%s is being drained, %d pods to go\n", is.Name, r.podsOn(is.Name))
			}
		},
		DeleteFunc: func(gone any) {
			if node, ok := gone.(*corev1.Node); ok {
				fmt.Fprintf(r.out, "%s is gone, %d pods left behind\n", node.Name, r.podsOn(node.Name))
			}
		},
	})
	return r, err
}

func (r *Reporter) podsOn(node string) (n int) {
	pods, _ := r.pods.List(labels.Everything()) // a lister's error can't happen
	for _, p := range pods {
		if p.Spec.NodeName == node {
			n++
		}
	}
	return n
}

//go:build controlplane

package live_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/live"
)

// Pods are changed where they run: each keeps its UID, and all get the new image,
// or the new requests. A restart that nobody wanted is found.
func TestInPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  []string
		is   func(*corev1.Container) bool
		mark string
	}{
		{"inplace-image", []string{"pods=4", "deadline=1h"}, func(c *corev1.Container) bool { return c.Image == "registry.example/web:2.0.0" }, "unexpected restart"},
		{"inplace-resize", []string{"pods=4", "deadline=1h"}, func(c *corev1.Container) bool { return c.Resources.Requests.Cpu().String() == "600m" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			var mu sync.Mutex
			var marks []string
			before, after := map[types.UID]string{}, map[types.UID]corev1.Pod{}
			web := metav1.ListOptions{LabelSelector: "app=web"}
			p := newRunner(t, scenario(t, c.name, c.set...),
				live.BeforeBegin(func(ctx context.Context) error {
					list, err := client(t).CoreV1().Pods("shop").List(ctx, web)
					for _, pod := range list.Items {
						before[pod.UID] = pod.Name
					}
					return err
				}),
				live.AtEnd(func(ctx context.Context) error {
					list, err := client(t).CoreV1().Pods("shop").List(ctx, web)
					for _, pod := range list.Items {
						after[pod.UID] = pod
					}
					return err
				}),
				live.OnMark(func(name, reason string) { mu.Lock(); marks = append(marks, name); mu.Unlock(); t.Log(name, reason) }))
			report, err := p.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(report.Outcomes, []string{""}) {
				t.Errorf("outcomes %q: want one that is complete", report.Outcomes)
			}
			if len(before) == 0 || len(after) != len(before) {
				t.Errorf("%d pods before, %d after", len(before), len(after))
			}
			for uid, name := range before {
				pod, there := after[uid]
				if !there || !c.is(&pod.Spec.Containers[0]) {
					t.Errorf("pod %s: there %t, container %+v", name, there, pod.Spec.Containers)
				}
			}
			if c.mark != "" && !slices.Contains(marks, c.mark) {
				t.Errorf("marks %q: want %q among them", marks, c.mark)
			}
			nothingLeft(ctx, t)
		})
	}
}

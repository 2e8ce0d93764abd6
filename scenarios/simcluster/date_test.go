package simcluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A controller that runs beside the cluster in a bubble reads the same time from its clock as from a new object.
func TestDateOfABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		for _, name := range []string{"first", "second"} {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			is, err := clients(t, c).CoreV1().ConfigMaps("default").Create(t.Context(), o, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if at, now := is.CreationTimestamp.UTC(), time.Now().UTC().Truncate(time.Second); !at.Equal(now) {
				t.Errorf("%s was created at %s, want the bubble's %s", name, at, now)
			}
			<-time.After(90 * time.Minute)
		}
	})
}

// Without a bubble the date is the scenario's, the same in each run.
func TestDateOfAScenario(t *testing.T) {
	c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 1}))
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	is, err := clients(t, c).CoreV1().ConfigMaps("default").Create(t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if at := is.CreationTimestamp.UTC().Format(time.RFC3339); at != "2026-11-20T22:00:00Z" {
		t.Errorf("created at %s", at)
	}
}

package invariant_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/noderoll/invariant"
)

// A kubelet patches what differs from the node that it has read. Where the node lifecycle controller turned the conditions Unknown in between,
// heartbeats come to be beside its transition. On the tape of a real cluster that may be, and in a simulation it is an error.
func TestALatePost(t *testing.T) {
	start := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		options invariant.CheckOptions
		late    time.Duration // the heartbeat of the late post; the conditions are Unknown since 50 s
		ready   corev1.ConditionStatus
		want    bool
	}{
		"recorded, before":  {invariant.CheckRecorded(start), 49 * time.Second, corev1.ConditionTrue, false},
		"recorded, after":   {invariant.CheckRecorded(start), 55 * time.Second, corev1.ConditionUnknown, false},
		"recorded, no post": {invariant.CheckRecorded(start), 0, corev1.ConditionTrue, true},
		"simulated, before": {invariant.CheckSimulated(start), 49 * time.Second, corev1.ConditionTrue, true},
		"simulated, after":  {invariant.CheckSimulated(start), 55 * time.Second, corev1.ConditionUnknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := invariant.NewChecker(tc.options)
			found := false
			post := func(at, beat, since time.Duration, ready, others corev1.ConditionStatus, typ invariant.ChangeType) {
				n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid-a", CreationTimestamp: metav1.NewTime(start)}}
				for i, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
					k := corev1.NodeCondition{Type: kind, Status: others, Reason: "Posted", LastHeartbeatTime: metav1.NewTime(start.Add(beat)), LastTransitionTime: metav1.NewTime(start.Add(since))}
					if i == 0 {
						k.Status = ready
					}
					if k.Status == corev1.ConditionUnknown {
						k.Reason = "NodeStatusUnknown"
					}
					n.Status.Conditions = append(n.Status.Conditions, k)
				}
				for _, v := range c.Observe(invariant.Change{At: at, Type: typ, Resource: "nodes", Object: n}) {
					found = found || v.Invariant == "heartbeat-after-transition" || v.Invariant == "unknown-keeps-heartbeat"
				}
			}
			post(0, 0, 0, "True", "False", invariant.ChangeAdded)
			post(50*time.Second, 0, 50*time.Second, "Unknown", "Unknown", invariant.ChangeModified)
			if found {
				t.Fatal("conditions that turn Unknown violate something")
			}
			post(56*time.Second, tc.late, 50*time.Second, tc.ready, "Unknown", invariant.ChangeModified)
			post(57*time.Second, tc.late, 50*time.Second, tc.ready, "Unknown", invariant.ChangeModified)
			if found != tc.want {
				t.Errorf("violated: %t, want %t", found, tc.want)
			}
		})
	}
}

package invariant_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/noderoll/invariant"
)

// A kubelet's late post mixes its conditions with those that the node lifecycle controller has turned Unknown. On the
// tape of a real cluster that may be, up to the kubelet's next post.
func TestMixedConditions(t *testing.T) {
	start := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		options invariant.CheckOptions
		mixed   time.Duration // how long
		again   bool          // it is given up again then
		want    int
	}{
		"recorded":               {invariant.CheckRecorded(start), 8 * time.Second, false, 0},
		"recorded, and it stays": {invariant.CheckRecorded(start), time.Minute, false, 1},
		"simulated":              {invariant.CheckSimulated(start), 8 * time.Second, false, 1},
		"recorded, given up again, and again after all were posted": {invariant.CheckRecorded(start), 8 * time.Second, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := invariant.NewChecker(tc.options)
			found := 0
			since := 50 * time.Second // Ready is Unknown
			post := func(at time.Duration, typ invariant.ChangeType, ready, others corev1.ConditionStatus) {
				n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid-a", CreationTimestamp: metav1.NewTime(start)}}
				for i, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
					k := corev1.NodeCondition{Type: kind, Status: others, Reason: "Posted", LastHeartbeatTime: metav1.NewTime(start), LastTransitionTime: metav1.NewTime(start)}
					if i == 0 {
						k.Status = ready
					}
					if at > 0 {
						k.LastTransitionTime = metav1.NewTime(start.Add(50 * time.Second))
						if i == 0 {
							k.LastTransitionTime = metav1.NewTime(start.Add(since))
						}
						if k.Status == corev1.ConditionUnknown {
							k.Reason = "NodeStatusUnknown"
						} else {
							k.LastHeartbeatTime = metav1.NewTime(start.Add(at))
							k.LastTransitionTime = metav1.NewTime(start.Add(min(at, time.Minute)))
						}
					}
					n.Status.Conditions = append(n.Status.Conditions, k)
				}
				for _, v := range c.Observe(invariant.Change{At: at, Type: typ, Resource: "nodes", Object: n}) {
					if v.Invariant == "unknown-together" {
						found++
					} else {
						t.Log(v)
					}
				}
			}
			post(0, invariant.ChangeAdded, "True", "False")
			post(50*time.Second, invariant.ChangeModified, "Unknown", "Unknown")
			post(time.Minute, invariant.ChangeModified, "False", "Unknown")
			if tc.mixed > 10*time.Second {
				post(time.Minute+tc.mixed, invariant.ChangeModified, "False", "Unknown")
			}
			if tc.again {
				since = time.Minute + tc.mixed
				post(since, invariant.ChangeModified, "Unknown", "Unknown")
				post(since+time.Second, invariant.ChangeModified, "Unknown", "Unknown")
			}
			post(2*time.Minute+tc.mixed, invariant.ChangeModified, "False", "False")
			if tc.again { // of which nothing is left
				post(3*time.Minute, invariant.ChangeModified, "Unknown", "Unknown")
			}
			if found != tc.want {
				t.Errorf("%d violations, want %d", found, tc.want)
			}
		})
	}
}

package daemon

import "testing"

// A node is on its way out by what the object says: whatever begins a roll, seen too late.
func TestLeaving(t *testing.T) {
	for node, want := range map[string]string{
		`{"metadata":{"deletionTimestamp":"2026-11-20T22:00:00Z"}}`:                                                  "was being deleted",
		`{"spec":{"unschedulable":true}}`:                                                                            "was cordoned",
		`{"spec":{"taints":[{"key":"team"},{"key":"karpenter.sh/disrupted"}]}}`:                                      "had the taint karpenter.sh/disrupted",
		`{"spec":{"taints":[{"key":"ToBeDeletedByClusterAutoscaler"}]}}`:                                             "had the taint ToBeDeletedByClusterAutoscaler",
		`{"spec":{"taints":[{"key":"aws-node-termination-handler/spot-itn"}]}}`:                                      "had the taint aws-node-termination-handler/spot-itn",
		`{"spec":{"taints":[{"key":"node.kubernetes.io/not-ready"},{"key":"team"}]}}`:                                "",
		`{"spec":{"unschedulable":false},"status":{"conditions":[{"type":"Ready","status":"False"}],"nodeInfo":{}}}`: "",
	} {
		if got := leaving([]byte(node)); got != want {
			t.Errorf("%s: found %q, want %q", node, got, want)
		}
	}
}

package observe

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

const machineTape = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata:
  name: machines
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: cluster.x-k8s.io, version: v1beta1, kind: Machine, resource: machines, namespaced: true}
- {group: karpenter.sh, version: v1, kind: NodeClaim, resource: nodeclaims, namespaced: false}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"a","uid":"a","rv":"1","object":{"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"b","uid":"b","rv":"2","object":{"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"c","uid":"c","rv":"3","object":{"spec":{"unschedulable":true}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"4"}
--- {"at":"0s","type":"ADDED","resource":"machines","namespace":"x","name":"m-a","uid":"m-a","rv":"5","object":{"status":{"nodeRef":{"name":"a"},"conditions":[]}}}
--- {"at":"0s","type":"ADDED","resource":"machines","namespace":"x","name":"m-c","uid":"m-c","rv":"6","object":{"status":{"nodeRef":{"name":"c"},"conditions":[{"type":"Deleting","status":"True","reason":"DrainingNode"}]}}}
--- {"at":"0s","type":"SYNC","resource":"machines","rv":"7"}
--- {"at":"0s","type":"ADDED","resource":"nodeclaims","name":"n-b","uid":"n-b","rv":"8","object":{"status":{"nodeName":"b"}}}
--- {"at":"0s","type":"SYNC","resource":"nodeclaims","rv":"9"}
--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"a","rv":"10","patch":{"spec":{"unschedulable":true}}}
--- {"at":"2s","type":"MODIFIED","resource":"machines","namespace":"x","name":"m-a","rv":"11","patch":{"status":{"v1beta2":{"conditions":[{"type":"Deleting","status":"True","reason":"DrainingNode"}]}}}}
--- {"at":"3s","type":"MODIFIED","resource":"nodes","name":"b","rv":"12","patch":{"spec":{"taints":[{"key":"karpenter.sh/disrupted","effect":"NoSchedule"}]}}}
--- {"at":"4s","type":"MODIFIED","resource":"nodeclaims","name":"n-b","rv":"13","patch":{"status":{"conditions":[{"type":"Drained","status":"Unknown","reason":"Draining"}]}}}
--- {"at":"5s","type":"DELETED","resource":"machines","namespace":"x","name":"m-a","rv":"14"}
--- {"at":"6s","type":"DELETED","resource":"nodeclaims","name":"n-b","rv":"15"}
`

// A Machine or a NodeClaim on the tape says that its node is drained, in whichever
// version of its API; a Feed that reads patches needs these objects whole.
func TestMachinesAreEvidence(t *testing.T) {
	want := strings.Join([]string{
		"T+1.000s     cordoned    a", "T+2.000s     draining    a",
		"T+3.000s     cordoned    b", "T+4.000s     draining    b", "",
	}, "\n")
	r, err := timeline.NewReader(strings.NewReader(machineTape))
	if err != nil {
		t.Fatal(err)
	}
	wantFeed(t, feedOf(t, r, Options{}), want)
}

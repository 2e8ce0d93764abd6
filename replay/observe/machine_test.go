package observe

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/noderoll"
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

const claimTape = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata:
  name: claims
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: cluster.x-k8s.io, version: v1beta1, kind: Machine, resource: machines, namespaced: true}
- {group: karpenter.sh, version: v1, kind: NodeClaim, resource: nodeclaims, namespaced: false}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"a","uid":"a","rv":"1","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"p"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"4"}
--- {"at":"0s","type":"ADDED","resource":"machines","namespace":"x","name":"old","uid":"old","rv":"5","object":{"metadata":{"ownerReferences":[{"kind":"MachineSet","name":"p-abc","controller":true}]},"status":{"phase":"Running"}}}
--- {"at":"0s","type":"SYNC","resource":"machines","rv":"7"}
--- {"at":"0s","type":"ADDED","resource":"nodeclaims","name":"c-a","uid":"c-a","rv":"8","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"p"}},"status":{"nodeName":"a","conditions":[{"type":"Launched","status":"True"},{"type":"Registered","status":"True"},{"type":"Initialized","status":"True"}]}}}
--- {"at":"0s","type":"SYNC","resource":"nodeclaims","rv":"9"}
--- {"at":"1s","type":"MODIFIED","resource":"nodeclaims","name":"c-a","rv":"10","patch":{"status":{"conditions":[{"type":"Launched","status":"True"},{"type":"Registered","status":"True"},{"type":"Initialized","status":"True"},{"type":"Drifted","status":"True","reason":"NodePoolDrifted","message":"NodePoolDrifted"}]}}}
--- {"at":"2s","type":"ADDED","resource":"nodeclaims","name":"c-b","uid":"c-b","rv":"11","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"p"}},"status":{"conditions":[{"type":"Launched","status":"Unknown","reason":"AwaitingReconciliation"}]}}}
--- {"at":"2s","type":"ADDED","resource":"nodeclaims","name":"c-q","uid":"c-q","rv":"12","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"q"}}}}
--- {"at":"3s","type":"MODIFIED","resource":"nodeclaims","name":"c-b","rv":"13","patch":{"status":{"conditions":[{"type":"Launched","status":"Unknown","reason":"LaunchFailed","message":"no such image"}]}}}
--- {"at":"4s","type":"MODIFIED","resource":"nodeclaims","name":"c-b","rv":"14","patch":{"status":{"conditions":[{"type":"Launched","status":"True"},{"type":"Registered","status":"Unknown","reason":"NodeNotFound","message":"Node not registered with cluster"}]}}}
--- {"at":"5s","type":"MODIFIED","resource":"nodeclaims","name":"c-b","rv":"15","patch":{"status":{"nodeName":"b","conditions":[{"type":"Launched","status":"True"},{"type":"Registered","status":"True"},{"type":"Initialized","status":"Unknown","reason":"NodeNotReady","message":"Node status is NotReady"}]}}}
--- {"at":"6s","type":"ADDED","resource":"machines","namespace":"x","name":"new","uid":"new","rv":"16","object":{"metadata":{"ownerReferences":[{"kind":"MachineSet","name":"p-def","controller":true}]}}}
--- {"at":"7s","type":"MODIFIED","resource":"machines","namespace":"x","name":"new","rv":"17","patch":{"status":{"phase":"Provisioning","conditions":[{"type":"InfrastructureReady","status":"False","reason":"Old"}],"v1beta2":{"conditions":[{"type":"InfrastructureReady","status":"False","reason":"NotReady","message":"quota"}]}}}}
--- {"at":"8s","type":"MODIFIED","resource":"machines","namespace":"x","name":"old","rv":"18","patch":{"status":{"v1beta2":{"conditions":[{"type":"UpToDate","status":"False","reason":"NotUpToDate","message":"* Version v1.35.0, v1.36.0 required"}]}}}}
--- {"at":"9s","type":"MODIFIED","resource":"nodeclaims","name":"c-a","rv":"19","patch":{"metadata":{"deletionTimestamp":"2026-11-20T22:21:09Z"}}}
--- {"at":"10s","type":"DELETED","resource":"nodeclaims","name":"c-a","rv":"20"}
`

// NodeClaims and Machines of the group tell how far they are, and what they wait for; what was there at the beginning, and
// what a new one waits for at first, is no news.
func TestMachinesTell(t *testing.T) {
	brief := []string{
		"T+1.000s     drifted     a                 NodeClaim/c-a  NodePoolDrifted",
		"T+2.000s     requested   -                 NodeClaim/c-b",
		"T+6.000s     requested   -                 Machine/x/new",
		"T+8.000s     drifted     -                 Machine/x/old  NotUpToDate  * Version v1.35.0, v1.36.0 required", "",
	}
	verbose := []string{
		brief[0], brief[1],
		"T+3.000s     machine     -                 NodeClaim/c-b  LaunchFailed  Launched is Unknown: no such image",
		"T+4.000s     machine     -                 NodeClaim/c-b  Launched",
		"T+4.000s     machine     -                 NodeClaim/c-b  NodeNotFound  Registered is Unknown: Node not registered with cluster",
		"T+5.000s     machine     b                 NodeClaim/c-b  Registered",
		"T+5.000s     machine     b                 NodeClaim/c-b  NodeNotReady  Initialized is Unknown: Node status is NotReady",
		brief[2],
		"T+7.000s     machine     -                 Machine/x/new  Provisioning",
		"T+7.000s     machine     -                 Machine/x/new  NotReady  InfrastructureReady is False: quota",
		brief[3],
		"T+9.000s     machine     a                 NodeClaim/c-a  Deleting",
		"T+10.000s    machine     a                 NodeClaim/c-a  Deleted", "",
	}
	for _, want := range [][]string{brief, verbose} {
		r, err := timeline.NewReader(strings.NewReader(claimTape))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{FeedOptions: noderoll.FeedOptions{Verbose: len(want) == len(verbose)}}
		o.Pool = "p"
		wantFeed(t, feedOf(t, r, o), strings.Join(want, "\n"))
	}
}

// A Snapshot has the machines that have something to say, and a selector of nodes chooses no machine without a node.
func TestMachinesOfASnapshot(t *testing.T) {
	for _, selector := range []labels.Selector{nil, labels.SelectorFromSet(labels.Set{"karpenter.sh/nodepool": "p"})} {
		r, err := timeline.NewReader(strings.NewReader(claimTape))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		o.Selector = selector
		f := New(r.Header(), o)
		for ev, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			if ev.At == 9*time.Second {
				break
			}
			if _, err := f.Apply(ev); err != nil {
				t.Fatal(err)
			}
		}
		s, err := f.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := []noderoll.MachineView{
			{Object: "Machine/x/new", Condition: "InfrastructureReady", Reason: "NotReady", Message: "quota"},
			{Object: "Machine/x/old", Drifted: true},
			{Object: "NodeClaim/c-a", Node: "a", Drifted: true},
			{Object: "NodeClaim/c-q"},
		}
		if selector != nil {
			want = want[2:3]
		}
		if !slices.Equal(s.Machines, want) {
			t.Errorf("selector %v: machines %+v, want %+v", selector, s.Machines, want)
		}
	}
}

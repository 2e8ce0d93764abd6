package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/timeline"
)

const machines = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: machines}
scope: {provider: karpenter}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: cluster.x-k8s.io, version: v1beta2, kind: Machine, resource: machines, namespaced: true}
- {group: karpenter.sh, version: v1, kind: NodeClaim, resource: nodeclaims, namespaced: false}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"a","uid":"u-a","rv":"1","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"p"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}
--- {"at":"0s","type":"SYNC","resource":"machines","rv":"1"}
--- {"at":"0s","type":"SYNC","resource":"nodeclaims","rv":"1"}
--- {"at":"5s","type":"ADDED","resource":"nodeclaims","name":"c","uid":"u-c","rv":"2","object":{"status":{"conditions":[{"type":"Registered","status":"Unknown","reason":"NodeNotFound","message":"Node not registered with cluster"},{"type":"Launched","status":"True"}]}}}
--- {"at":"7s","type":"ADDED","resource":"machines","namespace":"x","name":"m","uid":"u-m","rv":"3","object":{"status":{"conditions":[{"type":"InfrastructureReady","status":"False","reason":"NotReady","message":"no capacity"}]}}}
--- {"at":"40s","type":"ADDED","resource":"nodes","name":"b","uid":"u-b","rv":"4","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"p"}},"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady","message":"network not ready"}]}}}
--- {"at":"41s","type":"MODIFIED","resource":"nodeclaims","name":"c","rv":"5","patch":{"status":{"nodeName":"b","conditions":[{"type":"Registered","status":"True"},{"type":"Launched","status":"True"}]}}}
--- {"at":"60s","type":"MODIFIED","resource":"nodes","name":"b","rv":"6","patch":{"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"90s","type":"MARK","name":"later"}
`

// A node has the claim that it was made for, and its boot says what that waited for; a machine without a node is a finding.
func TestMachines(t *testing.T) {
	a := tape{"machines", func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(machines)) }}.analyse(t, false)
	n := a.Nodes[1]
	if n.Claim != "NodeClaim/c" || n.Requested == nil || n.Requested.At != 5*time.Second || n.Boot == nil || *n.Boot != 35*time.Second || n.Join == nil || *n.Join != 20*time.Second {
		t.Errorf("got %+v", n)
	}
	want := []analysis.Wait{
		{Kind: analysis.WaitMachine, Phase: analysis.PhaseBooting, From: *n.Requested, To: *n.Joined, Duration: 35 * time.Second, Object: "NodeClaim/c", Reason: "NodeNotFound", Message: "Node not registered with cluster"},
		{Kind: analysis.WaitNodeReady, Phase: analysis.PhaseJoining, From: *n.Joined, To: *n.Ready, Duration: 20 * time.Second, Object: "Node/b", Reason: "KubeletNotReady", Message: "network not ready"},
	}
	if len(n.Waits) != len(want) || n.Waits[0].Message != want[0].Message || n.Waits[0].Duration != want[0].Duration || n.Waits[0].Reason != want[0].Reason || n.Waits[1].Reason != want[1].Reason {
		t.Errorf("waits %+v, want %+v", n.Waits, want)
	}
	found := false
	for _, f := range a.Findings {
		found = found || f.Kind == analysis.FindNeverJoined && f.Object == "Machine/x/m" && f.Cost == 83*time.Second && strings.HasSuffix(f.Text, "no capacity")
	}
	if !found {
		t.Errorf("no finding of the machine that has no node: %+v", a.Findings)
	}
}

// A claim may name its node before the Node is there; and a node that registers again wasn't asked for again.
func TestAClaimNamesItsNodeFirst(t *testing.T) {
	before, _, _ := strings.Cut(machines, `--- {"at":"5s"`)
	node := func(at, typ, uid string) string {
		return `--- {"at":"` + at + `","type":"` + typ + `","resource":"nodes","name":"b","uid":"` + uid + `","rv":"4","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"p"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
`
	}
	text := before + `--- {"at":"5s","type":"ADDED","resource":"nodeclaims","name":"c","uid":"u-c","rv":"2","object":{}}
--- {"at":"10s","type":"MODIFIED","resource":"nodeclaims","name":"c","rv":"3","patch":{"status":{"nodeName":"b"}}}
` + node("20s", "ADDED", "u-1") + node("3000s", "DELETED", "u-1") + node("3600s", "ADDED", "u-2") + node("3700s", "DELETED", "u-2") +
		`--- {"at":"3800s","type":"DELETED","resource":"nodeclaims","name":"c","rv":"8","object":{}}
`
	a := tape{"first", func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(text)) }}.analyse(t, false)
	if f := found(a, analysis.FindNeverJoined); f != nil {
		t.Errorf("got %+v, want no such finding", f)
	}
	if n := a.Nodes[1]; n.Boot == nil || *n.Boot != 15*time.Second {
		t.Errorf("got %+v, want a boot of 15s", n)
	}
	if n := a.Nodes[2]; n.Boot != nil || n.Claim != "NodeClaim/c" {
		t.Errorf("got %+v, want the claim and no boot", n)
	}
}

// A machine that names its node has one, also where that is of a group that the tape doesn't have.
func TestAMachineOfAGroupThatIsNotOnTheTape(t *testing.T) {
	before, _, _ := strings.Cut(machines, `--- {"at":"5s"`)
	text := strings.Replace(before, "scope: {provider: karpenter}", `scope: {provider: karpenter, selector: "karpenter.sh/nodepool=p"}`, 1) +
		`--- {"at":"7s","type":"ADDED","resource":"machines","namespace":"x","name":"m","uid":"u-m","rv":"3","object":{}}
--- {"at":"60s","type":"MODIFIED","resource":"machines","namespace":"x","name":"m","rv":"4","patch":{"status":{"nodeRef":{"name":"other"}}}}
--- {"at":"2000s","type":"MARK","name":"later"}
`
	a := tape{"other", func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(text)) }}.analyse(t, false)
	if f := found(a, analysis.FindNeverJoined); f != nil {
		t.Errorf("got %+v, want no such finding", f)
	}
}

// A machine of another group than the one that was asked for is no finding.
func TestMachinesOfOtherGroups(t *testing.T) {
	text := strings.Replace(machines, `"uid":"u-m","rv":"3","object":{`, `"uid":"u-m","rv":"3","object":{"metadata":{"ownerReferences":[{"kind":"MachineDeployment","name":"other","controller":true}]},`, 1)
	text = strings.Replace(text, `"nodeName":"b",`, "", 1)
	text = strings.Replace(text, `"uid":"u-c","rv":"2","object":{`, `"uid":"u-c","rv":"2","object":{"metadata":{"labels":{"karpenter.sh/nodepool":"p"}},`, 1)
	r, err := timeline.NewReader(strings.NewReader(strings.Replace(text, "scope: {provider: karpenter}", "scope: {}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, r)
	o.Pool = "p"
	a, err := analysis.Tape(r, o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range a.Findings {
		if f.Kind == analysis.FindNeverJoined {
			got = append(got, f.Object)
		}
	}
	if len(got) != 1 || got[0] != "NodeClaim/c" {
		t.Errorf("got %v, want the claim of group p alone", got)
	}
}

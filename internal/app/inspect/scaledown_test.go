package inspect_test

import (
	"strings"
	"testing"
	"time"

	found "github.com/nodesim/nodesim/replay/analysis/rolls"
)

const synced = `--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"2"}` + "\n"

func goneLine(at, name string) string {
	return `--- {"at":"` + at + `","type":"DELETED","resource":"nodes","name":"` + name + `","rv":"9"}` + "\n"
}

func patchLine(at, resource, name, patch string) string {
	return `--- {"at":"` + at + `","type":"MODIFIED","resource":"` + resource + `","name":"` + name + `","rv":"3","patch":` + patch + "}\n"
}

// Nodes that cluster-autoscaler takes, because they aren't needed, are no roll, neither by themselves nor as the
// beginning of one that comes later.
func TestAScaleDownIsNoRoll(t *testing.T) {
	tape := header +
		nodeLine("0s", "ADDED", "a1", "one", "True") + nodeLine("0s", "ADDED", "a2", "one", "True") + nodeLine("0s", "ADDED", "a3", "one", "True") + synced +
		patchLine("10s", "nodes", "a3", `{"spec":{"taints":[{"key":"ToBeDeletedByClusterAutoscaler","value":"1","effect":"NoSchedule"}]}}`) +
		goneLine("60s", "a3")
	if rolls := read(t, tape).Rolls; len(rolls) != 0 {
		t.Errorf("found %+v: want none", rolls)
	}
	tape += nodeLine("120s", "ADDED", "b1", "one", "True") + goneLine("180s", "a1") +
		nodeLine("240s", "ADDED", "b2", "one", "True") + goneLine("300s", "a2")
	rolls := read(t, tape).Rolls
	if len(rolls) != 1 || rolls[0].Start != 2*time.Minute || rolls[0].Replaced != 2 || rolls[0].Joined != 2 || rolls[0].Outcome != found.Complete {
		t.Errorf("found %+v: want one complete roll from 2m on, 2 replaced by 2", rolls)
	}
}

// A scale-down that is given up leaves the node to a roll.
func TestAScaleDownThatWasGivenUp(t *testing.T) {
	tape := header + nodeLine("0s", "ADDED", "a1", "one", "True") + nodeLine("0s", "ADDED", "a2", "one", "True") + synced +
		patchLine("10s", "nodes", "a2", `{"spec":{"taints":[{"key":"ToBeDeletedByClusterAutoscaler","value":"1","effect":"NoSchedule"}]}}`) +
		patchLine("20s", "nodes", "a2", `{"spec":{"taints":null}}`) +
		patchLine("1800s", "nodes", "a2", `{"spec":{"unschedulable":true}}`) + goneLine("1860s", "a2")
	rolls := read(t, tape).Rolls
	if len(rolls) != 1 || rolls[0].Start != 30*time.Minute || rolls[0].Replaced != 1 || rolls[0].Outcome != found.Unfinished {
		t.Errorf("found %+v: want one unfinished roll from 30m on", rolls)
	}
}

// Karpenter says by a NodeClaim why it takes a node, after it has tainted it: consolidation is no roll, also where a
// smaller node takes the place of others. Drift is one.
func TestAConsolidationIsNoRoll(t *testing.T) {
	for reason, wanted := range map[string]int{"Empty": 0, "Underutilized": 0, "Drifted": 1} {
		tape := header + "- {group: karpenter.sh, version: v1, kind: NodeClaim, resource: nodeclaims, namespaced: false}\n" +
			nodeLine("0s", "ADDED", "a1", "one", "True") + nodeLine("0s", "ADDED", "a2", "one", "True") + nodeLine("0s", "ADDED", "a3", "one", "True") + synced +
			`--- {"at":"0s","type":"ADDED","resource":"nodeclaims","name":"c2","rv":"1","object":{"status":{"nodeName":"a2"}}}` + "\n" +
			patchLine("10s", "nodes", "a2", `{"spec":{"taints":[{"key":"karpenter.sh/disrupted","effect":"NoSchedule"}]}}`) +
			patchLine("11s", "nodeclaims", "c2", `{"status":{"conditions":[{"type":"DisruptionReason","status":"True","reason":"`+reason+`"}]}}`) +
			nodeLine("60s", "ADDED", "a4", "one", "True") + goneLine("120s", "a2")
		if rolls := read(t, tape).Rolls; len(rolls) != wanted {
			t.Errorf("%s: found %+v: want %d rolls", reason, rolls, wanted)
		}
		lines := strings.ReplaceAll(tape, "nodeclaims", "claims")
		if rolls := read(t, lines).Rolls; len(rolls) != 1 {
			t.Errorf("%s, by what is no NodeClaim: found %+v: want one roll", reason, rolls)
		}
	}
}

// Nodes that came long before a roll aren't its beginning, unless they are of the image that it rolls out.
func TestAScaleUpBeforeARoll(t *testing.T) {
	begin := header + nodeLine("0s", "ADDED", "a1", "one", "True") + synced
	roll := patchLine("3600s", "nodes", "a1", `{"spec":{"unschedulable":true}}`) + nodeLine("3660s", "ADDED", "b2", "one", "True") + goneLine("3720s", "a1")
	for first, start := range map[string]time.Duration{"a9": time.Hour, "b1": time.Minute} {
		rolls := read(t, begin+nodeLine("60s", "ADDED", first, "one", "True")+roll).Rolls
		if len(rolls) != 1 || rolls[0].Start != start {
			t.Errorf("with %s before: found %+v: want one roll from %s on", first, rolls, start)
		}
	}
}

// Who drains a node may leave it to cluster-autoscaler to take it: that is a roll, also where the tape ends early.
func TestNodesThatWereDrainedBeforeTheirScaleDown(t *testing.T) {
	tape := header + nodeLine("0s", "ADDED", "a1", "one", "True") + nodeLine("0s", "ADDED", "a2", "one", "True") + synced +
		patchLine("10s", "nodes", "a1", `{"spec":{"unschedulable":true}}`) + nodeLine("60s", "ADDED", "a3", "one", "True") +
		patchLine("600s", "nodes", "a1", `{"spec":{"taints":[{"key":"ToBeDeletedByClusterAutoscaler","value":"1","effect":"NoSchedule"}]}}`) +
		goneLine("660s", "a1")
	rolls := read(t, tape).Rolls
	if len(rolls) != 1 || rolls[0].Start != 10*time.Second || rolls[0].Replaced != 1 || rolls[0].Outcome != found.Unfinished {
		t.Errorf("found %+v: want one unfinished roll from 10s on", rolls)
	}
}

// A smaller node that takes the place of all is no roll.
func TestAConsolidationOfAllIsNoRoll(t *testing.T) {
	tape := header + "- {group: karpenter.sh, version: v1, kind: NodeClaim, resource: nodeclaims, namespaced: false}\n" +
		nodeLine("0s", "ADDED", "a1", "one", "True") + synced +
		`--- {"at":"0s","type":"ADDED","resource":"nodeclaims","name":"c1","rv":"1","object":{"status":{"nodeName":"a1"}}}` + "\n" +
		patchLine("10s", "nodes", "a1", `{"spec":{"taints":[{"key":"karpenter.sh/disrupted","effect":"NoSchedule"}]}}`) +
		patchLine("11s", "nodeclaims", "c1", `{"status":{"conditions":[{"type":"DisruptionReason","status":"True","reason":"Underutilized"}]}}`) +
		nodeLine("60s", "ADDED", "a2", "one", "True")
	if rolls := read(t, tape+goneLine("120s", "a1")).Rolls; len(rolls) != 0 {
		t.Errorf("found %+v: want none", rolls)
	}
	if rolls := read(t, tape+goneLine("1200s", "a1")).Rolls; len(rolls) != 0 {
		t.Errorf("long after the other has come: found %+v: want none", rolls)
	}
}

// The last of the nodes that were there at first may be taken long after others have come.
func TestTheLastOldNodeIsScaledDown(t *testing.T) {
	tape := header + nodeLine("0s", "ADDED", "a1", "one", "True") + synced + nodeLine("60s", "ADDED", "a9", "one", "True") +
		patchLine("3600s", "nodes", "a1", `{"spec":{"taints":[{"key":"ToBeDeletedByClusterAutoscaler","value":"1","effect":"NoSchedule"}]}}`) +
		goneLine("3700s", "a1")
	if rolls := read(t, tape).Rolls; len(rolls) != 0 {
		t.Errorf("found %+v: want none", rolls)
	}
}

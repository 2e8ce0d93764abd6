package ui_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
)

// A drain that a budget holds up, a gap, a mark, a failure; and then a second
// roll, which begins to count again.
const story = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: story, start: "2026-11-20T10:00:00Z"}
scope: {provider: eks, nodegroup: a}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: policy, version: v1, kind: PodDisruptionBudget, resource: poddisruptionbudgets, namespaced: true}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"old","uid":"u1","rv":"1","object":{"metadata":{"labels":{"eks.amazonaws.com/nodegroup":"a","eks.amazonaws.com/nodegroup-image":"ami-1"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}
--- {"at":"0s","type":"ADDED","resource":"pods","namespace":"shop","name":"web-1","uid":"p1","rv":"2","object":{"metadata":{"labels":{"app":"web"}},"spec":{"nodeName":"old"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"SYNC","resource":"pods","rv":"2"}
--- {"at":"0s","type":"ADDED","resource":"poddisruptionbudgets","namespace":"shop","name":"web","uid":"b1","rv":"3","object":{"spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}}
--- {"at":"0s","type":"SYNC","resource":"poddisruptionbudgets","rv":"3"}
--- {"at":"5s","type":"ADDED","resource":"nodes","name":"new","uid":"u2","rv":"4","object":{"metadata":{"labels":{"eks.amazonaws.com/nodegroup":"a","eks.amazonaws.com/nodegroup-image":"ami-2"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"6s","type":"MODIFIED","resource":"nodes","name":"old","rv":"5","patch":{"spec":{"unschedulable":true}}}
--- {"at":"20s","type":"GAP","resource":"pods","rv":"2","reason":"410 Expired"}
--- {"at":"25s","type":"DELETED","resource":"pods","namespace":"shop","name":"web-1"}
--- {"at":"25s","type":"SYNC","resource":"pods","rv":"6"}
--- {"at":"26s","type":"DELETED","resource":"nodes","name":"old","rv":"7"}
--- {"at":"40s","type":"MARK","name":"lunch"}
--- {"at":"50s","type":"ADDED","resource":"nodes","name":"next","uid":"u3","rv":"8","object":{"metadata":{"labels":{"eks.amazonaws.com/nodegroup":"a","eks.amazonaws.com/nodegroup-image":"ami-3"}},"status":{"conditions":[{"type":"Ready","status":"False"}]}}}
--- {"at":"55s","type":"MARK","name":"failed","reason":"the new image doesn't boot"}
--- {"at":"60s","type":"END","events":15}
`

func TestStory(t *testing.T) {
	golden.Assert(t, "story", through(t, ui.File("-", strings.NewReader(story)), 0, replay.End))
}

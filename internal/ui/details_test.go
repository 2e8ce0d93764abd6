package ui_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/nodesim/nodesim/internal/ui"
)

// crowded is a tape of a node that isn't well, with pods in several states and Events about them.
const crowded = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: crowded, start: "2026-11-20T22:00:00Z"}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: "", version: v1, kind: Event, resource: events, namespaced: true}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"a","uid":"u1","rv":"1","object":{"metadata":{"creationTimestamp":"2026-11-20T21:00:00Z","labels":{"node.kubernetes.io/instance-type":"m5.large","topology.kubernetes.io/zone":"eu-1a"}},"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]},"status":{"conditions":[{"type":"MemoryPressure","status":"True","reason":"KubeletHasInsufficientMemory","lastTransitionTime":"2026-11-20T21:59:00Z"},{"type":"Ready","status":"True","reason":"KubeletReady","message":"kubelet is posting ready status","lastTransitionTime":"2026-11-20T21:01:00Z"}],"nodeInfo":{"kubeletVersion":"v1.36.3"}}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}
--- {"at":"0s","type":"ADDED","resource":"pods","namespace":"shop","name":"waits","uid":"u2","rv":"2","object":{"metadata":{"creationTimestamp":"2026-11-20T21:58:00Z"},"spec":{"nodeName":"a","containers":[{"name":"c"}]},"status":{"phase":"Running","containerStatuses":[{"name":"c","restartCount":7,"ready":false,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}}
--- {"at":"0s","type":"ADDED","resource":"pods","namespace":"shop","name":"leaves","uid":"u3","rv":"3","object":{"metadata":{"creationTimestamp":"2026-11-20T21:58:00Z","deletionTimestamp":"2026-11-20T22:00:10Z"},"spec":{"nodeName":"a","containers":[{"name":"c"}]},"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]}}}
--- {"at":"0s","type":"ADDED","resource":"pods","namespace":"shop","name":"elsewhere","uid":"u4","rv":"4","object":{"spec":{"nodeName":"b"},"status":{"phase":"Running"}}}
--- {"at":"0s","type":"SYNC","resource":"pods","rv":"4"}
--- {"at":"0s","type":"ADDED","resource":"events","namespace":"shop","name":"e1","uid":"u5","rv":"5","object":{"type":"Warning","reason":"BackOff","message":"Back-off restarting failed container","involvedObject":{"kind":"Pod","namespace":"shop","name":"waits"},"lastTimestamp":"2026-11-20T21:59:30Z"}}
--- {"at":"0s","type":"ADDED","resource":"events","namespace":"default","name":"e2","uid":"u6","rv":"6","object":{"type":"Normal","reason":"NodeNotSchedulable","message":"Node a status is now: NodeNotSchedulable","involvedObject":{"kind":"Node","name":"a"},"lastTimestamp":"2026-11-20T21:59:50Z"}}
--- {"at":"0s","type":"ADDED","resource":"events","namespace":"shop","name":"e3","uid":"u7","rv":"7","object":{"type":"Normal","reason":"Started","message":"elsewhere","involvedObject":{"kind":"Pod","namespace":"shop","name":"elsewhere"},"lastTimestamp":"2026-11-20T21:59:50Z"}}
--- {"at":"0s","type":"SYNC","resource":"events","rv":"7"}
--- {"at":"60s","type":"DELETED","resource":"nodes","name":"a","rv":"8"}
--- {"at":"90s","type":"END","events":12}
`

// The details are what the tape has of a node at the position, with ages by the tape's clock.
func TestDetailsOfANode(t *testing.T) {
	name := filepath.Join(t.TempDir(), "crowded.yaml")
	if err := os.WriteFile(name, []byte(crowded), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		_ = onStage(t, ui.File(name, nil), ui.Terminal{}, func(screen *tty, types func(string)) {
			types("j\r")
			screen.shows(t, "details", "m5.large  eu-1a  kubelet v1.36.3  age 60m  unschedulable", "node.kubernetes.io/unschedulable:NoSchedule",
				"Ready           True", "MemoryPressure  True  60s", "PODS 2", "shop/waits   0/1  CrashLoopBackOff", "7 restarts",
				"shop/leaves  1/1  Terminating", "EVENTS 2", "shop/waits: Back-off restarting failed container", "NodeNotSchedulable")
			types(":70s\r")
			screen.shows(t, "when it is gone", "no such node now", "PODS 2")
			types("q")
		})
	})
}

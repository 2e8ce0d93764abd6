package recorder_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/client-go/tools/clientcmd"
)

// Record the roll of one node group until it is interrupted.
func ExampleRecorder_Run() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return // no cluster here
	}
	rec, err := recorder.New(recorder.Config{
		REST: config,
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create("roll.yaml", h) },
		Scope: recorder.Scope{
			Nodegroup: "spot-burst",
			Providers: []recorder.Provider{{Name: "eks", Labels: []string{"eks.amazonaws.com/nodegroup"}}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, err := rec.Run(context.Background())
	fmt.Println(sum.Events, sum.Gaps, err)
}

// What kubectl prints becomes a tape.
func ExampleImport() {
	// kubectl get nodes --watch -o json --output-watch-events
	dump := `
{"type": "ADDED", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {
  "name": "ip-10-0-1-10", "uid": "u-1", "resourceVersion": "481", "creationTimestamp": "2026-11-20T22:21:05Z"}}}
{"type": "MODIFIED", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {
  "name": "ip-10-0-1-10", "uid": "u-1", "resourceVersion": "530", "creationTimestamp": "2026-11-20T22:21:05Z"},
  "spec": {"unschedulable": true, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-11-20T22:21:35Z"}]}}}`

	sum, err := recorder.Import(context.Background(), strings.NewReader(dump), recorder.ImportOptions{
		Name: "cordon",
		Open: func(h timeline.Header) (*timeline.Writer, error) {
			h.Redaction = nil // shorter, for this example
			return timeline.NewWriter(os.Stdout, h)
		},
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(sum.At, "long,", sum.Events, "lines")
	// Output:
	// apiVersion: nodesim.dev/v1
	// kind: Timeline
	// metadata:
	//   name: cordon
	//   start: "2026-11-20T22:21:05Z"
	// source:
	//   kind: import
	//   times: derived
	// resources:
	//   - {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
	// --- {"at":"0s","type":"ADDED","resource":"nodes","name":"ip-10-0-1-10","uid":"u-1","rv":"481","object":{"metadata":{"creationTimestamp":"2026-11-20T22:21:05Z"}}}
	// --- {"at":"0s","type":"SYNC","resource":"nodes","rv":"481"}
	// --- {"at":"30s","type":"MODIFIED","resource":"nodes","name":"ip-10-0-1-10","rv":"530","patch":{"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule","timeAdded":"2026-11-20T22:21:35Z"}]}}}
	// --- {"at":"30s","type":"END","events":4}
	// 30s long, 4 lines
}

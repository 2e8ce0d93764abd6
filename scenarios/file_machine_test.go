package scenarios_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// nodesOf simulates a file, and returns the nodes that it begins with.
func nodesOf(t *testing.T, text string) map[string]corev1.Node {
	t.Helper()
	d, err := scenarios.Parse("mine.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]corev1.Node{}
	s, err := f.Simulate(func(ev timeline.Event) error {
		if ev.Resource != "nodes" || ev.Type != timeline.Added {
			return nil
		}
		var n corev1.Node
		err := json.Unmarshal(ev.Object, &n)
		nodes[ev.Name] = n
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return nodes
}

const described = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: mine, title: machines of my own}
timeLimit: 10m
cluster:
  provider: %s
  zones: [%s]
  instanceTypes: [%s]
groups: [{name: large, nodes: 2, instanceType: %s}]
`

// A file says what machines are like that nodesim doesn't know, or what is different of one that it knows.
func TestInstanceTypesOfAFile(t *testing.T) {
	for name, c := range map[string]struct {
		provider, zones, types, use string
		arch, zone                  string
		want                        string // cpu, memory, pods and GPUs of the capacity
	}{
		"unknown on EC2": {
			"eks", "eu-central-1a, eu-central-1b", "{name: x8g.16xlarge, cpu: 64, memory: 1Ti, pods: 737, arch: arm64, gpus: 2, zones: [eu-central-1b]}", "x8g.16xlarge",
			"arm64", "eu-central-1b", "64 1020054732Ki 737 2",
		},
		"unknown, the least that is said": {"gke", "europe-west3-a", "{name: n4-highmem-2, cpu: 2, memory: 16Gi}", "n4-highmem-2", "amd64", "europe-west3-a", "2 15872Mi 110 0"},
		"the pods of a known one":         {"eks", "eu-central-1a", "{name: m5.large, pods: 110}", "m5.large", "amd64", "eu-central-1a", "2 7845568Ki 110 0"},
		"the memory of a known one":       {"aks", "westeurope-1", "{name: Standard_D2s_v3, memory: 16Gi}", "Standard_D2s_v3", "amd64", "westeurope-1", "2 15872Mi 110 0"},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := nodesOf(t, fmt.Sprintf(described, c.provider, c.zones, c.types, c.use))
			if len(nodes) != 2 {
				t.Errorf("found %d nodes, want 2", len(nodes))
			}
			for name, n := range nodes {
				has := n.Status.Capacity
				gpus := has["nvidia.com/gpu"]
				if got := fmt.Sprintf("%s %s %s %s", has.Cpu(), has.Memory(), has.Pods(), &gpus); got != c.want {
					t.Errorf("%s: found the capacity %s, want %s", name, got, c.want)
				}
				if free := n.Status.Allocatable; free.Memory().Cmp(*has.Memory()) >= 0 || free.Memory().Sign() <= 0 {
					t.Errorf("%s: found %s allocatable of %s, want some of it", name, free.Memory(), has.Memory())
				}
				l := n.Labels
				if l[corev1.LabelInstanceTypeStable] != c.use || l[corev1.LabelArchStable] != c.arch || l[corev1.LabelTopologyZone] != c.zone || n.Status.NodeInfo.Architecture != c.arch {
					t.Errorf("%s: found the labels %v, want %s, %s and %s", name, l, c.use, c.arch, c.zone)
				}
			}
		})
	}
}

// The error of a type that nodesim doesn't know says how to describe it, and the file that follows it is good.
func TestUnknownInstanceTypeSaysHowToDescribeIt(t *testing.T) {
	text := fmt.Sprintf(described, "eks", "eu-central-1a", "", "i7ie.48xlarge")
	d, err := scenarios.Parse("mine.yaml", []byte(text))
	if err == nil {
		_, err = d.Resolve(nil, nil)
	}
	const want = "describe it with cluster.instanceTypes: ["
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("found %v, want it to say %q", err, want)
	}
	_, types, _ := strings.Cut(err.Error(), want)
	if nodes := nodesOf(t, fmt.Sprintf(described, "eks", "eu-central-1a", strings.TrimSuffix(types, "]"), "i7ie.48xlarge")); len(nodes) != 2 {
		t.Errorf("found %d nodes, want 2", len(nodes))
	}
}

package actors_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/actors"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// fleet makes nodes of three zones with room for some 37 pods of 100m each.
func (c *placing) fleet(nodes int) {
	for i := range nodes {
		c.node(fmt.Sprintf("ip-10-%d-%d", i/250, i%250), string(rune('a'+i%3)), func(n *kube.Node) {
			n.Allocatable = kube.PairsOf(kube.Pair{Key: "cpu", Value: "3920m"}, kube.Pair{Key: "memory", Value: "15Gi"}, kube.Pair{Key: "pods", Value: "58"})
		})
	}
}

// BenchmarkSeed places the pods of a cluster at rest.
func BenchmarkSeed(b *testing.B) {
	const nodes, workloads, replicas = 5000, 100, 1000
	for b.Loop() {
		c := newPlacing(b, "1.36", false)
		c.fleet(nodes)
		var list []actors.Workload
		for i := range workloads {
			name := fmt.Sprint("app-", i)
			list = append(list, actors.Workload{Kind: actors.Deployment, Namespace: "shop", Name: name, Replicas: replicas, Template: app(name, 100)})
		}
		if err := c.Workloads.Seed(list, c.sched, c.running); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(workloads*replicas), "ns/pod")
}

// BenchmarkSchedule creates and binds pods, with all that is written about them.
func BenchmarkSchedule(b *testing.B) {
	const nodes, workloads, replicas = 5000, 100, 1000
	for b.Loop() {
		c := newPlacing(b, "1.36", false)
		c.fleet(nodes)
		for i := range workloads {
			name := fmt.Sprint("app-", i)
			c.deploy(b, actors.Deployment, name, replicas, app(name, 100))
		}
		c.run(b, 10*time.Minute)
		if got := c.placed("app-7"); got[""] > 0 {
			b.Fatalf("%d pods wait", got[""])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(workloads*replicas), "ns/pod")
}

// BenchmarkNoRoom keeps thousands of pods waiting in a full cluster for half an
// hour, in which other pods come and go.
func BenchmarkNoRoom(b *testing.B) {
	for b.Loop() {
		c := newPlacing(b, "1.36", false)
		c.fleet(5000)
		if err := c.Workloads.Seed([]actors.Workload{{Kind: actors.Deployment, Namespace: "shop", Name: "web", Replicas: 195_000, Template: app("web", 100)}}, c.sched, c.running); err != nil {
			b.Fatal(err)
		}
		c.deploy(b, actors.Deployment, "big", 5000, app("big", 2000))
		for i := range 1800 {
			c.At(time.Duration(i)*time.Second, func() {
				pods := c.API.PodsOn(fmt.Sprintf("ip-10-%d-%d", i%20, i%250))
				if len(pods) > 0 {
					c.API.DeletePod(pods[0], kube.OwnGrace)
				}
			})
		}
		c.run(b, 30*time.Minute)
	}
}

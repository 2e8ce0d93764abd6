package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

// fleet makes nodes of three zones with room for some 37 pods of 100m each.
func fleet(c *placing.Cluster, nodes int) {
	for i := range nodes {
		c.Node(fmt.Sprintf("ip-10-%d-%d", i/250, i%250), string(rune('a'+i%3)), func(n *kube.Node) {
			n.Allocatable = kube.PairsOf(kube.Pair{Key: "cpu", Value: "3920m"}, kube.Pair{Key: "memory", Value: "15Gi"}, kube.Pair{Key: "pods", Value: "58"})
		})
	}
}

// BenchmarkSeed places the pods of a cluster at rest.
func BenchmarkSeed(b *testing.B) {
	const nodes, workloads, replicas = 5000, 100, 1000
	for b.Loop() {
		c := placing.New(b, "1.36", false)
		fleet(c, nodes)
		var list []controllers.Workload
		for i := range workloads {
			name := fmt.Sprint("app-", i)
			list = append(list, controllers.Workload{Kind: controllers.Deployment, Namespace: "shop", Name: name, Replicas: replicas, Template: placing.App(name, 100)})
		}
		if err := c.Workloads.Seed(list, c.Scheduler, c.Running); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(workloads*replicas), "ns/pod")
}

// BenchmarkSchedule creates and binds pods, with all that is written about them.
func BenchmarkSchedule(b *testing.B) {
	const nodes, workloads, replicas = 5000, 100, 1000
	for b.Loop() {
		c := placing.New(b, "1.36", false)
		fleet(c, nodes)
		for i := range workloads {
			name := fmt.Sprint("app-", i)
			c.Deploy(b, controllers.Deployment, name, replicas, placing.App(name, 100))
		}
		c.RunTo(b, 10*time.Minute)
		if got := c.Placed("app-7"); got[""] > 0 {
			b.Fatalf("%d pods wait", got[""])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(workloads*replicas), "ns/pod")
}

// BenchmarkNoRoom keeps thousands of pods waiting in a full cluster for half an
// hour, in which other pods come and go.
func BenchmarkNoRoom(b *testing.B) {
	for b.Loop() {
		c := placing.New(b, "1.36", false)
		fleet(c, 5000)
		if err := c.Workloads.Seed([]controllers.Workload{{Kind: controllers.Deployment, Namespace: "shop", Name: "web", Replicas: 195_000, Template: placing.App("web", 100)}}, c.Scheduler, c.Running); err != nil {
			b.Fatal(err)
		}
		c.Deploy(b, controllers.Deployment, "big", 5000, placing.App("big", 2000))
		for i := range 1800 {
			c.At(time.Duration(i)*time.Second, func() {
				pods := c.API.PodsOn(fmt.Sprintf("ip-10-%d-%d", i%20, i%250))
				if len(pods) > 0 {
					c.API.DeletePod(pods[0], kube.OwnGrace)
				}
			})
		}
		c.RunTo(b, 30*time.Minute)
	}
}

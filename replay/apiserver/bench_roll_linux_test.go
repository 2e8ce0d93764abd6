package apiserver_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// rollTape writes the tape of the scenario percentage with a thousand nodes, and
// counts the events of each resource.
func rollTape(b *testing.B, set ...scenarios.Setting) (name string, events map[string]int) {
	b.Helper()
	s, err := scenarios.Find("percentage")
	if err != nil {
		b.Fatal(err)
	}
	f, err := s.Document.Resolve(set, nil)
	if err != nil {
		b.Fatal(err)
	}
	name = filepath.Join(b.TempDir(), "percentage.yaml")
	w, err := timeline.Create(name, f.Header())
	if err != nil {
		b.Fatal(err)
	}
	events = map[string]int{}
	sim, err := f.Simulate(func(ev timeline.Event) error {
		if ev.Type.Object() {
			events[ev.Resource]++
		}
		return w.WriteLine(ev)
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := sim.Run(); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return name, events
}

// BenchmarkServeARoll serves the tape of a roll of 1,000 nodes at maximum speed,
// over TLS, to clients in processes of their own: to one that watches nodes, pods and
// PodDisruptionBudgets, and to one that watches pods alone, where every line of the
// tape is read for the pods' events. The limits are 20 µs of the server's processor
// time an event, and 250 MB resident.
func BenchmarkServeARoll(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as nodesim serve
	paths := map[string]string{
		"nodes": "/api/v1/nodes", "pods": "/api/v1/pods", "poddisruptionbudgets": "/apis/policy/v1/poddisruptionbudgets",
	}
	for _, c := range []struct{ pods, watched string }{
		{"240", "nodes,pods,poddisruptionbudgets"}, {"30000", "nodes,pods,poddisruptionbudgets"}, {"30000", "pods"},
	} {
		b.Run("nodes=1000/pods="+c.pods+"/watched="+c.watched, func(b *testing.B) {
			tape, events := rollTape(b, scenarios.Setting{Name: "nodes", Value: "1000"}, scenarios.Setting{Name: "pods", Value: c.pods})
			all := 0
			for b.Loop() {
				most := watchMemory(b)
				at := open(b, tape, true)
				all = 0
				var clients []*many
				for _, resource := range strings.Split(c.watched, ",") {
					all += events[resource]
					clients = append(clients, startMany(b, 1, events[resource], at.url+paths[resource]+"?watch=true", credentials{token: at.token}))
				}
				spent := cpu(b)
				if err := at.player.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
				for _, c := range clients {
					c.done(b)
				}
				b.ReportMetric(float64((cpu(b)-spent).Microseconds())/float64(all), "cpu-µs/event")
				b.ReportMetric(float64(most())/1e6, "MB-resident")
				for _, c := range clients {
					c.leave(b)
				}
				if err := at.leave(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*all)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// watchMemory forgets what the process has held, and says later what it held at
// its most since (proc(5): clear_refs resets VmHWM).
func watchMemory(b *testing.B) func() int64 {
	b.Helper()
	resident(b)
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600); err != nil {
		b.Fatal(err)
	}
	return func() int64 {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			b.Fatal(err)
		}
		_, line, _ := bytes.Cut(status, []byte("VmHWM:"))
		var kb int64
		if _, err := fmt.Sscan(strings.TrimSpace(string(line)), &kb); err != nil {
			b.Fatal(err)
		}
		return kb << 10
	}
}

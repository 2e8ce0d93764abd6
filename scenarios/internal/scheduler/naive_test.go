package scheduler_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

// naiveScheduler judges nodes for a pod by looking at everything, as slowly as may be.
type naiveScheduler struct {
	*placing.Cluster
	zones map[string]string // of volumes, by claim
}

// refuses returns why a pod can't run on a node; nothing where it can.
func (w *naiveScheduler) refuses(p *kube.Pod, n *kube.Node) []string {
	if p.Pinned != "" && p.Pinned != n.Name {
		return []string{"node(s) didn't satisfy plugin(s) [NodeAffinity]"}
	}
	if tolerates, _ := p.Tolerates(kube.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"}); n.Unschedulable && !tolerates {
		return []string{"node(s) were unschedulable"}
	}
	for _, t := range n.Taints {
		if tolerates, _ := p.Tolerates(t); !tolerates && t.Effect != "PreferNoSchedule" {
			return []string{fmt.Sprintf("node(s) had untolerated taint {%s: %s}", t.Key, t.Value)}
		}
	}
	for _, want := range p.Template.NodeSelector {
		if n.Labels.Get(want.Key) != want.Value {
			return []string{"node(s) didn't match Pod's node affinity/selector"}
		}
	}
	var reasons []string
	wantCPU, wantMemory := p.Requests()
	cpu, memory, count := wantCPU, wantMemory, 1
	for _, o := range w.API.Pods() {
		if o.NodeName == n.Name && o != p && !o.Terminal() {
			c, m := o.Requests()
			cpu, memory, count = cpu+c, memory+m, count+1
		}
	}
	quantity := func(name string) int64 {
		q := resource.MustParse(n.Allocatable.Get(name))
		return q.MilliValue()
	}
	if int64(count)*1000 > quantity("pods") {
		reasons = append(reasons, "Too many pods")
	}
	if wantCPU > 0 && cpu > quantity("cpu") {
		reasons = append(reasons, "Insufficient cpu")
	}
	if wantMemory > 0 && memory*1000 > quantity("memory") {
		reasons = append(reasons, "Insufficient memory")
	}
	if reasons != nil {
		return reasons
	}
	zone := n.Labels.Get("topology.kubernetes.io/zone")
	if at := w.zones[p.Claim]; p.Claim != "" && at != "" && at != zone {
		return []string{"node(s) had volume node affinity conflict"}
	}
	for _, s := range p.Template.Spread {
		if s.WhenUnsatisfiable != "DoNotSchedule" {
			continue
		}
		counts := map[string]int{}
		for _, o := range w.API.Nodes() {
			if o.Labels.Holds(p.Template.NodeSelector) {
				counts[o.Labels.Get(s.TopologyKey)] += 0
			}
		}
		for _, o := range w.API.Pods() {
			on := w.API.Node(o.NodeName)
			if on != nil && o != p && !o.Terminating() && !o.Terminal() && o.Labels.Holds(s.Selector) && on.Labels.Holds(p.Template.NodeSelector) {
				counts[on.Labels.Get(s.TopologyKey)]++
			}
		}
		fewest := 1 << 30
		for _, n := range counts {
			fewest = min(fewest, n)
		}
		if counts[n.Labels.Get(s.TopologyKey)]+1-fewest > s.MaxSkew {
			return []string{"node(s) didn't match pod topology spread constraints"}
		}
	}
	return nil
}

// refusedBy returns the first part of FailedScheduling's message, and whether a
// node would do.
func (w *naiveScheduler) refusedBy(p *kube.Pod) (string, bool) {
	counts := map[string]int{}
	nodes := w.API.Nodes()
	if len(nodes) == 0 {
		return "no nodes available to schedule pods", false
	}
	for _, n := range nodes {
		reasons := w.refuses(p, n)
		if reasons == nil {
			return "", true
		}
		for _, r := range reasons {
			counts[r]++
		}
	}
	var parts []string
	for r, n := range counts {
		parts = append(parts, fmt.Sprint(n, " ", r))
	}
	sort.Strings(parts)
	return fmt.Sprintf("0/%d nodes are available: %s.", len(nodes), strings.Join(parts, ", ")), false
}

// TestSchedulerAgainstNaive drives a cluster at random. The scheduler must
// never bind a pod to a node that the twin refuses, must never call a pod
// unschedulable that has a node, must say why in the twin's words, and must
// leave no pod waiting at the end that has a node.
func TestSchedulerAgainstNaive(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := placing.New(t, "1.33", false)
		c.Timings.SchedulerBind = model.Fixed(0)
		w := &naiveScheduler{Cluster: c, zones: map[string]string{}}
		bound, failed := 0, 0
		c.API.WatchPods(func(change kube.Change, old, p *kube.Pod) {
			if change != kube.Modified {
				return
			}
			if old.NodeName == "" && p.NodeName != "" {
				bound++
				if reasons := w.refuses(p, c.API.Node(p.NodeName)); reasons != nil {
					t.Errorf("seed %d at %s: %s is bound to %s: %v", seed, c.Now(), p.Name, p.NodeName, reasons)
				}
				if p.Claim != "" {
					w.zones[p.Claim] = c.API.Node(p.NodeName).Labels.Get("topology.kubernetes.io/zone")
				}
			}
			now := p.Conditions.Get("PodScheduled")
			if now == nil || now.Status != "False" || now == old.Conditions.Get("PodScheduled") {
				return
			}
			if was := old.Conditions.Get("PodScheduled"); was != nil && *was == *now {
				return
			}
			failed++
			want, fits := w.refusedBy(p)
			if fits {
				t.Errorf("seed %d at %s: %s waits and has a node: %s", seed, c.Now(), p.Name, now.Message)
			} else if !strings.HasPrefix(now.Message, want) {
				t.Errorf("seed %d at %s: %s:\n got %q\nwant %q", seed, c.Now(), p.Name, now.Message, want)
			}
		})
		for i := range 5 {
			name := fmt.Sprint("app-", i)
			template := placing.App(name, []int64{0, 100, 700, 1500, 3900}[r.IntN(5)])
			template.Containers[0].Memory = int64(r.IntN(6)) << 30
			if r.IntN(3) == 0 {
				template.NodeSelector = kube.PairsOf(kube.Pair{Key: "pool", Value: []string{"x", "y"}[r.IntN(2)]})
			}
			if r.IntN(3) == 0 {
				template.Tolerations = []kube.Toleration{{Key: "dedicated", Operator: "Exists", Seconds: -1}}
			}
			if key := []string{"", "", "topology.kubernetes.io/zone", "kubernetes.io/hostname"}[r.IntN(4)]; key != "" {
				template.Spread = []kube.Spread{{MaxSkew: 1 + r.IntN(2), TopologyKey: key, WhenUnsatisfiable: "DoNotSchedule", Selector: template.Labels}}
			}
			kind := controllers.Deployment
			switch r.IntN(5) {
			case 0:
				kind, template.Spread = controllers.DaemonSet, nil
			case 1:
				kind, template.Volume = controllers.StatefulSet, "data"
			}
			c.Deploy(t, kind, name, 1+r.IntN(12), template)
		}
		made := 0
		for step := range 60 {
			c.At(time.Duration(step)*1500*time.Millisecond+time.Duration(r.IntN(1000))*time.Microsecond+333, func() {
				nodes := c.API.Nodes()
				pick := func() *kube.Node { return nodes[r.IntN(len(nodes))] }
				switch what := r.IntN(12); {
				case what < 3 || len(nodes) == 0:
					made++
					name := fmt.Sprint("n", made)
					if r.IntN(4) == 0 && made > 1 && c.API.Node(fmt.Sprint("n", made-1)) == nil {
						name = fmt.Sprint("n", made-1) // one that was there before
					}
					c.Node(name, string(rune('a'+r.IntN(3))), func(n *kube.Node) {
						n.Labels = n.Labels.With("pool", []string{"x", "y"}[r.IntN(2)])
						if r.IntN(5) == 0 {
							n.AddTaint(kube.Taint{Key: "dedicated", Value: "db", Effect: []string{"NoSchedule", "PreferNoSchedule"}[r.IntN(2)]})
						}
						if r.IntN(4) == 0 {
							n.Allocatable = n.Allocatable.With("pods", "3")
						}
					})
				case what == 3:
					c.API.DeleteNode(pick())
				case what == 4:
					c.Cordon(pick())
				case what == 5:
					c.API.UpdateNode(pick(), func(n *kube.Node) {
						n.Unschedulable = false
						n.RemoveTaint("node.kubernetes.io/unschedulable", "")
					})
				case what == 6:
					c.API.UpdateNode(pick(), func(n *kube.Node) { n.Labels = n.Labels.With("pool", []string{"x", "y"}[r.IntN(2)]) })
				case what == 7:
					c.API.UpdateNode(pick(), func(n *kube.Node) { n.Allocatable = n.Allocatable.With("cpu", fmt.Sprint(1+r.IntN(6))) })
				case what < 10:
					if pods := c.API.Pods(); len(pods) > 0 {
						c.API.DeletePod(pods[r.IntN(len(pods))], kube.OwnGrace)
					}
				case what == 10:
					if pods := c.API.Pods(); len(pods) > 0 {
						if p := pods[r.IntN(len(pods))]; p.NodeName != "" {
							c.API.UpdatePod(p, func(p *kube.Pod) { p.Phase = "Failed" })
						}
					}
				default:
					// A DaemonSet's refusal is what the twin expects.
					_ = c.Scale("shop", fmt.Sprint("app-", r.IntN(5)), r.IntN(14))
				}
			})
		}
		c.RunTo(t, 8*time.Minute)
		for _, p := range c.API.Pods() {
			if _, fits := w.refusedBy(p); p.NodeName == "" && !p.Terminating() && fits {
				t.Errorf("seed %d: %s still waits and has a node", seed, p.Name)
			}
		}
		if bound == 0 || !slices.ContainsFunc(c.API.Pods(), func(p *kube.Pod) bool { return p.NodeName != "" }) && failed == 0 {
			t.Errorf("seed %d: nothing happened", seed)
		}
	}
}

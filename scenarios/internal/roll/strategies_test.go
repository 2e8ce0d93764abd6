package roll_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// rolls are the strategies, each on a cluster of its provider with six nodes in
// three zones.
var rolls = []struct {
	name string
	spec spec
}{
	{"plain", spec{strategy: plain, roll: func(c *roll.Config) { c.MaxSurge = 1 }}},
	{"eks-default", spec{strategy: eksDefault, roll: func(c *roll.Config) { c.MaxUnavailable, c.Settle = 1, time.Minute }}},
	{"eks-minimal", spec{strategy: eksMinimal, roll: func(c *roll.Config) { c.MaxUnavailable, c.Settle = 1, time.Minute }}},
	{"karpenter-drift", spec{provider: model.Karpenter, detached: true, strategy: karpenterDrift, roll: func(c *roll.Config) { c.Budget, c.EvictionTimeout = 1, 0 }}},
	{"gke-surge", spec{provider: model.GKE, strategy: gkeSurge, roll: func(c *roll.Config) { c.MaxSurge, c.EvictionTimeout = 1, time.Hour }}},
	{"gke-blue-green", spec{provider: model.GKE, strategy: gkeBlueGreen, roll: func(c *roll.Config) { c.MaxUnavailable, c.EvictionTimeout, c.Soak = 2, time.Hour, time.Hour }}},
	{"aks-reimage", spec{provider: model.AKS, strategy: aksReimage, roll: func(c *roll.Config) {
		c.MaxSurge, c.EvictionTimeout, c.Soak = 1, 30*time.Minute, 5*time.Minute
	}}},
	{"capi", spec{provider: model.CAPI, detached: true, strategy: capi, roll: func(c *roll.Config) { c.MaxSurge, c.EvictionTimeout, c.JoinTimeout = 1, 0, 0 }}},
	{"kops", spec{provider: model.KOps, strategy: kops, roll: func(c *roll.Config) { c.MaxSurge, c.Settle = 1, 5*time.Second }}},
}

// fact is something of which a roll's tape tells by which strategy it was made.
type fact struct {
	of, says string
	holds    func(c *cluster) bool
}

// facts are what each strategy does and no other. Their sources stand with the
// strategies.
var facts = []fact{
	{"plain", "one old node at a time is cordoned, unlabelled and untainted, and the cloud controller manager finds it gone", func(c *cluster) bool {
		return c.apart("cordoned") && c.onlyControllersTaint() && len(c.moved("excluded true")) == 0 &&
			len(c.reported("DeletingNode")) == 6 && c.fresh() == 6 && len(c.moved("cordoned")) == 6
	}},
	{"eks-default", "all old nodes are cordoned in one pass, labelled, before the first eviction, and in the end new nodes go", func(c *cluster) bool {
		return c.allCordonedBefore("evicted") && len(c.moved("excluded true")) > 6 && slices.ContainsFunc(c.moved("node-deleted"), c.isNew)
	}},
	{"eks-minimal", "there are never more nodes than the group's size, and never as many while one goes", func(c *cluster) bool {
		return c.most == 6 && c.least == 5
	}},
	{"karpenter-drift", "old nodes are tainted karpenter.sh/disrupted and never cordoned", func(c *cluster) bool {
		return len(c.moved("tainted karpenter.sh/disrupted:NoSchedule")) == 6 && len(c.moved("cordoned")) == 0
	}},
	{"karpenter-drift", "a NodeClaim tells of each step", func(c *cluster) bool {
		return len(c.reported("DisruptionLaunching")) == 6 && len(c.reported("DisruptionTerminating")) == 12 && len(c.claims) == 6
	}},
	{"gke-surge", "one old node at a time is cordoned, and its Node is deleted by the one that deleted its machine", func(c *cluster) bool {
		return c.apart("cordoned") && len(c.moved("cordoned")) == 6 && len(c.reported("DeletingNode")) == 0 &&
			len(c.reported("SuccessfulDrainNode")) == 0 && !c.reused()
	}},
	{"gke-blue-green", "there are twice as many nodes, all old ones are cordoned, and all go an hour after the last drain", func(c *cluster) bool {
		deleted, evicted := c.moved("node-deleted"), c.moved("evicted")
		return c.most == 12 && c.allCordonedBefore("evicted") && len(deleted) == 6 &&
			deleted[0].at-evicted[len(evicted)-1].at >= time.Hour && deleted[5].at-deleted[0].at < 3*time.Minute
	}},
	{"aks-reimage", "nodes come back under their names, as new Nodes", func(c *cluster) bool { return c.reused() }},
	{"aks-reimage", "the upgrader tells of each step, in order", func(c *cluster) bool {
		want := []string{"Draining node: N", "Soak duration 5m0s after draining node: N", "Deleting node N from API server", "Successfully reimaged node: N", "Successfully upgraded node: N"}
		stories := map[string][]string{}
		for _, e := range c.events {
			if strings.HasPrefix(e.source_, "upgrader") && e.reason != "Surge" {
				stories[e.name] = append(stories[e.name], strings.ReplaceAll(e.message, e.name, "N"))
			}
		}
		for _, s := range stories {
			if !slices.Equal(s, want) {
				return false
			}
		}
		return len(stories) == 6 && len(c.reported("Surge")) == 1
	}},
	{"capi", "old nodes are tainted outdated-revision, and a Machine tells of its node's drain", func(c *cluster) bool {
		return len(c.moved("tainted node.cluster.x-k8s.io/outdated-revision:PreferNoSchedule")) == 6 &&
			len(c.reported("SuccessfulDrainNode")) == 6 && len(c.reported("NodeVolumesDetached")) == 6 && len(c.reported("DeletingNode")) == 0
	}},
	{"kops", "all old nodes but one are tainted scheduled-for-update", func(c *cluster) bool {
		return len(c.moved("tainted kops.k8s.io/scheduled-for-update:PreferNoSchedule")) == 5
	}},
}

// TestFacts rolls a cluster with each strategy, and checks that the facts of a
// strategy are true of it and of no other.
func TestFacts(t *testing.T) {
	done := make([]*cluster, len(rolls))
	for k, r := range rolls {
		s := r.spec
		s.nodes, s.zones, s.pods, s.seed = 6, 3, 24, 11
		c := newCluster(t, s)
		c.watchSize()
		if out := c.rolled(12 * time.Hour); out.Failed {
			t.Fatalf("%s: %+v\n%s", r.name, out, c.story())
		}
		done[k] = c
		if n := len(c.API.Nodes()); n != 6 {
			t.Errorf("%s: %d nodes in the end\n%s", r.name, n, c.story())
		}
		for _, n := range c.API.Nodes() {
			if !strings.HasPrefix(n.Info.KubeletVersion, "v1.33.7") || !n.Ready() || n.Unschedulable || n.Terminating() {
				t.Errorf("%s: %s runs %s, ready %v, unschedulable %v", r.name, n.Name, n.Info.KubeletVersion, n.Ready(), n.Unschedulable)
			}
		}
		for _, p := range c.API.Pods() {
			if !p.Ready() {
				t.Errorf("%s: pod %s on %q is not ready in the end", r.name, p.Name, p.NodeName)
			}
		}
	}
	for _, f := range facts {
		for k, r := range rolls {
			if got := f.holds(done[k]); got != (r.name == f.of) {
				t.Errorf("%q of %s: %v for %s\n%s", f.says, f.of, got, r.name, done[k].brief())
			}
		}
	}
}

// TestForced is what only a forced update does: under a budget that allows
// nothing, it deletes pods without evicting them, after the time that evictions
// had.
func TestForced(t *testing.T) {
	for _, force := range []bool{false, true} {
		s := eksSpec()
		s.budget = "24"
		s.roll = func(c *roll.Config) { c.MaxUnavailable, c.Settle, c.Force = 1, time.Minute, force }
		c := newCluster(t, s)
		out := c.rolled(12 * time.Hour)
		if out.Failed == force {
			t.Errorf("force %v: %+v", force, out)
		}
		if n := len(c.moved("deleted")); (n > 0) != force {
			t.Errorf("force %v: %d pods deleted", force, n)
		}
	}
}

// watchSize keeps the most and the fewest nodes that there are.
func (c *cluster) watchSize() {
	c.least = len(c.API.Nodes())
	c.steps = append(c.steps, func() {
		c.most, c.least = max(c.most, len(c.API.Nodes())), min(c.least, len(c.API.Nodes()))
	})
}

func (c *cluster) isNew(m move) bool { return !c.old[m.uid] }

// fresh counts the new nodes that joined.
func (c *cluster) fresh() int { return len(c.moved("node-added")) }

// reused reports whether a name came back with another UID.
func (c *cluster) reused() bool {
	gone := map[string]string{}
	for _, m := range c.moved("node-deleted") {
		gone[m.name] = m.uid
	}
	return slices.ContainsFunc(c.moved("node-added"), func(m move) bool { return gone[m.name] != "" && gone[m.name] != m.uid })
}

// apart reports whether old nodes met something each after the one before was
// gone, or nearly so: not two within a minute.
func (c *cluster) apart(what string) bool {
	all := c.moved(what)
	for k := 1; k < len(all); k++ {
		if all[k].at-all[k-1].at < 30*time.Second {
			return false
		}
	}
	return len(all) > 1
}

// allCordonedBefore reports whether the six old nodes were cordoned within ten
// seconds, before the first of something.
func (c *cluster) allCordonedBefore(what string) bool {
	cordoned, then := c.moved("cordoned"), c.moved(what)
	return len(cordoned) >= 6 && len(then) > 0 && cordoned[5].at-cordoned[0].at < 10*time.Second && cordoned[5].at <= then[0].at &&
		!slices.ContainsFunc(cordoned[:6], c.isNew)
}

// onlyControllersTaint reports whether nobody but Kubernetes' own controllers
// tainted a node.
func (c *cluster) onlyControllersTaint() bool {
	return !slices.ContainsFunc(c.moves, func(m move) bool {
		return strings.HasPrefix(m.what, "tainted ") && !strings.HasPrefix(m.what, "tainted node.kubernetes.io/")
	})
}

// brief is the story without the pods.
func (c *cluster) brief() string {
	var b strings.Builder
	fmt.Fprintf(&b, "most %d, fewest %d\n", c.most, c.least)
	for _, line := range strings.SplitAfter(c.story(), "\n") {
		if !strings.Contains(line, " evicted ") && !strings.Contains(line, "untainted") {
			b.WriteString(line)
		}
	}
	for _, e := range c.events {
		switch e.reason {
		case "DeletingNode", "DisruptionBlocked", "Surge", "Drain", "Upgrade", "SuccessfulDrainNode", "NodeVolumesDetached", "DisruptionLaunching", "DisruptionTerminating":
			fmt.Fprintf(&b, "%9v %s %s %s %s\n", e.at.Round(time.Second), e.reason, e.kind, e.name, e.message)
		}
	}
	return b.String()
}

// TestBounds holds the bounds of each strategy at every step, for random sizes:
// how many nodes there are, how many of them serve, how many new ones are on
// their way, and how many are drained.
func TestBounds(t *testing.T) {
	for seed := range uint64(6) {
		for _, r := range rolls {
			chance := model.NewStream(seed, r.name)
			s := r.spec
			s.nodes, s.zones, s.seed, s.jitter = 1+int(chance.N(7)), 1+int(chance.N(3)), seed, 100
			s.pods = s.nodes * 3
			surge, unavailable := 1+int(chance.N(3)), 1+int(chance.N(2))
			var most, serving, joining, draining int
			tune := s.roll
			s.roll = func(c *roll.Config) {
				tune(c)
				c.Soak = min(c.Soak, time.Minute)
				switch r.name {
				case "eks-default":
					c.MaxUnavailable = unavailable
					most, serving = s.nodes+max(2*s.zones, unavailable), s.nodes-unavailable
					joining, draining = max(2*s.zones, unavailable), unavailable
				case "eks-minimal":
					c.MaxUnavailable = unavailable
					most, serving = s.nodes, s.nodes-unavailable
					joining, draining = unavailable, unavailable
				case "karpenter-drift":
					c.Budget = unavailable
					most, serving = s.nodes+unavailable, s.nodes-unavailable
					joining, draining = unavailable, unavailable
				case "gke-blue-green":
					c.MaxUnavailable = unavailable
					most, serving = 2*s.nodes, s.nodes
					joining, draining = s.nodes, unavailable
				default:
					c.MaxSurge = surge
					most, serving = s.nodes+surge, s.nodes
					joining, draining = surge, surge
				}
			}
			c := newCluster(t, s)
			c.run(0) // settle what is seeded
			broken := ""
			c.steps = append(c.steps, func() {
				live, ready, coming := 0, 0, 0
				for _, i := range c.group.Instances() {
					if i.State == cloud.ShuttingDown {
						continue
					}
					live++
					if n := c.API.Node(i.Name); i.Template.Version == c.to.Version && (n == nil || !n.Ready()) {
						coming++
					}
					if n := c.API.Node(i.Name); n != nil && n.Ready() && !n.Terminating() {
						ready++
					}
				}
				busy := c.draining()
				if broken == "" && (live > most || ready < serving || coming > joining || busy > draining) {
					broken = fmt.Sprintf("at %v there are %d nodes of at most %d, %d serve of at least %d, %d of at most %d are coming, %d of at most %d are drained",
						c.Now(), live, most, ready, serving, coming, joining, busy, draining)
				}
			})
			out := c.rolled(24 * time.Hour)
			if out.Failed || broken != "" || len(c.API.Nodes()) != s.nodes {
				t.Errorf("%s with %d nodes in %d zones, surge %d, unavailable %d, seed %d: %+v, %d nodes in the end; %s\n%s",
					r.name, s.nodes, s.zones, surge, unavailable, seed, out, len(c.API.Nodes()), broken, c.brief())
				return
			}
		}
	}
}

// draining counts the nodes from which an evicted pod is still to go.
func (c *cluster) draining() int {
	nodes := map[string]bool{}
	for _, p := range c.API.Pods() {
		if d := p.Conditions.Get("DisruptionTarget"); p.Terminating() && d != nil && d.Reason == "EvictionByEvictionAPI" {
			nodes[p.NodeName] = true
		}
	}
	return len(nodes)
}

// TestSameSeedSameRoll rolls twice and compares all that happened; another seed
// is another story.
func TestSameSeedSameRoll(t *testing.T) {
	for _, r := range rolls {
		story := func(seed uint64) string {
			s := r.spec
			s.nodes, s.zones, s.pods, s.seed, s.jitter = 4, 2, 12, seed, 100
			c := newCluster(t, s)
			c.rolled(12 * time.Hour)
			return c.story() + fmt.Sprint(c.events, c.API.Version())
		}
		first, again := story(1), story(1)
		if first != again {
			t.Errorf("%s: two rolls of one seed differ", r.name)
		}
		if first == story(2) {
			t.Errorf("%s: two seeds tell the same story", r.name)
		}
	}
}

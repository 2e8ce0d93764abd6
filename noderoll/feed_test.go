package noderoll_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/noderoll"
)

// story plays changes into a Feed, a second apart, and collects the lines.
type story struct {
	t     *testing.T
	feed  *noderoll.Feed
	at    time.Duration
	lines []string
}

func newStory(t *testing.T, opts noderoll.FeedOptions) *story {
	return &story{t: t, feed: noderoll.NewFeed(opts)}
}

func (s *story) take(es []noderoll.Entry) {
	for _, e := range es {
		s.lines = append(s.lines, e.String())
	}
}

func (s *story) later(d time.Duration) *story { s.at += d; return s }

func (s *story) settle() *story {
	for _, resource := range []string{noderoll.Nodes, noderoll.Pods, noderoll.Budgets, noderoll.Events} {
		s.take(s.feed.Synced(s.at, resource))
	}
	return s.later(time.Second)
}

func (s *story) node(n noderoll.Node) *story {
	if n.UID == "" {
		n.UID = "uid-" + n.Name
	}
	s.take(s.feed.SetNode(s.at, n))
	return s.later(time.Second)
}

func (s *story) gone(name string) *story {
	s.take(s.feed.DeleteNode(s.at, name, ""))
	return s.later(time.Second)
}

func (s *story) pod(name, node string, change ...func(*noderoll.Pod)) *story {
	p := noderoll.Pod{Namespace: "shop", Name: name, UID: "uid-" + name, Node: node, Phase: "Running", Ready: true, Labels: map[string]string{"app": "web"}}
	for _, c := range change {
		c(&p)
	}
	s.take(s.feed.SetPod(s.at, p))
	return s.later(time.Second)
}

func (s *story) podGone(name string) *story {
	s.take(s.feed.DeletePod(s.at, "shop", name, ""))
	return s.later(time.Second)
}

func (s *story) budget(name string, allowed int32, change ...func(*noderoll.Budget)) *story {
	b := noderoll.Budget{
		Namespace: "shop", Name: name, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		DisruptionsAllowed: allowed, CurrentHealthy: 10 + allowed, DesiredHealthy: 10,
	}
	for _, c := range change {
		c(&b)
	}
	s.take(s.feed.SetBudget(s.at, b))
	return s.later(time.Second)
}

func (s *story) want(lines ...string) {
	s.t.Helper()
	if diff := cmp.Diff(lines, s.lines); diff != "" {
		s.t.Errorf("feed (-want +got):\n%s", diff)
	}
}

// node of an image, ready unless changed.
func feedNode(name, image string, change ...func(*noderoll.Node)) noderoll.Node {
	n := noderoll.Node{Name: name, Ready: "True", Labels: map[string]string{noderoll.LabelNodegroup: group, noderoll.LabelImage: image}}
	for _, c := range change {
		c(&n)
	}
	return n
}

func cordon(n *noderoll.Node) { n.Unschedulable = true }

func silent(n *noderoll.Node) {
	n.Ready, n.ReadyReason, n.ReadyMessage = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
}

func starting(n *noderoll.Node) { n.Ready = "False" }

func TestFeedTellsARoll(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{Verbose: true})
	s.node(feedNode("a", oldImage)).node(feedNode("b", oldImage)).pod("web-1", "a").settle()
	s.node(feedNode("c", newImage, starting)).node(feedNode("c", newImage))
	s.node(feedNode("a", oldImage, cordon)).podGone("web-1").gone("a")
	s.node(feedNode("b", oldImage, cordon)).gone("b").node(feedNode("d", newImage))
	s.want(
		"T+4.000s     joining     c",
		"T+5.000s     online      c",
		"T+6.000s     cordoned    a",
		"T+7.000s     draining    a",
		"T+7.000s     evicted     a                 Pod/shop/web-1",
		"T+8.000s     terminated  a",
		"T+9.000s     cordoned    b",
		"T+10.000s    terminated  b",
		"T+11.000s    online      d",
		"T+11.000s    complete    -                 2 nodes on target",
	)
}

func TestFeedSeedsWithWhatIsThere(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{Verbose: true})
	s.node(feedNode("a", oldImage, cordon)).node(feedNode("b", newImage, starting))
	s.take(s.feed.SetEvent(s.at, noderoll.EventRecord{Name: "old", Type: "Warning", Kind: "Node", ObjectName: "a", Reason: "Old"}))
	s.settle()
	s.want()
	s.node(feedNode("b", newImage))
	s.want("T+3.000s     online      b")
}

func TestFeedOfAVanishedNode(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).settle()
	s.node(feedNode("a", oldImage, silent)).node(feedNode("a", oldImage)).node(feedNode("a", oldImage, silent)).gone("a")
	s.want(
		"T+2.000s     notready    a                 NodeStatusUnknown  Kubelet stopped posting node status.",
		"T+3.000s     online      a",
		"T+4.000s     notready    a                 NodeStatusUnknown  Kubelet stopped posting node status.",
		"T+5.000s     terminated  a",
	)
}

func TestFeedOfANodeReimagedInPlace(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).settle()
	s.node(feedNode("a", oldImage, cordon))
	s.node(feedNode("a", newImage, starting, func(n *noderoll.Node) { n.UID = "another" }))
	s.node(feedNode("a", newImage, func(n *noderoll.Node) { n.UID = "another" }))
	s.want(
		"T+2.000s     cordoned    a",
		"T+3.000s     terminated  a",
		"T+3.000s     joining     a",
		"T+4.000s     online      a",
		"T+4.000s     complete    -                 1 node on target",
	)
}

// A late deletion of the former node must not take the new one along.
func TestFeedIgnoresLateDeletions(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).settle()
	s.take(s.feed.DeleteNode(s.at, "a", "former"))
	s.take(s.feed.DeleteNode(s.at, "unknown", ""))
	s.want()
}

func TestFeedBlockedAfterTenSeconds(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{Verbose: true})
	s.node(feedNode("a", oldImage)).pod("web-1", "a").pod("web-2", "a").budget("web", 0).settle()
	s.node(feedNode("a", oldImage, cordon)) // at 5 s
	if at, ok := s.feed.NextDeadline(); !ok || at != 15*time.Second {
		t.Errorf("deadline %s, %v; want 15s", at, ok)
	}
	s.later(14*time.Second).budget("web", 1) // at 20 s
	if _, ok := s.feed.NextDeadline(); ok {
		t.Error("a deadline, though nothing waits")
	}
	s.want(
		"T+5.000s     cordoned    a",
		"T+15.000s    blocked     a                 PodDisruptionBudget/shop/web  DisruptionBudget  needs 10 healthy pods and has 10; 2 pods wait",
		"T+20.000s    unblocked   a",
	)
}

func TestWhatBlocksADrain(t *testing.T) {
	unready := func(p *noderoll.Pod) { p.Ready = false }
	leaving := func(p *noderoll.Pod) { p.Deleting = true }
	pending := func(p *noderoll.Pod) { p.Phase = "Pending" }
	other := func(p *noderoll.Pod) { p.Labels = map[string]string{"app": "db"} }
	short := func(b *noderoll.Budget) { b.CurrentHealthy = 9 }
	for _, tc := range []struct {
		name string
		play func(*story)
		want bool
	}{
		{"budget allows nothing", func(s *story) { s.pod("web-1", "a").budget("web", 0) }, true},
		{"budget allows one", func(s *story) { s.pod("web-1", "a").budget("web", 1) }, false},
		{"no budget", func(s *story) { s.pod("web-1", "a") }, false},
		{"no pods", func(s *story) { s.budget("web", 0) }, false},
		{"one pod is not covered", func(s *story) { s.pod("web-1", "a").pod("db-1", "a", other).budget("web", 0) }, false},
		{"one pod is on its way out", func(s *story) { s.pod("web-1", "a").pod("web-2", "a", leaving).budget("web", 0) }, true},
		{"all pods are on their way out", func(s *story) { s.pod("web-1", "a", leaving).budget("web", 0) }, false},
		{"a pending pod goes unasked", func(s *story) { s.pod("web-1", "a", pending).budget("web", 0) }, false},
		{"DaemonSet pods don't count", func(s *story) {
			s.pod("d", "a", func(p *noderoll.Pod) { p.DaemonSet = true }).budget("web", 0)
		}, false},
		{"an unready pod may go while the budget is met", func(s *story) { s.pod("web-1", "a", unready).budget("web", 0) }, false},
		{"an unready pod stays while it isn't", func(s *story) { s.pod("web-1", "a", unready).budget("web", 0, short) }, true},
		{"AlwaysAllow lets unready pods go", func(s *story) {
			s.pod("web-1", "a", unready).budget("web", 0, short, func(b *noderoll.Budget) { b.EvictUnhealthy = true })
		}, false},
		{"two budgets never let go", func(s *story) { s.pod("web-1", "a").budget("web", 1).budget("web-2", 1) }, true},
		{"the status is older than the spec", func(s *story) {
			s.pod("web-1", "a").budget("web", 1, func(b *noderoll.Budget) { b.Stale = true })
		}, true},
		{"an empty selector covers all", func(s *story) {
			s.pod("web-1", "a").budget("web", 0, func(b *noderoll.Budget) { b.Selector = &metav1.LabelSelector{} })
		}, true},
		{"no selector covers none", func(s *story) {
			s.pod("web-1", "a").budget("web", 0, func(b *noderoll.Budget) { b.Selector = nil })
		}, false},
		{"an invalid selector covers none", func(s *story) {
			s.pod("web-1", "a").budget("web", 0, func(b *noderoll.Budget) {
				b.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Odd"}}}
			})
		}, false},
		{"another namespace", func(s *story) {
			s.pod("web-1", "a").budget("web", 0, func(b *noderoll.Budget) { b.Namespace = "else" })
		}, false},
		{"budget before pods", func(s *story) { s.budget("web", 0).pod("web-1", "a") }, true},
		{"selector is changed away", func(s *story) {
			s.pod("web-1", "a").budget("web", 0).budget("web", 0, func(b *noderoll.Budget) {
				b.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
			})
		}, false},
		{"budget is deleted", func(s *story) {
			s.pod("web-1", "a").budget("web", 0)
			s.take(s.feed.DeleteBudget(s.at, "shop", "web"))
		}, false},
		{"labels are changed away", func(s *story) { s.pod("web-1", "a").budget("web", 0).pod("web-1", "a", other) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, cordonFirst := range []bool{false, true} {
				s := newStory(t, noderoll.FeedOptions{Verbose: true})
				s.node(feedNode("a", oldImage)).settle()
				if cordonFirst {
					s.node(feedNode("a", oldImage, cordon))
				}
				tc.play(s)
				if !cordonFirst {
					s.node(feedNode("a", oldImage, cordon))
				}
				s.take(s.feed.Advance(s.at + time.Minute))
				if got := strings.Contains(strings.Join(s.lines, "\n"), " blocked "); got != tc.want {
					t.Errorf("cordoned first %v: blocked %v, want %v:\n%s", cordonFirst, got, tc.want, strings.Join(s.lines, "\n"))
				}
			}
		})
	}
}

func TestFeedWarnings(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{Verbose: true})
	s.settle()
	event := func(name, node, message string) {
		s.take(s.feed.SetEvent(s.at, noderoll.EventRecord{
			Namespace: "default", Name: name, UID: name, Type: "Warning",
			Kind: "Pod", ObjectNamespace: "shop", ObjectName: "web-1", Host: node, Reason: "BackOff", Message: message,
		}))
		s.later(time.Second)
	}
	event("early", "a", "comes before its node")
	s.node(feedNode("a", oldImage))
	event("x", "a", "once")
	event("x", "a", "once")
	event("x", "a", "changed")
	event("y", "foreign", "not ours")
	s.want(
		"T+2.000s     online      a",
		"T+2.000s     warning     a                 Pod/shop/web-1  BackOff  comes before its node",
		"T+3.000s     warning     a                 Pod/shop/web-1  BackOff  once",
		"T+5.000s     warning     a                 Pod/shop/web-1  BackOff  changed",
	)
}

func TestFeedPressure(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{Verbose: true})
	s.node(feedNode("a", oldImage)).settle()
	s.node(feedNode("a", oldImage, func(n *noderoll.Node) { n.Pressure = noderoll.DiskPressure | noderoll.MemoryPressure }))
	s.node(feedNode("a", oldImage))
	s.want(
		"T+2.000s     pressure    a                 MemoryPressure,DiskPressure",
		"T+3.000s     pressure    a                 None",
	)
}

// Another node of the same name has its own pressure and its own blockade.
func TestFeedOfAReusedName(t *testing.T) {
	reborn := func(n *noderoll.Node) { n.UID = "another" }
	s := newStory(t, noderoll.FeedOptions{Verbose: true})
	s.node(feedNode("a", oldImage)).pod("web-1", "a").budget("web", 0).settle()
	s.node(feedNode("a", oldImage, cordon, func(n *noderoll.Node) { n.Pressure = noderoll.PIDPressure })) // at 4 s
	s.later(15 * time.Second).node(feedNode("a", oldImage, cordon, reborn))                               // at 20 s
	s.later(15*time.Second).budget("web", 1)                                                              // at 36 s
	s.want(
		"T+4.000s     cordoned    a",
		"T+4.000s     pressure    a                 PIDPressure",
		"T+14.000s    blocked     a                 PodDisruptionBudget/shop/web  DisruptionBudget  needs 10 healthy pods and has 10; 1 pod waits",
		"T+20.000s    terminated  a",
		"T+20.000s    cordoned    a",
		"T+30.000s    blocked     a                 PodDisruptionBudget/shop/web  DisruptionBudget  needs 10 healthy pods and has 10; 1 pod waits",
		"T+36.000s    unblocked   a",
	)
}

func TestFeedGap(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).node(feedNode("b", oldImage)).node(feedNode("c", oldImage)).settle()
	s.take(s.feed.Gap(s.at, noderoll.Nodes, "410 Expired: too old resource version"))
	// What a new list finds is one observation, in the order of Tracker.Observe.
	s.gone("c").node(feedNode("d", oldImage)).gone("a").node(feedNode("b", oldImage, cordon))
	s.settle()
	s.want(
		"T+4.000s     gap         -                 nodes  410 Expired: too old resource version",
		"T+8.000s     cordoned    b",
		"T+8.000s     online      d",
		"T+8.000s     terminated  a",
		"T+8.000s     terminated  c",
	)
}

func TestFeedMarksAndFailure(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.take(s.feed.Mark(0, "upgrade-started", ""))
	s.take(s.feed.Mark(time.Second, noderoll.MarkFailed, "PodEvictionFailure"))
	s.take(s.feed.Fail(2*time.Second, "NodeCreationFailure", "new nodes don't join"))
	s.want(
		"T+0.000s     mark        -                 upgrade-started",
		"T+1.000s     failed      -                 PodEvictionFailure",
		"T+2.000s     failed      -                 NodeCreationFailure  new nodes don't join",
	)
}

func TestFeedLevels(t *testing.T) {
	play := func(verbose bool) string {
		s := newStory(t, noderoll.FeedOptions{Verbose: verbose})
		s.node(feedNode("a", oldImage)).pod("web-1", "a").pod("web-2", "a").budget("web", 0).settle()
		s.node(feedNode("a", oldImage, cordon)).later(time.Minute).budget("web", 1).podGone("web-1")
		var out []string
		for _, l := range s.lines {
			out = append(out, strings.Fields(l)[1])
		}
		return strings.Join(out, " ")
	}
	if got := play(false); got != "cordoned blocked unblocked draining" {
		t.Errorf("default: %s", got)
	}
	if got := play(true); got != "cordoned blocked unblocked draining evicted" {
		t.Errorf("verbose: %s", got)
	}
}

// A cordon, or a group that is resized, is no roll.
func TestFeedCompletesOnlyRolls(t *testing.T) {
	for _, tc := range []struct {
		name   string
		target noderoll.Target
		play   func(*story)
		want   int
	}{
		{"cordon and uncordon", noderoll.Target{Image: oldImage}, func(s *story) {
			s.node(feedNode("a", oldImage, cordon)).node(feedNode("a", oldImage))
		}, 0},
		{"scale up", noderoll.Target{}, func(s *story) { s.node(feedNode("b", oldImage)) }, 0},
		{"attached in the middle", noderoll.Target{Image: newImage}, func(s *story) {
			s.node(feedNode("b", newImage)).gone("a")
		}, 1},
		{"resized while it rolls", noderoll.Target{}, func(s *story) {
			s.node(feedNode("b", newImage)).node(feedNode("c", newImage)).node(feedNode("d", newImage)).gone("a").gone("d")
			s.take(s.later(noderoll.StillAfter).feed.Advance(s.at))
		}, 1},
		{"a surge that is still to go", noderoll.Target{}, func(s *story) {
			s.node(feedNode("b", newImage)).node(feedNode("c", newImage)).gone("a").later(noderoll.StillAfter - time.Second).gone("c")
		}, 1},
		{"rolled back", noderoll.Target{}, func(s *story) {
			s.node(feedNode("b", newImage)).gone("a").node(feedNode("c", "ami-third")).gone("b")
		}, 2},
		{"by baseline, same image", noderoll.Target{}, func(s *story) {
			s.node(feedNode("b", oldImage)).gone("a")
		}, 1},
		{"the new node falls silent", noderoll.Target{}, func(s *story) {
			s.node(feedNode("b", newImage)).node(feedNode("b", newImage, silent)).gone("a")
		}, 0},
		{"the group is emptied", noderoll.Target{}, func(s *story) {
			s.node(feedNode("a", oldImage, cordon)).gone("a")
		}, 0},
	} {
		s := newStory(t, noderoll.FeedOptions{StateOptions: noderoll.StateOptions{Target: tc.target}})
		s.node(feedNode("a", oldImage)).settle()
		tc.play(s)
		if got := strings.Count(strings.Join(s.lines, "\n"), " complete "); got != tc.want {
			t.Errorf("%s: complete %d times, want %d:\n%s", tc.name, got, tc.want, strings.Join(s.lines, "\n"))
		}
	}
}

func TestFeedTimeNeverGoesBack(t *testing.T) {
	f := noderoll.NewFeed(noderoll.FeedOptions{})
	f.Synced(10*time.Second, noderoll.Nodes)
	out := f.SetNode(time.Second, feedNode("a", oldImage))
	if len(out) != 1 || out[0].At != 10*time.Second || f.At() != 10*time.Second {
		t.Errorf("got %v at %s, want one entry at 10s", out, f.At())
	}
}

func TestFeedReset(t *testing.T) {
	f := noderoll.NewFeed(noderoll.FeedOptions{})
	play := func() string {
		var out []string
		for i, step := range []func(at time.Duration) []noderoll.Entry{
			func(at time.Duration) []noderoll.Entry { return f.SetNode(at, feedNode("a", oldImage)) },
			func(at time.Duration) []noderoll.Entry { return f.Synced(at, noderoll.Nodes) },
			func(at time.Duration) []noderoll.Entry { return f.SetNode(at, feedNode("a", oldImage, cordon)) },
			func(at time.Duration) []noderoll.Entry { return f.SetNode(at, feedNode("b", newImage)) },
			func(at time.Duration) []noderoll.Entry { return f.DeleteNode(at, "a", "") },
		} {
			for _, e := range step(time.Duration(i) * time.Second) {
				out = append(out, fmt.Sprint(e))
			}
		}
		return strings.Join(out, "\n")
	}
	first := play()
	f.Reset()
	if again := play(); again != first || !strings.Contains(first, "complete") {
		t.Errorf("after Reset:\n%s\nwant what came before:\n%s", again, first)
	}
}

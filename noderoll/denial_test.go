package noderoll_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

func evictedNow(p *noderoll.Pod) { p.Deleting, p.Disruption = true, "EvictionByEvictionAPI" }

func (s *story) refuse(pod string) *story {
	s.take(s.feed.RefuseEviction(s.at, noderoll.Denial{Namespace: "shop", Name: pod, Budget: "web", Message: "needs 2 healthy pods and has 2"}))
	return s.later(time.Second)
}

// The server's word is enough: no budget is known.
func TestRefusalsNeedNoBudget(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).node(feedNode("b", oldImage)).pod("web-1", "a").pod("web-2", "a").pod("other", "b").settle()
	s.refuse("web-1").refuse("nobody") // no drain
	s.node(feedNode("a", oldImage, cordon)).refuse("web-1").later(12 * time.Second)
	s.take(s.feed.Advance(s.at))
	s.pod("web-2", "a", evictedNow).later(20 * time.Second)
	s.pod("web-1", "a", evictedNow)
	s.want(
		"T+8.000s     cordoned    a",
		"T+9.000s     draining    a",
		"T+19.000s    blocked     a                 PodDisruptionBudget/shop/web  DisruptionBudget  needs 2 healthy pods and has 2; 2 pods wait",
		"T+43.000s    unblocked   a",
	)
}

// A budget that had refused and allows the eviction takes the server's word back, and an uncordon
// forgets it.
func TestRefusalsEndWithTheBudget(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).pod("web-1", "a").pod("web-2", "a", func(p *noderoll.Pod) { p.Labels = nil }).budget("web", 0).settle()
	s.node(feedNode("a", oldImage, cordon)).refuse("web-1").later(12 * time.Second)
	s.budget("web", 1).later(20 * time.Second)
	s.budget("web", 0).refuse("web-1").node(feedNode("a", oldImage)).node(feedNode("a", oldImage, cordon)).later(20 * time.Second)
	s.take(s.feed.Advance(s.at))
	s.want(
		"T+5.000s     cordoned    a",
		"T+6.000s     draining    a",
		"T+16.000s    blocked     a                 PodDisruptionBudget/shop/web  DisruptionBudget  needs 2 healthy pods and has 2; 2 pods wait",
		"T+19.000s    unblocked   a",
		"T+42.000s    online      a",
		"T+43.000s    cordoned    a",
	)
}

// What was said of a pod stays while its labels or its readiness change.
func TestRefusalsStayWithThePod(t *testing.T) {
	s := newStory(t, noderoll.FeedOptions{})
	s.node(feedNode("a", oldImage)).pod("web-1", "a").settle().node(feedNode("a", oldImage, cordon)).refuse("web-1")
	s.pod("web-1", "a", func(p *noderoll.Pod) { p.Ready = false }).later(12 * time.Second)
	s.take(s.feed.Advance(s.at))
	if held := s.feed.Snapshot(time.Time{}).Nodes[0].HeldBy; held != "shop/web" {
		t.Errorf("found it held by %q, want shop/web", held)
	}
	s.want(
		"T+3.000s     cordoned    a",
		"T+4.000s     draining    a",
		"T+14.000s    blocked     a                 PodDisruptionBudget/shop/web  DisruptionBudget  needs 2 healthy pods and has 2; 1 pod waits",
	)
}

package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/noderoll"
)

func webPod(name string, phase noderoll.PodPhase, onTarget bool) noderoll.PodView {
	v := noderoll.PodView{
		Namespace: "shop", Name: name, Node: "ip-10-0-1-1" + name[len(name)-1:] + ".eu-west-1.compute.internal", OnTarget: onTarget,
		Ready: phase == noderoll.PodReady || phase == noderoll.PodRestarted, Phase: phase, Configuration: "registry.example/web:1.0.0",
	}
	if onTarget {
		v.Configuration = "registry.example/web:2.0.0"
	}
	return v
}

func podFrame(pods ...noderoll.PodView) Frame {
	s := noderoll.Snapshot{Pods: pods, PodTarget: "registry.example/web:2.0.0"}
	for i := range pods {
		s.PodCounts.Add(&pods[i], 1)
	}
	f := frame(s)
	f.Title, f.Nodegroup, f.Pods = "inplace.tape", "shop/app=web", true
	f.FromImage, f.ToImage = "registry.example/web:1.0.0", "registry.example/web:2.0.0"
	return f
}

// podStory is a roll of pods that shows every phase.
func podStory() Frame {
	failed, restarted, deferred := webPod("web-2", noderoll.PodFailed, true), webPod("web-1", noderoll.PodRestarted, true), webPod("web-6", noderoll.PodResizing, true)
	failed.Reason, restarted.Restarts, deferred.Reason = "ImagePullBackOff", 2, "Deferred"
	back, silent := webPod("web-4", noderoll.PodUpdating, false), webPod("web-5", noderoll.PodNotReady, true)
	back.Reason, silent.Reason = "Rollback", "CrashLoopBackOff"
	f := podFrame(webPod("web-0", noderoll.PodReady, true), restarted, failed, webPod("web-3", noderoll.PodUpdating, true), back, silent, deferred,
		webPod("web-7", noderoll.PodReady, false), webPod("web-8", noderoll.PodStarting, true), webPod("web-9", noderoll.PodTerminating, false))
	at := func(ms int, kind noderoll.EventKind, pod, reason, message string) noderoll.Entry {
		e := entry(ms, kind, "ip-10-0-1-10")
		e.Object, e.Reason, e.Message = "Pod/shop/"+pod, reason, message
		return e
	}
	f.Recent = []noderoll.Entry{
		at(10000, noderoll.EvtUpdated, "web-0", "", ""),
		at(12000, noderoll.EvtRestarted, "web-1", "OOMKilled", "container web"),
		at(31000, noderoll.EvtFailed, "web-2", "ImagePullBackOff", "Back-off pulling image \"registry.example/web:2.0.0\""),
		at(40000, noderoll.EvtUpdating, "web-3", "", "registry.example/web:1.0.0 to registry.example/web:2.0.0"),
		at(41000, noderoll.EvtUpdating, "web-4", "Rollback", "registry.example/web:2.0.0 to registry.example/web:1.0.0"),
		at(60000, noderoll.EvtDeferred, "web-6", "", "Node didn't have enough resource: memory"),
	}
	return f
}

func TestPodPanels(t *testing.T) {
	for _, o := range sizes {
		golden.Assert(t, fmt.Sprintf("pods-%dx%d", o.Width, o.Height), Panel(podStory(), o))
	}
	golden.Assert(t, "pods-ascii", Panel(podStory(), Options{Width: 80, Height: 24, ASCII: true}))
	for _, profile := range []Profile{ANSI, TrueColor} {
		golden.Assert(t, "pods-"+strings.ToLower(profile.String()), Panel(podStory(), Options{Width: 80, Height: 24, Profile: profile}))
	}
	var b strings.Builder
	for _, o := range []Options{{Width: 60, Height: 16}, {Width: 40, Height: 12}, {Width: 24, Height: 8}, {Width: 80, Height: 4}, {Width: 1, Height: 1}} {
		fmt.Fprintf(&b, "== %dx%d ==\n%s\n", o.Width, o.Height, Panel(podStory(), o))
	}
	golden.Assert(t, "pods-small", b.String())
}

// Of many pods those show that something happens to; the rest is counted.
func TestPodCrowd(t *testing.T) {
	var pods []noderoll.PodView
	for i := range 5000 {
		phase := noderoll.PodReady
		if i == 4321 {
			phase = noderoll.PodFailed
		}
		pods = append(pods, webPod(fmt.Sprintf("web-%04d", i), phase, i < 1000))
	}
	f := podFrame(pods...)
	f.Recent = []noderoll.Entry{{Kind: noderoll.EvtUpdated, Node: "n", Object: "Pod/shop/web-0999"}}
	panel := Panel(f, Options{Width: 80, Height: 24})
	wantText(t, panel, "PODS 5,000", "✗ 1 failed", "web-4321", "web-0999", "more   ● 98", "1,000/5,000 updated", "▲ stuck")
	if n := strings.Count(panel, "\n"); n >= 24 {
		t.Errorf("%d lines: want at most 24", n+1)
	}
}

func TestPodRollEnds(t *testing.T) {
	done := podFrame(webPod("web-0", noderoll.PodReady, true), webPod("web-1", noderoll.PodRestarted, true))
	wantText(t, Panel(done, wide), "2/2 updated", "✓ complete")
	done.Snapshot.Pods[0].OnTarget = false
	lackText(t, Panel(done, wide), "complete")
	done.Failed = "web-0: ImagePullBackOff"
	wantText(t, Panel(done, wide), "✗ failed: web-0: ImagePullBackOff")
	wantText(t, Panel(podFrame(), wide), "PODS 0", "no pod that the roll is about")
}

// Pods of several namespaces have theirs before the name, and entries too.
func TestPodsOfNamespaces(t *testing.T) {
	other := webPod("web-1", noderoll.PodReady, true)
	other.Namespace = "stage"
	f := podFrame(webPod("web-0", noderoll.PodReady, true), other)
	f.Recent = []noderoll.Entry{{Kind: noderoll.EvtUpdated, Object: "Pod/stage/web-1"}}
	wantText(t, Panel(f, wide), "● shop/web-0   new", "● stage/web-1 ", "updated     stage/web-1")
}

// Before anything is triggered no pod waits.
func TestPodsWithoutATarget(t *testing.T) {
	f := podFrame(webPod("web-0", noderoll.PodReady, false))
	f.Snapshot.PodTarget = ""
	panel := Panel(f, wide)
	wantText(t, panel, "● 1 ready", "old  ready")
	lackText(t, panel, "waiting")
}

// Whatever a cluster says of its pods, the terminal is the reader's.
func TestHostilePods(t *testing.T) {
	v := webPod("web-0", noderoll.PodFailed, true)
	v.Name, v.Namespace, v.Reason, v.Node = "a\x1b]0;owned\x07", "b\r\n", "\x9b31mred", "\u202egpj"
	v.Configuration = strings.Repeat("\x1b[2J", 30)
	v.Phase = noderoll.PodFailed
	odd := webPod("web-1", "\x1b[31m", false)
	f := podFrame(v, odd)
	f.Recent = []noderoll.Entry{{Kind: noderoll.EvtFailed, Object: "Pod/b\r\n/a\x1b]0;owned\x07", Reason: "\x1b[1m"}, {Kind: noderoll.EvtUpdated, Object: "Pod/"}}
	for _, o := range sizes {
		panel := Panel(f, o)
		if strings.ContainsAny(panel, "\x1b\x07\r\u009b\u202e") {
			t.Errorf("an escape gets through:\n%q", panel)
		}
		for _, line := range strings.Split(panel, "\n") {
			if cells(line) > o.Width {
				t.Errorf("a line of %d cells: %q", cells(line), line)
			}
		}
	}
}

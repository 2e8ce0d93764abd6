package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// The stories that the golden files show. Each is a frame of a roll that has
// happened to a user.

func old(name string) noderoll.NodeView {
	return noderoll.NodeView{Name: name, Ready: true, Phase: noderoll.PhaseReady, Image: "ami-0a1b2c3d4e5f60718"}
}

func fresh(name string) noderoll.NodeView {
	return noderoll.NodeView{Name: name, Ready: true, OnTarget: true, Phase: noderoll.PhaseReady, Image: "ami-0f9e8d7c6b5a43210"}
}

func joining(name string) noderoll.NodeView {
	n := fresh(name)
	n.Ready, n.Phase = false, noderoll.PhaseJoining
	return n
}

func draining(name string, left, total int) noderoll.NodeView {
	n := old(name)
	n.Phase, n.Pods, n.PodsTotal = noderoll.PhaseDraining, left, total
	return n
}

func silent(n noderoll.NodeView) noderoll.NodeView {
	n.Ready, n.Phase = false, noderoll.PhaseNotReady
	return n
}

func snapshot(nodes ...noderoll.NodeView) noderoll.Snapshot {
	s := noderoll.Snapshot{Nodes: nodes}
	s.Tally()
	return s
}

func entry(ms int, kind noderoll.EventKind, node string) noderoll.Entry {
	return noderoll.Entry{At: time.Duration(ms) * time.Millisecond, Kind: kind, Node: node}
}

func frame(s noderoll.Snapshot) Frame {
	return Frame{
		Title: "surge.tape", Nodegroup: "spot-burst", Server: "v1.36.3",
		FromImage: "ami-0a1b2c3d4e5f60718", ToImage: "ami-0f9e8d7c6b5a43210",
		Snapshot: s, Desired: 3, Speed: "20x",
		Position: 92 * time.Second, Duration: 190 * time.Second,
		Hint: "space pause, q quit",
	}
}

// demoFrames are the frames of the demo roll with the transitions that a
// Tracker finds between them, one frame every five seconds.
func demoFrames() []Frame {
	var (
		frames  []Frame
		entries []noderoll.Entry
		tracker = noderoll.NewTracker()
	)
	const step = 5 * time.Second
	timeline := noderoll.DemoTimeline()
	for i, s := range timeline {
		before := len(tracker.Recent(0))
		tracker.Observe(s)
		at := time.Duration(i) * step
		for _, e := range tracker.Recent(0)[before:] {
			entries = append(entries, noderoll.Entry{At: at, Kind: e.Kind, Node: e.Node})
		}
		frames = append(frames, Frame{
			Title: "demo", Nodegroup: "spot-burst", FromImage: "ami-old", ToImage: "ami-new",
			Snapshot: s, Desired: 3, Recent: entries[:len(entries):len(entries)],
			Position: at, Duration: time.Duration(len(timeline)-1) * step, Speed: "1x",
			Hint: "space pause, q quit",
		})
	}
	return frames
}

// A drain is stuck: the budget allows no disruption. The recording says why.
func stuckDrain() Frame {
	stuck := draining("ip-10-0-1-12", 1, 4)
	disk := old("ip-10-0-2-08")
	disk.Pressure = []string{"MemoryPressure", "DiskPressure"}
	f := frame(snapshot(stuck, old("ip-10-0-3-21"), disk, fresh("ip-10-0-1-44"), joining("ip-10-0-2-77")))
	f.Blocked = map[string]string{"ip-10-0-1-12": "shop/web-pdb"}
	blocked := entry(78901, noderoll.EvtBlocked, "ip-10-0-1-12")
	blocked.Object, blocked.Reason = "PodDisruptionBudget/shop/web-pdb", "DisruptionBudget"
	blocked.Message = "needs 10 healthy pods and has 10; 1 pod waits"
	f.Recent = []noderoll.Entry{
		entry(4020, noderoll.EvtJoining, "ip-10-0-1-44"),
		entry(41500, noderoll.EvtOnline, "ip-10-0-1-44"),
		entry(44118, noderoll.EvtDraining, "ip-10-0-1-12"),
		entry(61200, noderoll.EvtJoining, "ip-10-0-2-77"),
		blocked,
	}
	f.Snapshot.Warnings = []noderoll.WarnEvent{
		{Node: "ip-10-0-1-12", Object: "Pod/web-7f9c-x2k8p", Reason: "FailedMount", Message: "MountVolume.SetUp failed for volume \"kube-api-access\" :\n\tobject \"shop\"/\"kube-root-ca.crt\" not registered, and so on and so forth"},
		{Node: "ip-10-0-2-08", Object: "Node/ip-10-0-2-08", Reason: "EvictionThresholdMet", Message: "Attempting to reclaim memory"},
	}
	return f
}

// A spot instance vanishes: its kubelet falls silent, and a replacement joins.
func spotVanish() Frame {
	f := frame(snapshot(
		silent(old("gke-prod-spot-pool-8f3a91c2-x7k2")), old("gke-prod-spot-pool-8f3a91c2-mm4d"),
		fresh("gke-prod-spot-pool-d41d8cd9-0q9z"), joining("gke-prod-spot-pool-d41d8cd9-77aa"),
	))
	f.Live, f.Stale, f.Duration, f.Title = true, "connection refused", 0, "prod-eu-1"
	f.Recent = []noderoll.Entry{
		entry(12400, noderoll.EvtNotReady, "gke-prod-spot-pool-8f3a91c2-x7k2"),
		entry(55750, noderoll.EvtJoining, "gke-prod-spot-pool-d41d8cd9-77aa"),
	}
	f.Snapshot.Warnings = []noderoll.WarnEvent{{
		Node: "gke-prod-spot-pool-8f3a91c2-x7k2", Object: "Node/gke-prod-spot-pool-8f3a91c2-x7k2",
		Reason: "NodeNotReady", Message: "Node is not ready",
	}}
	return f
}

// Names and messages from an attacker that wants to own the terminal, and from
// a user that merely writes in another script.
func hostile() Frame {
	trojan := draining("ip-10-0-1-12\x1b]0;owned\x07\x1b[2J", 1, 4)
	trojan.Image = "\u202egpj.exe"
	pile := old("z" + strings.Repeat("\u0301", 200))
	pile.Pressure = []string{"\x9b31mDisk\u200bPressure"}
	f := frame(snapshot(trojan, pile, fresh("节点-東京-노드"), joining("\u3164\u2800")))
	f.Title, f.Server = "tape\r\nHTTP/1.1 200", "\u009b?1049h"
	message := entry(1500, noderoll.EvtMark, "")
	message.Object, message.Message = "\x1bP+q\x1b\\start", "one\ntwo\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\"
	f.Recent = []noderoll.Entry{message, entry(2500, "\x1b[31mred", "节点-東京-노드")}
	f.Snapshot.Warnings = []noderoll.WarnEvent{{Node: "节点-東京-노드", Object: "Pod/a", Reason: "\u2066Back\u2069Off", Message: "失敗しました: " + strings.Repeat("再試行", 40)}}
	return f
}

// A group of any size in the middle of its roll.
func crowd(n int) Frame {
	nodes := make([]noderoll.NodeView, 0, n)
	for i := range n {
		name := fmt.Sprintf("ip-10-%d-%d-%d.eu-west-1.compute.internal", i/62500, i/250%250, i%250)
		switch {
		case i%400 == 7:
			nodes = append(nodes, draining(name, i%5, 5))
		case i%700 == 11:
			nodes = append(nodes, joining(name))
		case i == n/2:
			nodes = append(nodes, silent(old(name)))
		case i < n/3:
			nodes = append(nodes, fresh(name))
		default:
			nodes = append(nodes, old(name))
		}
	}
	f := frame(snapshot(nodes...))
	f.Desired = n
	f.Recent = []noderoll.Entry{
		entry(88100, noderoll.EvtOnline, nodes[3%n].Name),
		entry(90250, noderoll.EvtDraining, nodes[7%n].Name),
		entry(91750, noderoll.EvtTerminated, "ip-10-9-9-9.eu-west-1.compute.internal"),
	}
	return f
}

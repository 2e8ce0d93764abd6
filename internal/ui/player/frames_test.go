package player_test

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

func TestMain(m *testing.M) { golden.Main(m) }

// roll is a frame in the middle of a roll of n nodes: a third are new, some drain, and a budget holds one of them.
func roll(n int) render.Frame {
	var s noderoll.Snapshot
	for i := range n {
		v := noderoll.NodeView{Name: fmt.Sprintf("ip-10-0-%d-%03d", i/250, i%250), Ready: true, Phase: noderoll.PhaseReady, Image: "ami-old"}
		switch {
		case i < n/3:
			v.OnTarget, v.Image = true, "ami-new"
		case i == n/3 || i%97 == 11:
			v.Phase, v.Pods, v.PodsTotal = noderoll.PhaseDraining, 1, 4
		}
		s.Nodes = append(s.Nodes, v)
	}
	s.Tally()
	held := s.Nodes[n/3].Name
	return render.Frame{
		Title: "percentage", Nodegroup: "workers", Server: "v1.36.3", FromImage: "ami-old", ToImage: "ami-new",
		Snapshot: s, Desired: n, Rolling: true, Blocked: map[string]string{held: "shop/checkout"},
		Recent: []noderoll.Entry{
			{At: 80 * time.Second, Kind: noderoll.EvtDraining, Node: held},
			{At: 90 * time.Second, Kind: noderoll.EvtBlocked, Node: held, Object: "PodDisruptionBudget/shop/checkout"},
		},
		Position: 92 * time.Second, Duration: 190 * time.Second, Speed: "20x", Hint: "space pause, ? keys, q quit",
	}
}

// details are those of a node that is held up.
func details(node string) *render.Details {
	d := &render.Details{
		Node: node, Facts: []string{"m5.large", "eu-west-1a", "kubelet v1.35.0", "age 12d"},
		Taints: []string{"node.kubernetes.io/unschedulable:NoSchedule"},
		Conditions: []render.Condition{
			{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "kubelet is posting ready status", For: "12d"},
			{Type: "MemoryPressure", Status: "True", Reason: "KubeletHasInsufficientMemory", For: "40s", Trouble: true},
		},
		Events: []render.Event{
			{Ago: "2s", Reason: "FailedDraining", Object: "shop/checkout-7d9f", Message: "Cannot evict pod as it would violate the pod's disruption budget.", Warning: true},
			{Ago: "40s", Reason: "NodeNotSchedulable", Message: "Node status is now: NodeNotSchedulable"},
		},
	}
	for i := range 30 {
		d.Pods = append(d.Pods, render.Pod{Name: fmt.Sprintf("shop/web-%02d", i), Ready: "1/1", Status: "Running", For: "3h", Restarts: i % 3})
	}
	d.Pods[1].Status, d.Pods[1].Trouble = "CrashLoopBackOff", true
	return d
}

// screen is a Model with what a test did to it.
type screen struct {
	player.Model
	said []tea.Msg
}

// open is a Model that shows a frame.
func open(f render.Frame, width, height int) *screen {
	s := &screen{Model: player.New(player.Options{Keys: true, Report: "percentage.html"})}
	s.send(player.Shown{Frame: f, Width: width, Height: height})
	return s
}

func (s *screen) send(msg tea.Msg) {
	next, cmd := s.Update(msg)
	s.Model = next.(player.Model)
	if cmd != nil {
		s.said = append(s.said, cmd())
	}
}

// special are the keys that have names.
var special = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "up": tea.KeyUp, "down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome,
	"end": tea.KeyEnd,
}

// press presses keys: named ones, or each character of a text.
func (s *screen) press(words ...string) {
	for _, word := range words {
		if code, is := special[word]; is {
			s.send(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range word {
			s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

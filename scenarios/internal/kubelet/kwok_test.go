package kubelet_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
)

// TestKwok writes once where a kubelet writes often, and reports no events.
func TestKwok(t *testing.T) {
	r := newKubeletRig(t, rigOptions{profile: kubelet.Kwok})
	_, n := r.seed()
	i := r.launch()
	p := r.runningPod("web-1", n.Name, web())
	r.run(time.Second)
	r.pod("web-2", n.Name, web())
	r.wants(r.run(time.Minute), `
		2.02s modified pod web-2 Running Ready=True 100.64.0.2 running
		41.74s added node ip-10-0-0-11 not-ready:NoSchedule
		42.75s modified node ip-10-0-0-11 Running Ready=True`)
	r.API.DeletePod(p, kube.OwnGrace)
	r.wants(r.run(time.Minute), `
		1m2.02s modified pod web-1 grace=0
		1m2.02s deleted pod web-1`)
	for _, n := range []*kube.Node{n, r.API.Node(i.Name)} {
		var kinds []string
		for _, c := range n.Conditions {
			kinds = append(kinds, c.Type)
		}
		want := []string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}
		for at := range want {
			if at >= len(kinds) || kinds[at] != want[at] {
				t.Errorf("conditions %v, want %v", kinds, want)
				break
			}
		}
		if len(n.Addresses) != 1 || n.Addresses[0].Type != "Hostname" || n.KubeletPort != 0 || n.Phase != "Running" {
			t.Errorf("node %+v", n)
		}
	}
	fresh := r.API.Node(i.Name)
	since := fresh.Conditions.Get("Ready").Transition
	r.run(6 * time.Minute)
	if c := fresh.Conditions.Get("Ready"); c.Transition != since || c.Heartbeat == since {
		t.Errorf("behind a heartbeat: %+v, want the transition of %v and a later heartbeat", c, since.Time())
	}
	r.readBack()
}

// TestKwokWakes plays the stages again after a silence.
func TestKwokWakes(t *testing.T) {
	r := newKubeletRig(t, rigOptions{profile: kubelet.Kwok})
	i, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.run(time.Second)
	start := r.API.Now()
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.KubeletDown = true })
	r.run(time.Second)
	for _, o := range []func(){
		func() {
			r.API.UpdateNode(n, func(n *kube.Node) { n.Conditions = n.Conditions.Set(kube.Condition{Type: "Ready", Status: "Unknown"}) })
		},
		func() {
			r.API.UpdatePod(p, func(p *kube.Pod) { p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "False"}) })
		},
	} {
		o()
	}
	r.run(time.Minute)
	if n.Ready() || p.Ready() {
		t.Fatal("a silent kubelet has written")
	}
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.KubeletDown = false })
	r.run(5 * time.Second)
	if !n.Ready() || !p.Ready() {
		t.Errorf("ready: node %v, pod %v", n.Ready(), p.Ready())
	}
	for _, c := range p.Conditions {
		if moved := c.Transition > start; moved != (c.Type == "Ready") {
			t.Errorf("transition of %s moved: %v, want that of Ready alone", c.Type, moved)
		}
	}
}

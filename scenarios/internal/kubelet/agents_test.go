package kubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// TestANodeWaitsForItsAgents has pods that are late: the node's network comes up
// after the plugin's container, and kube-proxy's Event after its own.
func TestANodeWaitsForItsAgents(t *testing.T) {
	agent := func(of *component.PodTraits, names ...string) *kube.Template {
		a := web()
		a.HostNetwork, a.Workload, a.Containers = true, of, nil
		for _, name := range names {
			a.Containers = append(a.Containers, kube.ContainerSpec{Name: name, Image: "registry.example/" + name + ":1"})
		}
		return a
	}
	for name, late := range map[string]time.Duration{"in time": 0, "late": 2 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			r := newKubeletRig(t, rigOptions{})
			i := r.launch()
			r.run(42 * time.Second)
			if r.API.Node(i.Name) == nil || r.API.Node(i.Name).Ready() {
				t.Fatal("want a node that isn't ready yet")
			}
			// 40 MB arrive in a second. The first image of a plugin is there in
			// time whatever its size; for the second the node has to wait.
			big := int64(40<<20) * int64(late/time.Second)
			names := []string{"cni"}
			if late > 0 {
				names = []string{"installer", "cni"}
			}
			r.pod("cni-1", i.Name, agent(&component.PodTraits{ImageBytes: big, NetworkPlugin: true}, names...))
			r.pod("proxy-1", i.Name, agent(&component.PodTraits{ImageBytes: big, NodeProxy: true}, "proxy"))
			at := map[string]int{}
			for n, line := range r.run(10 * time.Minute) {
				for what, part := range map[string]string{
					"cni": "Started container cni", "proxy": "Started container proxy", "ready": "Normal NodeReady", "reported": "ip-10-0-0-10 Normal Starting:",
				} {
					if strings.Contains(line, part) {
						at[what] = n + 1
					}
				}
			}
			if at["cni"] == 0 || at["ready"] < at["cni"] || at["proxy"] == 0 || at["reported"] < at["proxy"] {
				t.Errorf("lines %v: want the node ready after the start of its plugin, and kube-proxy reported after its own", at)
			}
			r.readBack()
		})
	}
}

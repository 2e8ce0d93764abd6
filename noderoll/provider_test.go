package noderoll_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/noderoll"
)

// nodesOfProviders are nodes as each provider makes them, old and new.
var nodesOfProviders = []struct {
	provider, pool string
	old, new       noderoll.Node
	target         string // what a user would type for new
}{
	{"eks", "workers",
		noderoll.Node{Labels: map[string]string{"eks.amazonaws.com/nodegroup": "workers", "eks.amazonaws.com/nodegroup-image": "ami-0a1b"}, KubeletVersion: "v1.33.4-eks-1"},
		noderoll.Node{Labels: map[string]string{"eks.amazonaws.com/nodegroup": "workers", "eks.amazonaws.com/nodegroup-image": "ami-0f9e"}, KubeletVersion: "v1.33.4-eks-1"},
		"ami-0f9e"},
	{"karpenter", "default",
		noderoll.Node{Labels: map[string]string{"karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true"}, Annotations: map[string]string{"karpenter.k8s.aws/ec2nodeclass-hash": "111"}, KubeletVersion: "v1.32.9-eks-113cf36"},
		noderoll.Node{Labels: map[string]string{"karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true"}, Annotations: map[string]string{"karpenter.k8s.aws/ec2nodeclass-hash": "222"}, KubeletVersion: "v1.32.9-eks-113cf36"},
		"222"},
	{"gke", "pool-1",
		noderoll.Node{Labels: map[string]string{"cloud.google.com/gke-nodepool": "pool-1"}, KubeletVersion: "v1.29.5-gke.1091000", OSImage: "Container-Optimized OS from Google"},
		noderoll.Node{Labels: map[string]string{"cloud.google.com/gke-nodepool": "pool-1"}, KubeletVersion: "v1.30.1-gke.1329000", OSImage: "Container-Optimized OS from Google"},
		"v1.30.1-gke.1329000"},
	{"aks", "nodepool1",
		noderoll.Node{Labels: map[string]string{"agentpool": "nodepool1", "kubernetes.azure.com/node-image-version": "AKSUbuntu-2204gen2containerd-202403.25.0"}},
		noderoll.Node{Labels: map[string]string{"kubernetes.azure.com/agentpool": "nodepool1", "kubernetes.azure.com/node-image-version": "AKSUbuntu-2204gen2containerd-202404.09.0"}},
		"AKSUbuntu-2204gen2containerd-202404.09.0"},
	{"kops", "nodes-us-east-1a",
		noderoll.Node{Labels: map[string]string{"kops.k8s.io/instancegroup": "nodes-us-east-1a"}, KubeletVersion: "v1.31.1", OSImage: "Ubuntu 22.04.4 LTS"},
		noderoll.Node{Labels: map[string]string{"kops.k8s.io/instancegroup": "nodes-us-east-1a"}, KubeletVersion: "v1.31.1", OSImage: "Ubuntu 24.04.1 LTS"},
		"Ubuntu 24.04.1 LTS"},
	{"capi", "md-0",
		noderoll.Node{Annotations: map[string]string{"cluster.x-k8s.io/owner-kind": "MachineSet", "cluster.x-k8s.io/owner-name": "md-0-7c6f"}, KubeletVersion: "v1.31.1"},
		noderoll.Node{Annotations: map[string]string{"cluster.x-k8s.io/owner-kind": "MachineSet", "cluster.x-k8s.io/owner-name": "md-0-9d8k"}, KubeletVersion: "v1.31.1"},
		"md-0-9d8k"},
}

func TestProvidersTellPoolAndImage(t *testing.T) {
	for _, tc := range nodesOfProviders {
		t.Run(tc.provider, func(t *testing.T) {
			p, err := noderoll.ProviderByName(tc.provider)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []noderoll.Node{tc.old, tc.new} {
				if got := noderoll.Detect(&n).Name; got != tc.provider {
					t.Errorf("detected %q, want %q", got, tc.provider)
				}
				if got := p.Pool(&n); got != tc.pool {
					t.Errorf("pool %q, want %q", got, tc.pool)
				}
			}
			if p.Image(&tc.old) == p.Image(&tc.new) {
				t.Errorf("old and new image are the same: %s", p.Image(&tc.old))
			}
			if p.Image(&tc.old).Matches(tc.target) || !p.Image(&tc.new).Matches(tc.target) {
				t.Errorf("target %q: want it to match %s and not %s", tc.target, p.Image(&tc.new), p.Image(&tc.old))
			}
			if p.Image(&tc.new).Matches("") {
				t.Error("an empty target matches")
			}
		})
	}
}

// Each provider's roll is recognised without being told pool, image or
// provider: the Feed's default.
func TestFeedFindsTheTargetOfEachProvider(t *testing.T) {
	for _, tc := range nodesOfProviders {
		t.Run(tc.provider, func(t *testing.T) {
			f := noderoll.NewFeed(noderoll.FeedOptions{})
			set := func(n noderoll.Node, name string) {
				n.Name, n.UID, n.Ready = name, "uid-"+name, "True"
				f.SetNode(0, n)
			}
			set(tc.old, "a")
			f.Synced(0, noderoll.Nodes)
			set(tc.new, "b")
			s := f.Snapshot(epoch)
			if s.Nodes[0].OnTarget || !s.Nodes[1].OnTarget {
				t.Errorf("on target: old %v, new %v, want false, true", s.Nodes[0].OnTarget, s.Nodes[1].OnTarget)
			}
			out := f.DeleteNode(0, "a", "")
			if tc.provider == "aks" { // b is the surge node, and a comes back under its name
				if got := kinds(out); got != "terminated" {
					t.Errorf("before a is back: got %q, want terminated", got)
				}
				again := tc.new
				again.Name, again.UID, again.Ready = "a", "uid-again", "True"
				f.SetNode(0, again)
				out = f.DeleteNode(0, "b", "")
			}
			if got := kinds(out); got != "terminated complete" {
				t.Errorf("got %q, want terminated complete", got)
			}
		})
	}
}

func TestGenericNodesHaveNoPool(t *testing.T) {
	n := noderoll.Node{Labels: map[string]string{"kubernetes.io/os": "linux"}, KubeletVersion: "v1.36.3", OSImage: "Debian GNU/Linux 12"}
	p := noderoll.Detect(&n)
	if p.Name != noderoll.Generic().Name || p.Pool(&n) != "" || p.IsAuto() {
		t.Errorf("got provider %q, pool %q", p.Name, p.Pool(&n))
	}
	if got := p.Image(&n).String(); got != "v1.36.3 / Debian GNU/Linux 12" {
		t.Errorf("image %q", got)
	}
}

func TestProviderByNameNamesTheKnown(t *testing.T) {
	if p, err := noderoll.ProviderByName("auto"); err != nil || !p.IsAuto() {
		t.Errorf("auto: got %+v, %v", p, err)
	}
	_, err := noderoll.ProviderByName("esk")
	if err == nil || !strings.Contains(err.Error(), `"esk"`) || !strings.Contains(err.Error(), "eks") {
		t.Errorf("got error %v, want one that names what was found and what is known", err)
	}
}

func TestProvidersAreCopies(t *testing.T) {
	noderoll.Providers()[0].PoolLabels[0] = "spoilt"
	if got := noderoll.Providers()[0].PoolLabels[0]; got == "spoilt" {
		t.Error("a caller can write to the table of providers")
	}
}

func TestClusterAPIPoolsOfOtherOwners(t *testing.T) {
	capi, _ := noderoll.ProviderByName("capi")
	for kind, want := range map[string]string{"MachineSet": "a", "MachinePool": "a-b", "KubeadmControlPlane": "a-b"} {
		n := noderoll.Node{Annotations: map[string]string{"cluster.x-k8s.io/owner-kind": kind, "cluster.x-k8s.io/owner-name": "a-b"}}
		if got := capi.Pool(&n); got != want {
			t.Errorf("%s: pool %q, want %q", kind, got, want)
		}
	}
}

func TestOwnLabels(t *testing.T) {
	own := noderoll.Provider{Name: "ours", PoolLabels: []string{"example.com/team"}, ImageLabel: "example.com/image"}
	s := noderoll.NewState(noderoll.StateOptions{Provider: own, Pool: "blue", Target: noderoll.Target{Image: "v2"}})
	for name, team := range map[string]string{"a": "blue", "b": "red"} {
		s.SetNode(noderoll.Node{Name: name, Ready: "True", Labels: map[string]string{"example.com/team": team, "example.com/image": "v2"}})
	}
	if got := s.Snapshot(epoch); got.Total != 1 || got.ReadyTarget != 1 || got.Nodes[0].Image != "v2" {
		t.Errorf("got %+v, want node a alone, on target", got)
	}
}

// Karpenter labels a node at its registration, a second after it has joined: until
// then it is new, and what it was made from is no image that others are compared with.
func TestUnregisteredNodeIsNew(t *testing.T) {
	node := func(name, hash string) noderoll.Node {
		n := noderoll.Node{
			Name: name, UID: "uid-" + name, Labels: map[string]string{"karpenter.sh/nodepool": "spot"},
			Ready: "True", KubeletVersion: "v1.34.8", OSImage: "Linux",
		}
		if n.Annotations = map[string]string{"karpenter.sh/nodepool-hash": hash}; hash == "" {
			n.Annotations, n.TaintKeys, n.Ready = nil, []string{"karpenter.sh/unregistered"}, "False"
		}
		return n
	}
	f := noderoll.NewFeed(noderoll.FeedOptions{})
	at := func(n noderoll.Node, want int, what string) {
		t.Helper()
		f.SetNode(0, n)
		if got := f.OffTarget(); got != want {
			t.Errorf("%s: %d nodes off target, want %d", what, got, want)
		}
	}
	f.SetNode(0, node("a", "one"))
	f.SetNode(0, node("b", "one"))
	f.Synced(0, noderoll.Nodes)
	at(node("c", ""), 2, "a third node joins")
	at(node("c", "one"), 2, "of the same template")
	if old, young := f.Images(); old != young {
		t.Errorf("images %q and %q, want one", old, young)
	}
	at(node("d", ""), 2, "a fourth one joins")
	at(node("d", "two"), 3, "of a new template, so that the third is old")
	at(node("e", ""), 3, "a fifth one joins")
	at(node("e", "two"), 3, "of the new template too")
}

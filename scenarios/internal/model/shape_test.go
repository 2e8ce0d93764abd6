package model

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

// example is a node group of each provider as an operator would have it.
func example(provider Provider) (Shape, Place) {
	sh := Shape{
		Provider: provider, OS: OSes(provider)[0], Version: Version{34, 2}, Cluster: "shop", Group: "web",
		Region: "eu-central-1", CapacityType: Spot, Labels: []Pair{{"team", "checkout"}}, Taints: []Taint{{"dedicated", "web", "NoSchedule"}},
	}
	place := Place{Zone: "eu-central-1b", IP: netip.MustParseAddr("10.0.1.23"), External: netip.MustParseAddr("203.0.113.60"), PodCIDR: netip.MustParsePrefix("10.244.3.0/24")}
	machine := "m6i.large"
	switch provider {
	case EKS:
		sh.LaunchTemplate, sh.LaunchTemplateVersion = "lt-0a1b2c3d4e5f60718", 10
	case GKE:
		sh.Region, sh.Account, place.Zone, machine = "europe-west1", "acme", "europe-west1-b", "e2-standard-4"
	case AKS:
		sh.Region, sh.Account, place.Zone, machine = "westeurope", "0a1b2c3d-0000-4000-8000-00000000acde", "westeurope-2", "Standard_D4s_v5"
		place.Ordinal = 525
	}
	sh.Machine, _ = FindMachine(machine)
	sh.Image = ImageOf(provider, sh.OS, sh.Version, sh.Machine.Arch, "20260714")
	return sh, place
}

func describe(n NodeShape) string {
	var out strings.Builder
	list := func(name string, pairs []Pair) {
		for _, p := range pairs {
			fmt.Fprintf(&out, "  %s %s=%s\n", name, p.Key, p.Value)
		}
	}
	fmt.Fprintf(&out, "%s\n  providerID %s\n  podCIDR %q\n", n.Name, n.ProviderID, n.PodCIDR)
	list("label", n.Labels)
	list("cloud label", n.CloudLabels)
	list("pool label", n.PoolLabels)
	list("CSI label", n.CSILabels)
	list("annotation", n.Annotations)
	list("control annotation", n.ControlAnnotations)
	list("pool annotation", n.PoolAnnotations)
	list("CSI annotation", n.CSIAnnotations)
	for _, taint := range n.Taints {
		fmt.Fprintf(&out, "  taint %s=%s:%s\n", taint.Key, taint.Value, taint.Effect)
	}
	for _, address := range n.Addresses {
		fmt.Fprintf(&out, "  address %s %s\n", address.Type, address.Address)
	}
	list("capacity", n.Capacity.Capacity())
	list("allocatable", n.Allocatable.Allocatable())
	fmt.Fprintf(&out, "  finalizers %v\n  info %+v\n  handlers %+v, supplemental groups %v\n", n.Finalizers, n.Info, n.RuntimeHandlers, n.SupplementalGroups)
	return out.String()
}

func TestNodesOfEveryProvider(t *testing.T) {
	var out strings.Builder
	for _, provider := range Providers() {
		sh, place := example(provider)
		chance := NewStream(1, "node", string(provider))
		fmt.Fprintf(&out, "%s with %s, image %q, release %s\n%s\n", provider, sh.OS, sh.Image.ID, sh.Image.ReleaseVersion(sh.Version), describe(sh.Node(place, &chance)))
	}
	golden.Assert(t, "nodes.txt", out.String())
}

// Who asks for the identity alone gets that of the node.
func TestIdentityIsTheNodes(t *testing.T) {
	for _, provider := range Providers() {
		sh, place := example(provider)
		one, other := NewStream(7, "machine"), NewStream(7, "machine")
		n := sh.Node(place, &one)
		if instance, node := sh.Identity(place, &other); instance != n.InstanceID || node != n.Name {
			t.Errorf("%s: instance %s, node %s: want %s, %s", provider, instance, node, n.InstanceID, n.Name)
		}
	}
}

// The keys of a real node of a managed node group without a launch template, and the rest of its identity.
func TestNodeOfAManagedGroupIsLikeARealOne(t *testing.T) {
	sh := Shape{Provider: EKS, OS: AL2, Version: Version{30, 4}, Machine: find(t, "t3.medium"), Cluster: "c", Group: "web", Region: "us-east-2", ExternalIP: true}
	sh.Image = ImageOf(EKS, AL2, sh.Version, "amd64", "20240928")
	chance := NewStream(1)
	n := sh.Node(Place{Zone: "us-east-2c", IP: netip.MustParseAddr("10.0.40.111"), External: netip.MustParseAddr("203.0.113.60")}, &chance)
	name := "ip-10-0-40-111.us-east-2.compute.internal"
	wantLabels := []Pair{
		{"beta.kubernetes.io/arch", "amd64"}, {"beta.kubernetes.io/instance-type", "t3.medium"}, {"beta.kubernetes.io/os", "linux"},
		{"eks.amazonaws.com/capacityType", "ON_DEMAND"}, {"eks.amazonaws.com/nodegroup", "web"}, {"eks.amazonaws.com/nodegroup-image", sh.Image.ID},
		{"failure-domain.beta.kubernetes.io/region", "us-east-2"}, {"failure-domain.beta.kubernetes.io/zone", "us-east-2c"},
		{"k8s.io/cloud-provider-aws", clusterTag("c")},
		{"kubernetes.io/arch", "amd64"}, {"kubernetes.io/hostname", name}, {"kubernetes.io/os", "linux"}, {"node.kubernetes.io/instance-type", "t3.medium"},
		{"topology.ebs.csi.aws.com/zone", "us-east-2c"}, {"topology.k8s.aws/zone-id", "use2-az3"}, {"topology.kubernetes.io/region", "us-east-2"}, {"topology.kubernetes.io/zone", "us-east-2c"},
	}
	if got := n.AllLabels(); !slices.Equal(got, wantLabels) {
		t.Errorf("labels %v\nwant   %v", got, wantLabels)
	}
	wantAnnotations := []Pair{
		{"alpha.kubernetes.io/provided-node-ip", "10.0.40.111"}, {"csi.volume.kubernetes.io/nodeid", `{"ebs.csi.aws.com":"` + n.InstanceID + `"}`},
		{"node.alpha.kubernetes.io/ttl", "0"}, {"volumes.kubernetes.io/controller-managed-attach-detach", "true"},
	}
	if got := n.AllAnnotations(); !slices.Equal(got, wantAnnotations) {
		t.Errorf("annotations %v\nwant        %v", got, wantAnnotations)
	}
	wantAddresses := []Address{
		{"InternalIP", "10.0.40.111"}, {"ExternalIP", "203.0.113.60"}, {"InternalDNS", name}, {"Hostname", name},
		{"ExternalDNS", "ec2-203-0-113-60.us-east-2.compute.amazonaws.com"},
	}
	if n.Name != name || !slices.Equal(n.Addresses, wantAddresses) || n.PodCIDR != "" || n.Finalizers != nil {
		t.Errorf("%s with %v, range %q, finalizers %v; want %s with %v and neither", n.Name, n.Addresses, n.PodCIDR, n.Finalizers, name, wantAddresses)
	}
	if len(n.InstanceID) != 19 || n.ProviderID != "aws:///us-east-2c/"+n.InstanceID || n.Info.SystemUUID != dashed(n.Info.MachineID) || !strings.HasPrefix(n.Info.MachineID, "ec2") {
		t.Errorf("instance %s, provider id %s, machine %s, system %s", n.InstanceID, n.ProviderID, n.Info.MachineID, n.Info.SystemUUID)
	}
}

func dashed(id string) string {
	return strings.Join([]string{id[:8], id[8:12], id[12:16], id[16:20], id[20:]}, "-")
}

// What a roll to another day's image changes on a node that keeps its identity's seed, and what it leaves alone.
func TestARollShowsWhereItShould(t *testing.T) {
	for provider, want := range map[Provider][]string{
		EKS:       {"eks.amazonaws.com/nodegroup-image", "kubelet", "os"},
		Karpenter: {"kubelet", "os"},
		GKE:       {"kubelet"},
		AKS:       {"kubernetes.azure.com/node-image-version"},
		CAPI:      nil,
		KOps:      nil,
	} {
		sh, place := example(provider)
		a, b := NewStream(3), NewStream(3)
		old := sh.Node(place, &a)
		sh.Image = ImageOf(provider, sh.OS, sh.Version, sh.Machine.Arch, "20260801")
		now := sh.Node(place, &b)
		var got []string
		before, after := old.AllLabels(), now.AllLabels()
		for i := range before {
			if before[i] != after[i] && before[i].Key == after[i].Key {
				got = append(got, before[i].Key)
			}
		}
		if old.Info.KubeletVersion != now.Info.KubeletVersion {
			got = append(got, "kubelet")
		}
		if old.Info.OSImage != now.Info.OSImage {
			got = append(got, "os")
		}
		if !slices.Equal(got, want) || old.Name != now.Name {
			t.Errorf("%s: a roll changes %v, want %v; name %s became %s", provider, got, want, old.Name, now.Name)
		}
	}
}

func TestTaintsOfAJoiningNode(t *testing.T) {
	for provider, want := range map[Provider]string{
		EKS:       "dedicated node.cloudprovider.kubernetes.io/uninitialized",
		Karpenter: "dedicated karpenter.sh/unregistered node.cloudprovider.kubernetes.io/uninitialized",
		GKE:       "dedicated",
		AKS:       "dedicated kubernetes.azure.com/scalesetpriority node.cloudprovider.kubernetes.io/uninitialized",
		CAPI:      "dedicated node.cluster.x-k8s.io/uninitialized node.cloudprovider.kubernetes.io/uninitialized",
		KOps:      "dedicated node.cloudprovider.kubernetes.io/uninitialized",
	} {
		sh, place := example(provider)
		chance := NewStream(1)
		var got []string
		for _, taint := range sh.Node(place, &chance).Taints {
			got = append(got, taint.Key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s registers with %v, want %s", provider, got, want)
		}
	}
}

func TestNamesInAWSRegions(t *testing.T) {
	if got := privateDNS("us-east-1", "10.0.10.170"); got != "ip-10-0-10-170.ec2.internal" {
		t.Errorf("us-east-1: %s", got)
	}
	for zone, want := range map[string]string{"us-east-1a": "use1-az1", "us-east-2c": "use2-az3", "ap-southeast-2b": "apse2-az2", "eu-central-1b": "euc1-az2", "ca-west-1a": "caw1-az1"} {
		if got := zoneID(zone[:len(zone)-1], zone); got != want {
			t.Errorf("%s is %s, want %s", zone, got, want)
		}
	}
	for _, zone := range []string{"", "x", "eu-central-1", "no-where-"} {
		if got := zoneID(zone, zone); got != "" {
			t.Errorf("the zone %q is %s, want none", zone, got)
		}
	}
}

// Odd shapes make odd nodes, but no panic.
func TestAnyShapeMakesANode(t *testing.T) {
	for _, provider := range append(Providers(), "", "nobody") {
		for _, os := range []OS{"", AL2023, Windows, "none"} {
			sh := Shape{Provider: provider, OS: os}
			chance := NewStream(1)
			if n := sh.Node(Place{Ordinal: -3}, &chance); n.Name == "" || n.Allocatable.MemoryBytes != 0 {
				t.Errorf("%s with %s made %+v", provider, os, n)
			}
			if len(sh.SystemImages()) == 0 {
				t.Errorf("%s has no images", provider)
			}
		}
	}
}

func TestNodeImages(t *testing.T) {
	var images []ContainerImage
	for i := range 60 {
		images = append(images, ContainerImage{Names: make([]string, i%8), Bytes: int64(i * 37 % 60)})
	}
	got := NodeImages(images)
	if len(got) != 50 || !slices.IsSortedFunc(got, func(a, b ContainerImage) int { return int(b.Bytes - a.Bytes) }) {
		t.Errorf("%d images, want the 50 biggest in order", len(got))
	}
	for _, image := range got {
		if len(image.Names) > 5 {
			t.Errorf("an image has %d names", len(image.Names))
		}
	}
	if images[1].Bytes != 37 || len(images[7].Names) != 7 {
		t.Error("the argument changed")
	}
}

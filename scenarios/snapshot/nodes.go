package snapshot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

func (r *Reading) addNode(raw []byte) error {
	n := &corev1.Node{}
	if err := json.Unmarshal(raw, n); err != nil {
		return fmt.Errorf("Node %s: %w", rawjson.Text(raw, "metadata", "name"), err)
	}
	if !r.named("Node", n.Name, n.CreationTimestamp.Time) {
		return nil
	}
	for _, c := range n.Status.Conditions {
		r.saw(c.LastHeartbeatTime.Time)
		r.saw(c.LastTransitionTime.Time)
	}
	if r.nodes[n.Name] = n; len(r.nodes) > spec.MaxNodes {
		return tooMany("nodes", spec.MaxNodes)
	}
	return nil
}

// without takes away nodes that no machine of a group is, or whose operating system isn't simulated.
func (d *draft) without() {
	for _, name := range slices.Sorted(maps.Keys(d.nodes)) {
		n := d.nodes[name]
		switch {
		case n.Labels["eks.amazonaws.com/compute-type"] == "fargate", n.Labels["type"] == "virtual-kubelet":
			d.said.add("nodes without a machine (Fargate, virtual-kubelet)", "they and their pods aren't here", ref{nodeName, "", name})
		case n.Labels[corev1.LabelOSStable] == "windows":
			d.said.add("nodes of Windows", "they and their pods aren't here", ref{nodeName, "", name})
		default:
			continue
		}
		delete(d.nodes, name)
	}
}

// seenAs returns the header by which [spec.Observed] judges the nodes.
func (d *draft) seenAs() *timeline.Header {
	if d.Header != nil {
		return d.Header
	}
	return &timeline.Header{}
}

// groups says what groups the nodes make, each with its members.
func (d *draft) groups() error {
	var there []*corev1.Node
	for _, name := range slices.Sorted(maps.Keys(d.nodes)) {
		there = append(there, d.nodes[name])
	}
	seen, groupOf, err := spec.Observed(d.seenAs(), there)
	if err != nil {
		return err
	}
	c := &d.file.Cluster
	c.Provider, c.KubernetesVersion, c.Region, c.Zones, c.Kubelet = seen.Cluster.Provider, seen.Cluster.KubernetesVersion, seen.Cluster.Region,
		seen.Cluster.Zones, seen.Cluster.Kubelet
	d.rules, _ = noderoll.ProviderByName(string(c.Provider)) // it is one of them
	for _, n := range there {
		if host := n.Labels[corev1.LabelHostname]; host != "" {
			d.hosts[host] = n.Name
		}
		if zone := n.Labels[corev1.LabelTopologyZone]; slices.Contains(c.Zones, zone) {
			d.zones[n.Name] = zone
		} else {
			d.said.add("nodes without a zone, or with one that no file can name", "their zones here are made up, so that pods and disks of a zone may find no node",
				ref{nodeName, "", n.Name})
		}
	}
	d.ofNoProvider(there)
	for k, n := range there {
		if name := d.rules.Pool(seenNode(n)); name != "" {
			d.pools[name] = groupOf[k]
		}
	}
	machines := d.machines(there)
	wanted := d.wantedLabels()
	for i := range seen.Groups {
		g := &seen.Groups[i]
		var members []*corev1.Node
		for k, n := range there {
			if groupOf[k] == g.Name {
				members = append(members, n)
			}
		}
		d.file.Groups = append(d.file.Groups, d.group(g, members, machines, wanted))
	}
	slices.SortFunc(d.file.Groups, func(a, b spec.Group) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// ofNoProvider says that no node tells whose it is: its roll is that of a provider which it doesn't have.
func (d *draft) ofNoProvider(nodes []*corev1.Node) {
	named := slices.Contains(model.Providers(), model.Provider(d.seenAs().Scope.Provider))
	if named || slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return noderoll.Detect(seenNode(n)).Name != noderoll.Generic().Name }) {
		return
	}
	for _, n := range nodes {
		d.said.add("nodes of no provider that nodesim knows", "they are rolled as those of "+string(d.file.Cluster.Provider)+
			" here, with its images, surge and timeouts; --strategy plain is another way", ref{nodeName, "", n.Name})
	}
}

// hiddenZones says that a group of EKS may have zones in which it has no node: its roll brings up two nodes for each
// (docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html), and no object of the cluster names them. An Auto Scaling group keeps
// its zones even, so that one with two nodes in a zone has a node in every zone.
func (d *draft) hiddenZones(g *spec.Group, nodes []*corev1.Node) {
	if d.file.Cluster.Provider != spec.ProviderEKS {
		return
	}
	zones := map[string]bool{}
	for _, n := range nodes {
		zones[d.zones[n.Name]] = true
	}
	if len(zones) == len(nodes) && !zones[""] {
		d.said.add("node groups with one node in each zone that they are seen in", "a roll brings up two nodes for each zone, and others that the group may have "+
			"are not known: add them to the zones of the group and of the cluster", ref{groupName, "", g.Name})
	}
}

// group is a group with its members, of which it says what they have in common.
func (d *draft) group(seen *spec.Group, nodes []*corev1.Node, machines map[string]string, wanted map[string]bool) spec.Group {
	g := spec.Group{Name: seen.Name, Nodes: len(nodes), CapacityType: seen.CapacityType, OS: d.osOf(nodes[0])}
	g.From.Version = seen.From.Version // a default
	old, updated := d.begun(nodes)
	imageAlone, isUpdated := len(updated) == 0, map[*corev1.Node]bool{}
	if imageAlone {
		old, updated = d.begunImages(g.Name, nodes)
	}
	if len(updated) > 0 {
		d.image(&g.From, old)
		d.image(&g.To, updated)
		for _, n := range updated {
			isUpdated[n] = true
		}
		for _, n := range nodes {
			if !isUpdated[n] {
				continue
			}
			d.said.add("nodes that a roll which has begun has updated", "the roll doesn't update them once more, and the others of their group become like them", ref{nodeName, "", n.Name})
		}
	} else {
		d.image(&g.From, nodes)
	}
	g.InstanceType = mostCommon(nodes, func(n *corev1.Node) string { return machines[n.Name] })
	if seen := seenNode(nodes[0]); d.rules.Pool(seen) == "" && noderoll.Detect(seen).Pool(seen) == "" {
		for _, n := range nodes {
			d.said.add("nodes of no group", "they are the group "+g.Name+" here", ref{nodeName, "", n.Name})
		}
	}
	labels := make([]map[string]string, len(nodes))
	taints := make([][]spec.Taint, len(nodes))
	for i, n := range nodes {
		labels[i], taints[i] = d.keptLabels(n, wanted), d.keptTaints(n)
	}
	g.Labels, g.Taints = commonLabels(labels), commonTaints(taints)
	d.hiddenZones(&g, nodes)
	d.mixed(&g, nodes)
	for i, n := range nodes {
		m := spec.Member{Name: n.Name, Zone: d.zones[n.Name], Cordoned: n.Spec.Unschedulable, NotReady: readiness(n) == corev1.ConditionUnknown, Age: d.age(n.CreationTimestamp.Time)}
		if m.Zone == "" {
			m.Zone = d.file.Cluster.Zones[i%len(d.file.Cluster.Zones)]
		}
		if readiness(n) != corev1.ConditionTrue && !m.NotReady {
			d.said.add("nodes whose kubelet says that they aren't Ready", "they are Ready here", ref{nodeName, "", n.Name})
		}
		if t := machines[n.Name]; t != g.InstanceType {
			m.InstanceType = t
			d.said.add("nodes of another instance type than most of their group", "those that replace them are of the group's most common type here", ref{nodeName, "", n.Name})
		}
		if n.Annotations["karpenter.sh/do-not-disrupt"] == "true" {
			d.said.add("nodes that Karpenter must not disrupt", "it does here", ref{nodeName, "", n.Name})
		}
		if v := n.Status.NodeInfo.KubeletVersion; v != g.From.Version && d.supports(v) {
			m.Version = v
		} else if v != g.From.Version {
			what, why := d.unsupported(v)
			d.said.add(what, why, ref{nodeName, "", n.Name})
		}
		if imageAlone && isUpdated[n] {
			m.Image = g.To.Image
		}
		for key, value := range labels[i] {
			if own, common := g.Labels[key]; !common || own != value {
				m.Labels = with(m.Labels, key, value)
			}
		}
		for _, t := range taints[i] {
			if !slices.Contains(g.Taints, t) {
				m.Taints = append(m.Taints, t)
			}
		}
		if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return removal[t.Key] }) {
			d.said.add("nodes that are being taken away already", "they are cordoned here", ref{nodeName, "", n.Name})
			m.Cordoned = true
		}
		g.Members = append(g.Members, m)
	}
	return g
}

// mixed says what of a group's nodes isn't so of all.
func (d *draft) mixed(g *spec.Group, nodes []*corev1.Node) {
	spot := 0
	for _, n := range nodes {
		if spec.IsSpot(n) {
			spot++
		}
		if of := noderoll.Detect(seenNode(n)).Name; of != "generic" && of != string(d.file.Cluster.Provider) {
			d.said.add("nodes of another provider than most", "they are rolled as those of "+string(d.file.Cluster.Provider)+" here, and have its labels, too", ref{nodeName, "", n.Name})
		}
	}
	if spot > 0 && spot < len(nodes) {
		d.said.add("node groups of spot and on-demand nodes", "all are of the kind that most are of here", ref{groupName, "", g.Name})
	}
}

// begun divides the nodes of a group whose roll has begun: those that are still to be replaced, and those of the newest kubelet. None are
// updated where all have the same. Of two builds of one patch release, whose names have no order, the youngest node has the newer one.
func (d *draft) begun(nodes []*corev1.Node) (old, updated []*corev1.Node) {
	born := map[string]time.Time{} // the youngest node of each version
	for _, n := range nodes {
		if v, at := n.Status.NodeInfo.KubeletVersion, n.CreationTimestamp.Time; at.After(born[v]) {
			born[v] = at
		}
	}
	newer := func(v, than string) bool {
		if is, of := spec.NewerPatch(v, than), spec.NewerPatch(than, v); is || of || born[v].Equal(born[than]) {
			return is || !of && spec.NewerVersion(v, than)
		}
		return born[v].After(born[than])
	}
	newest := ""
	for _, n := range nodes {
		if v := n.Status.NodeInfo.KubeletVersion; d.supports(v) && (newest == "" || newer(v, newest)) {
			newest = v
		}
	}
	for _, n := range nodes {
		if v := n.Status.NodeInfo.KubeletVersion; v == newest {
			updated = append(updated, n)
		} else if d.supports(v) {
			old = append(old, n)
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	return old, updated
}

// begunImages divides the nodes of a group whose roll to another image of the same kubelet has begun. The newer image is that of the
// nodes that are younger than all others; where there are none, nobody can tell.
func (d *draft) begunImages(group string, nodes []*corev1.Node) (old, updated []*corev1.Node) {
	image := func(n *corev1.Node) string { return d.rules.Image(seenNode(n)).Label }
	byAge := slices.SortedStableFunc(slices.Values(nodes), func(a, b *corev1.Node) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	newest := image(byAge[len(byAge)-1])
	first := slices.IndexFunc(byAge, func(n *corev1.Node) bool { return image(n) == newest })
	switch old, updated = byAge[:first], byAge[first:]; {
	case !slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return image(n) != newest }):
		return nil, nil
	case newest == "", imageOf(newest) != newest, slices.ContainsFunc(updated, func(n *corev1.Node) bool { return image(n) != newest }),
		!old[first-1].CreationTimestamp.Before(&updated[0].CreationTimestamp):
		d.said.add("node groups with several images", "nobody can tell which one is newer, so all of their nodes have that of most here, and are to be replaced", ref{groupName, "", group})
		return nil, nil
	}
	return old, updated
}

// image says which kubelet and image most of the nodes have.
func (d *draft) image(of *spec.NodeImage, nodes []*corev1.Node) {
	if v := mostCommon(nodes, func(n *corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }); d.supports(v) {
		of.Version = v
	}
	if image := mostCommon(nodes, func(n *corev1.Node) string { return d.rules.Image(seenNode(n)).Label }); imageOf(image) == image {
		of.Image = image
	}
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func seenNode(n *corev1.Node) *noderoll.Node {
	return &noderoll.Node{Labels: n.Labels, Annotations: n.Annotations, KubeletVersion: n.Status.NodeInfo.KubeletVersion}
}

func mostCommon(nodes []*corev1.Node, of func(*corev1.Node) string) (most string) {
	counts := map[string]int{}
	for _, n := range nodes {
		counts[of(n)]++
	}
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		if most == "" || counts[value] > counts[most] && value != "" {
			most = value
		}
	}
	return most
}

// readiness is a node's condition Ready. kube-controller-manager makes it Unknown where nothing is heard of the node's kubelet
// (https://kubernetes.io/docs/reference/node/node-status/#condition); False is what the kubelet says by itself, as while its node joins. One without
// conditions, as in a tape that lacks them, is taken to be ready.
func readiness(n *corev1.Node) corev1.ConditionStatus {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return corev1.ConditionTrue
}

// age is the time since a moment, in whole seconds; 0 where it isn't known.
func (d *draft) age(since time.Time) time.Duration {
	const most = 87600 * time.Hour
	if since.IsZero() {
		return 0
	}
	return min(max(d.at.Sub(since), 0), most).Truncate(time.Second)
}

// osOf is the image family of a node, "" where it is none that the provider's nodes have in a scenario.
func (d *draft) osOf(n *corev1.Node) spec.OS {
	image := n.Status.NodeInfo.OSImage
	for _, is := range []struct {
		begins string
		os     spec.OS
	}{
		{"Amazon Linux 2023", model.AL2023}, {"Amazon Linux 2", model.AL2}, {"Bottlerocket", model.Bottlerocket},
		{"Container-Optimized OS", model.COS}, {"Ubuntu", model.Ubuntu}, {"Azure Linux", model.AzureLinux}, {"CBL-Mariner", model.AzureLinux},
	} {
		if strings.HasPrefix(image, is.begins) && slices.Contains(model.OSes(d.file.Cluster.Provider), is.os) {
			return is.os
		}
	}
	return ""
}

// removal are taints of nodes that an autoscaler takes away.
var removal = map[string]bool{"karpenter.sh/disrupted": true, "karpenter.sh/disruption": true, "ToBeDeletedByClusterAutoscaler": true}

// keptTaints are those that a node has for good: without those of its state, which controllers set, and those that nodesim gives the
// provider's nodes by itself.
func (d *draft) keptTaints(n *corev1.Node) (kept []spec.Taint) {
	for _, t := range n.Spec.Taints {
		domain, _, _ := strings.Cut(t.Key, "/")
		switch {
		case removal[t.Key], domain == "node.kubernetes.io", domain == "node.cloudprovider.kubernetes.io", domain == "node.cluster.x-k8s.io",
			strings.HasSuffix(t.Key, "/agent-not-ready"), strings.HasPrefix(t.Key, "karpenter.sh/"), t.Key == "DeletionCandidateOfClusterAutoscaler",
			t.Key == noderoll.LabelNodegroup, t.Key == "kubernetes.azure.com/scalesetpriority":
		case len(validation.IsQualifiedName(t.Key)) > 0, len(validation.IsValidLabelValue(t.Value)) > 0, !knownEffect(t.Effect):
			d.said.add("nodes with a taint that no API server takes", "they don't have it here", ref{nodeName, "", n.Name})
		default:
			kept = append(kept, spec.Taint{Key: t.Key, Value: t.Value, Effect: spec.Effect(t.Effect)})
		}
	}
	return kept
}

func knownEffect(e corev1.TaintEffect) bool {
	return e == corev1.TaintEffectNoSchedule || e == corev1.TaintEffectNoExecute || e == corev1.TaintEffectPreferNoSchedule
}

func commonTaints(of [][]spec.Taint) (common []spec.Taint) {
	for _, t := range of[0] {
		if !slices.ContainsFunc(of, func(one []spec.Taint) bool { return !slices.Contains(one, t) }) && !slices.Contains(common, t) {
			common = append(common, t)
		}
	}
	return common
}

func commonLabels(of []map[string]string) (common map[string]string) {
	for key, value := range of[0] {
		if !slices.ContainsFunc(of, func(one map[string]string) bool { own, has := one[key]; return !has || own != value }) {
			common = with(common, key, value)
		}
	}
	return common
}

// given are labels that nodesim gives nodes by itself, with what else the file says of them.
var given = map[string]bool{
	corev1.LabelHostname: true, corev1.LabelArchStable: true, corev1.LabelOSStable: true, corev1.LabelInstanceTypeStable: true,
	corev1.LabelTopologyZone: true, corev1.LabelTopologyRegion: true, corev1.LabelFailureDomainBetaZone: true, corev1.LabelFailureDomainBetaRegion: true,
	corev1.LabelInstanceType: true, "beta.kubernetes.io/arch": true, "beta.kubernetes.io/os": true,
	"topology.ebs.csi.aws.com/zone": true, "topology.k8s.aws/zone-id": true, "topology.gke.io/zone": true, "topology.disk.csi.azure.com/zone": true,
}

// givenBy are the labels that it gives the nodes of a provider. Those of another one in the same cluster, as of Karpenter beside managed
// node groups, keep what pods ask for.
var givenBy = map[spec.Provider][]string{
	spec.ProviderEKS: {
		"eks.amazonaws.com/nodegroup", "eks.amazonaws.com/nodegroup-image", "eks.amazonaws.com/capacityType",
		"eks.amazonaws.com/sourceLaunchTemplateId", "eks.amazonaws.com/sourceLaunchTemplateVersion",
	},
	spec.ProviderKarpenter: {"karpenter.sh/nodepool", "karpenter.sh/capacity-type", "karpenter.sh/registered", "karpenter.sh/initialized"},
	spec.ProviderGKE:       {"cloud.google.com/gke-nodepool", "cloud.google.com/gke-spot"},
	spec.ProviderAKS:       {"kubernetes.azure.com/agentpool", "agentpool", "kubernetes.azure.com/node-image-version", "kubernetes.azure.com/scalesetpriority"},
	spec.ProviderKOps:      {"kops.k8s.io/instancegroup"},
}

// wantedLabels are the keys of nodes' labels that pods ask for.
func (d *draft) wantedLabels() map[string]bool {
	keys := map[string]bool{}
	for _, k := range d.keepers { // pods of a DaemonSet don't have its template's required terms any more
		if t := k.Spec.Template; t != nil {
			for key := range t.Spec.NodeSelector {
				keys[key] = true
			}
			for _, r := range nodeRequirements(t.Spec.Affinity) {
				keys[r.Key] = true
			}
		}
	}
	for _, s := range d.specs {
		for key := range s.NodeSelector {
			keys[key] = true
		}
		for _, r := range nodeRequirements(s.Affinity) {
			keys[r.Key] = true
		}
		for _, t := range podTerms(s.Affinity) {
			keys[t.TopologyKey] = true
		}
		for i := range s.TopologySpreadConstraints {
			keys[s.TopologySpreadConstraints[i].TopologyKey] = true
		}
	}
	return keys
}

// keptLabels are the user's own labels of a node, and those that its pods ask for; not those that nodesim gives it by itself.
func (d *draft) keptLabels(n *corev1.Node, wanted map[string]bool) map[string]string {
	kept := map[string]string{}
	for key, value := range n.Labels {
		if !given[key] && !slices.Contains(givenBy[d.file.Cluster.Provider], key) && (wanted[key] || spec.IsOwn(key)) && len(validation.IsQualifiedName(key)) == 0 && len(validation.IsValidLabelValue(value)) == 0 {
			kept[key] = value
		}
	}
	return kept
}

package spec

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// Observed returns the file of a cluster whose nodes somebody has observed, on a tape with this header: its provider,
// its version, zones, and groups of like nodes. groupOf holds the name of each node's group. What nodes don't say has
// the default of a file, and so has what they say and no file could.
func Observed(h *timeline.Header, nodes []*corev1.Node) (f *File, groupOf []string, err error) {
	seen := observed{cluster: Cluster{Provider: ProviderEKS}}
	seen.observeProvider(h, nodes)
	seen.observeVersion(h, nodes)
	if isKwok(nodes) {
		seen.cluster.Kubelet = KubeletKwok
	}
	for _, n := range nodes {
		g := seen.groupOf(n)
		groupOf = append(groupOf, g.Name)
		g.observe(n)
		seen.observePlace(n)
	}
	var groups []Group
	for _, g := range seen.groups {
		groups = append(groups, seen.finish(g))
	}
	if len(groups) == 0 {
		groups = []Group{{Name: nodesOfNone}}
	}
	slices.Sort(seen.cluster.Zones)
	f, err = Bare(Metadata{Name: phrase.LabelLike(h.Metadata.Name, "tape"), Title: "the cluster of a tape"}, seen.cluster, groups)
	return f, groupOf, err
}

// nodesOfNone is the group of nodes that name none.
const nodesOfNone = "nodes"

// observed is what is known so far of a cluster.
type observed struct {
	cluster Cluster
	rules   noderoll.Provider
	groups  []*observedGroup
}

type observedGroup struct {
	Group
	pool    pool
	members []*corev1.Node
	spot    int // of them
}

// observeProvider takes the provider that the tape names, or that most nodes do.
func (o *observed) observeProvider(h *timeline.Header, nodes []*corev1.Node) {
	named := map[Provider]int{Provider(h.Scope.Provider): len(nodes) + 1}
	for _, n := range nodes {
		named[Provider(noderoll.Detect(facts(n)).Name)]++
	}
	for _, p := range model.Providers() {
		if named[p] > named[o.cluster.Provider] || o.cluster.Provider == "" && named[p] > 0 {
			o.cluster.Provider = p
		}
	}
	o.rules, _ = noderoll.ProviderByName(string(o.cluster.Provider)) // it is one of them
}

func facts(n *corev1.Node) *noderoll.Node {
	return &noderoll.Node{Labels: n.Labels, Annotations: n.Annotations}
}

// observeVersion takes the server's version, or the newest kubelet's.
func (o *observed) observeVersion(h *timeline.Header, nodes []*corev1.Node) {
	newest := minorOf(strings.TrimPrefix(h.Source.Server, "v"))
	for _, n := range nodes {
		newest = max(newest, minorOf(strings.TrimPrefix(n.Status.NodeInfo.KubeletVersion, "v")))
	}
	if newest == 0 {
		newest = newestMinor
	}
	o.cluster.KubernetesVersion = "1." + strconv.Itoa(min(max(newest, oldestMinor), newestMinor))
}

// isKwok reports whether nodes are kept by kwok, whose nodes don't say what machine they are.
func isKwok(nodes []*corev1.Node) bool {
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n *corev1.Node) bool {
		return n.Status.NodeInfo.BootID != "" && n.Annotations["kwok.x-k8s.io/node"] == ""
	})
}

// A pool is what a provider calls a node group. A cluster may have those of several providers, as Karpenter beside managed node groups.
type pool struct{ provider, name string }

// poolOf is the pool of a node by the file's provider, or else by the node's own. Of nodes without one, those of the control plane are a
// pool, since nobody rolls them with the others; the rest have no name.
func (o *observed) poolOf(n *corev1.Node) pool {
	if name := o.rules.Pool(facts(n)); name != "" {
		return pool{o.rules.Name, name}
	}
	if own := noderoll.Detect(facts(n)); own.Pool(facts(n)) != "" {
		return pool{own.Name, own.Pool(facts(n))}
	}
	for _, role := range []string{"control-plane", "master"} { // kubeadm's, and that of OpenShift and older kubeadm
		if _, is := n.Labels["node-role.kubernetes.io/"+role]; is {
			return pool{name: "control-plane"}
		}
	}
	return pool{}
}

func (o *observed) groupOf(n *corev1.Node) *observedGroup {
	is := o.poolOf(n)
	for _, g := range o.groups {
		if g.pool == is {
			return g
		}
	}
	g := &observedGroup{Group: Group{Name: o.free(phrase.LabelLike(is.name, nodesOfNone))}, pool: is}
	o.groups = append(o.groups, g)
	return g
}

// free is a name, with a number after it where another group has it: pools may differ in what no name of a group has, or be of two
// providers.
func (o *observed) free(name string) string {
	free := name
	for i := 2; slices.ContainsFunc(o.groups, func(g *observedGroup) bool { return g.Name == free }); i++ {
		end := "-" + strconv.Itoa(i)
		free = strings.TrimRight(name[:min(len(name), 63-len(end))], "-") + end
	}
	return free
}

func (o *observed) observePlace(n *corev1.Node) {
	region, zone := n.Labels[corev1.LabelTopologyRegion], n.Labels[corev1.LabelTopologyZone]
	if o.cluster.Region == "" && placeForm().MatchString(region) {
		o.cluster.Region = region
	}
	if placeForm().MatchString(zone) && !slices.Contains(o.cluster.Zones, zone) {
		o.cluster.Zones = append(o.cluster.Zones, zone)
	}
}

// spotLabels are those by which providers say that a node's instance can be interrupted.
var spotLabels = map[string]string{
	"eks.amazonaws.com/capacityType": "SPOT", "karpenter.sh/capacity-type": "spot", "cloud.google.com/gke-spot": "true",
	"kubernetes.azure.com/scalesetpriority": "spot",
}

func (g *observedGroup) observe(n *corev1.Node) {
	g.Nodes++
	g.members = append(g.members, n)
	if zone := n.Labels[corev1.LabelTopologyZone]; placeForm().MatchString(zone) && !slices.Contains(g.Zones, zone) {
		g.Zones = append(g.Zones, zone)
	}
	if IsSpot(n) {
		g.spot++
	}
}

// IsSpot reports whether a node's labels say that its instance can be interrupted.
func IsSpot(n *corev1.Node) bool {
	for label, spot := range spotLabels {
		if n.Labels[label] == spot {
			return true
		}
	}
	return false
}

// finish says what the nodes of a group have in common.
func (o *observed) finish(g *observedGroup) Group {
	out := g.Group
	if 2*g.spot > len(g.members) {
		out.CapacityType = CapacitySpot
	}
	slices.Sort(out.Zones)
	last := g.members[len(g.members)-1]
	out.InstanceType = o.machineOf(last)
	if out.From.Version = mostCommon(g.members, func(n *corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }); !o.supports(out.From.Version) {
		out.From.Version = ""
	}
	for label, value := range last.Labels {
		if IsOwn(label) && each(g.members, func(n *corev1.Node) bool { return n.Labels[label] == value }) {
			if out.Labels == nil {
				out.Labels = map[string]string{}
			}
			out.Labels[label] = value
		}
	}
	for _, t := range last.Spec.Taints {
		if IsOwn(t.Key) && each(g.members, func(n *corev1.Node) bool {
			return slices.ContainsFunc(n.Spec.Taints, func(o corev1.Taint) bool { return o.MatchTaint(&t) && o.Value == t.Value })
		}) {
			out.Taints = append(out.Taints, Taint{Key: t.Key, Value: t.Value, Effect: Effect(t.Effect)})
		}
	}
	return out
}

func each[T any](list []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(list, func(one T) bool { return !ok(one) })
}

func mostCommon(nodes []*corev1.Node, of func(*corev1.Node) string) string {
	counts := map[string]int{}
	for _, n := range nodes {
		counts[of(n)]++
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
}

// supports reports whether a file may give nodes a kubelet of a version.
func (o *observed) supports(version string) bool {
	cluster, kubelet := minorOf(o.cluster.KubernetesVersion), minorOf(strings.TrimPrefix(version, "v"))
	return versionForm().MatchString(version) && kubelet <= cluster && kubelet >= max(cluster-2, oldestMinor)
}

// IsOwn reports whether a label or taint is the user's own: neither Kubernetes' nor a provider's.
func IsOwn(key string) bool {
	domain, _, qualified := strings.Cut(key, "/")
	if len(validation.IsQualifiedName(key)) > 0 {
		return false
	}
	return !qualified || !slices.ContainsFunc([]string{
		"kubernetes.io", "k8s.io", "k8s.aws", "amazonaws.com", "karpenter.sh", "google.com", "gke.io", "azure.com", "kwok.dev",
	}, func(theirs string) bool { return domain == theirs || strings.HasSuffix(domain, "."+theirs) })
}

// machineOf is a node's instance type; one that nodesim doesn't know is described as the node is.
func (o *observed) machineOf(n *corev1.Node) string {
	name := n.Labels[corev1.LabelInstanceTypeStable]
	if _, known := model.FindMachine(name); known || !machineForm().MatchString(name) {
		if known {
			return name
		}
		name = "observed"
	}
	if slices.ContainsFunc(o.cluster.InstanceTypes, func(t InstanceType) bool { return t.Name == name }) {
		return name
	}
	t := InstanceType{Name: name, CPU: int(n.Status.Capacity.Cpu().Value()), Memory: n.Status.Capacity.Memory().DeepCopy(), Pods: int(n.Status.Capacity.Pods().Value())}
	if arch := Arch(n.Labels[corev1.LabelArchStable]); slices.Contains(arch.values(), string(arch)) {
		t.Arch = arch
	}
	const least = 512 << 20
	if t.CPU < 1 || t.CPU > 1024 || t.Memory.Value() < least || t.Pods < 1 || t.Pods > 10000 {
		return "" // no machine that a file may describe
	}
	t.Memory = *resource.NewQuantity(t.Memory.Value()>>20<<20, resource.BinarySI)
	o.cluster.InstanceTypes = append(o.cluster.InstanceTypes, t)
	return name
}

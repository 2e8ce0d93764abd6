package snapshot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// nameOf says what a name is of.
type nameOf int

const (
	clusterName nameOf = iota
	namespaceName
	nodeName
	groupName
	workloadName
	podName
	containerName
	budgetName
	imageName
	keyName
	valueName
	otherName // of a PriorityClass, a RuntimeClass, a scheduler
)

// prefixes are the beginnings of pseudonyms, by which one sees what they are of.
var prefixes = [...]string{"cluster", "ns", "node", "group", "app", "pod", "c", "pdb", "img", "key", "val", "class"}

// pseudonyms take the place of the user's own names. The same key gives the same ones, and without it nobody can tell whether one is
// that of a name. A nil one leaves names as they are.
type pseudonyms struct{ key []byte }

func newPseudonyms(key []byte) *pseudonyms {
	if len(key) == 0 {
		return nil
	}
	return &pseudonyms{key}
}

// of is the pseudonym of a name: of six bytes, so that two of a million names have the same one with a probability of one in 500.
func (p *pseudonyms) of(what nameOf, name string) string {
	if p == nil || name == "" {
		return name
	}
	sum := hmac.New(sha256.New, p.key)
	_, _ = sum.Write([]byte(prefixes[what] + "\x00" + name)) // never an error (hash.Hash)
	return prefixes[what] + "-" + hex.EncodeToString(sum.Sum(nil)[:6])
}

// ref is an object as a remark names it; one of a namespace with it.
func (p *pseudonyms) ref(at ref) string {
	switch at.of {
	case nodeName:
		return p.of(nodeName, at.name)
	case groupName:
		return p.of(groupName, at.name)
	case workloadName:
		return p.namespace(at.namespace) + "/" + p.workload(at.namespace, at.name)
	}
	return p.namespace(at.namespace) + "/" + p.of(at.of, at.name)
}

// namespace keeps the names of those that every cluster has.
func (p *pseudonyms) namespace(name string) string {
	switch name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease:
		return name
	}
	return p.of(namespaceName, name)
}

// agents are DaemonSets that providers bring, and that a simulation knows by their names.
var agents = map[string]bool{
	"aws-node": true, "kube-proxy": true, "fluentbit-gke": true, "pdcsi-node": true, "azure-cns": true, "calico-node": true, "cilium": true,
	"kops-node-cache": true,
}

func (p *pseudonyms) workload(namespace, name string) string {
	if namespace == metav1.NamespaceSystem && agents[name] {
		return name
	}
	return p.of(workloadName, name)
}

// label is a label, or a taint, of nodes, pods or namespaces: Kubernetes' and providers' own keys stay, and their values where they tell
// nothing of the user.
func (p *pseudonyms) label(key, value string) (string, string) {
	if p == nil {
		return key, value
	}
	return p.labelKey(key), p.value(key, value)
}

func (p *pseudonyms) labelKey(key string) string {
	if role, is := strings.CutPrefix(key, rolePrefix); is && p != nil && !roles[role] {
		return rolePrefix + p.of(keyName, role)
	}
	if p == nil || !spec.IsOwn(key) || vendor(key) {
		return key
	}
	return p.of(keyName, key)
}

// rolePrefix begins the keys of nodes' roles, and roles are those that tell nothing of the user.
const rolePrefix = "node-role.kubernetes.io/"

var roles = map[string]bool{
	"control-plane": true, "master": true, "etcd": true, "api-server": true, "worker": true, "node": true, "agent": true, "infra": true, "gpu": true,
	"spot-worker": true, "on-demand-worker": true, "spot": true,
}

// resource is the name of a resource. Kubernetes' own have no domain.
func (p *pseudonyms) resource(name string) string {
	if driver, is := strings.CutPrefix(name, attachable); is && p != nil && !slices.ContainsFunc(csiMakers, func(m string) bool { return strings.HasSuffix(driver, m) }) {
		return attachable + p.of(keyName, driver)
	}
	if !strings.Contains(name, "/") {
		return name
	}
	return p.labelKey(name)
}

// attachable begins the resource that counts the volumes of a CSI driver, and csiMakers end the names of drivers that tell nothing of the
// user.
const attachable = "attachable-volumes-csi-"

var csiMakers = []string{".amazonaws.com", ".aws.com", ".gke.io", ".googleapis.com", ".azure.com", ".k8s.io"}

// vendor reports whether a key is that of a maker of devices, by which a pod asks for one.
func vendor(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.Contains([]string{"nvidia.com", "amd.com", "gpu.intel.com", "habana.ai"}, domain)
}

// telling are labels whose values name something of the user's.
var telling = map[string]nameOf{
	corev1.LabelHostname: nodeName, corev1.LabelMetadataName: namespaceName,
	"eks.amazonaws.com/nodegroup": groupName, "karpenter.sh/nodepool": groupName, "karpenter.sh/provisioner-name": groupName, "cloud.google.com/gke-nodepool": groupName,
	"kubernetes.azure.com/agentpool": groupName, "agentpool": groupName, "kops.k8s.io/instancegroup": groupName,
	"node.cluster.x-k8s.io/deployment-name": groupName,
	batchv1.JobNameLabel:                    workloadName, "job-name": workloadName,
}

// silent are the domains of labels whose values Kubernetes and the providers choose.
var silent = []string{
	"kubernetes.io", "beta.kubernetes.io", "topology.kubernetes.io", "failure-domain.beta.kubernetes.io", "node.kubernetes.io",
	"node-role.kubernetes.io", "topology.ebs.csi.aws.com", "topology.gke.io", "topology.disk.csi.azure.com", "karpenter.sh", "karpenter.k8s.aws",
}

// provided are labels and taints of other domains whose values a provider chooses. A simulation gives them to its nodes, whatever the file says.
var provided = map[string]bool{
	"eks.amazonaws.com/capacityType": true, "kubernetes.azure.com/scalesetpriority": true, "kubernetes.azure.com/priority": true,
	"topology.k8s.aws/zone-id": true,
}

func (p *pseudonyms) value(key, value string) string {
	domain, _, _ := strings.Cut(key, "/")
	what, tells := telling[key]
	switch {
	case p == nil, value == "", value == "true", value == "false":
		return value
	case tells && what == namespaceName:
		return p.namespace(value)
	case tells:
		return p.of(what, value)
	case key == appsv1.StatefulSetPodNameLabel: // its pods have the workload's name and their numbers
		if i := strings.LastIndexByte(value, '-'); i > 0 {
			return p.of(workloadName, value[:i]) + value[i:]
		}
	case slices.Contains(silent, domain) && key != "karpenter.k8s.aws/ec2nodeclass", vendor(key), provided[key]:
		return value
	}
	if _, err := strconv.Atoi(value); err == nil { // it may be compared by Gt and Lt
		return value
	}
	return p.of(valueName, value)
}

func (p *pseudonyms) labels(m map[string]string) map[string]string {
	if p == nil || m == nil {
		return m
	}
	out := map[string]string{}
	for key, value := range m {
		key, value := p.label(key, value)
		out[key] = value
	}
	return out
}

func (p *pseudonyms) selector(s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	s.MatchLabels = p.labels(s.MatchLabels)
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		for j := range e.Values {
			e.Values[j] = p.value(e.Key, e.Values[j])
		}
		e.Key = p.labelKey(e.Key)
	}
}

// file puts pseudonyms into a file that isn't shared with anybody.
func (p *pseudonyms) file(f *spec.File) {
	if p == nil {
		return
	}
	f.Metadata.Name = p.of(clusterName, f.Metadata.Name)
	for i := range f.Cluster.InstanceTypes {
		t := &f.Cluster.InstanceTypes[i]
		amounts := spec.Amounts{}
		for name, q := range t.Allocatable {
			amounts[p.resource(name)] = q
		}
		t.Allocatable = amounts
	}
	for i := range f.Groups {
		p.group(&f.Groups[i])
	}
	for i := range f.Workloads {
		p.ofWorkload(&f.Workloads[i])
	}
	for i := range f.Budgets {
		b := &f.Budgets[i]
		b.Namespace, b.Name = p.namespace(b.Namespace), p.of(budgetName, b.Name)
		p.selector(&b.Selector.LabelSelector)
	}
}

func (p *pseudonyms) group(g *spec.Group) {
	g.Name = p.of(groupName, g.Name)
	g.From.Image, g.To.Image = p.ofNode(g.From.Image), p.ofNode(g.To.Image)
	g.Labels = p.labels(g.Labels)
	p.taints(g.Taints)
	for i := range g.Members {
		m := &g.Members[i]
		m.Name, m.Image, m.Labels = p.of(nodeName, m.Name), p.ofNode(m.Image), p.labels(m.Labels)
		p.taints(m.Taints)
	}
}

// ofNode is an image of nodes; one of AWS may be the user's own.
func (p *pseudonyms) ofNode(image string) string {
	if !strings.HasPrefix(image, "ami-") {
		return image
	}
	return "ami-" + strings.TrimPrefix(p.of(imageName, image), "img-")
}

func (p *pseudonyms) taints(list []spec.Taint) {
	for i := range list {
		list[i].Key, list[i].Value = p.label(list[i].Key, list[i].Value)
	}
}

func (p *pseudonyms) ofWorkload(w *spec.Workload) {
	was := w.Name
	w.Name, w.Namespace, w.PodLabels = p.workload(w.Namespace, w.Name), p.namespace(w.Namespace), p.labels(w.PodLabels)
	for i := range w.Pods {
		at := &w.Pods[i]
		if w.Kind == spec.KindStatefulSet { // its pods have its name and their numbers
			at.Name = w.Name + strings.TrimPrefix(at.Name, was)
		} else {
			at.Name = p.of(podName, at.Name)
		}
		at.Node = p.of(nodeName, at.Node)
	}
	p.podSpec(&w.PodSpec.PodSpec)
}

func (p *pseudonyms) podSpec(s *corev1.PodSpec) {
	s.NodeSelector = p.labels(s.NodeSelector)
	for _, r := range nodeRequirements(s.Affinity) {
		for i := range r.Values {
			r.Values[i] = p.value(r.Key, r.Values[i])
		}
		r.Key = p.labelKey(r.Key)
	}
	for _, t := range nodeTerms(s.Affinity) { // their one field is the node's name
		for _, r := range t.MatchFields {
			for i := range r.Values {
				r.Values[i] = p.of(nodeName, r.Values[i])
			}
		}
	}
	for _, t := range podTerms(s.Affinity) {
		p.selector(t.LabelSelector)
		p.selector(t.NamespaceSelector)
		for i := range t.Namespaces {
			t.Namespaces[i] = p.namespace(t.Namespaces[i])
		}
		t.TopologyKey = p.labelKey(t.TopologyKey)
		p.keys(t.MatchLabelKeys)
		p.keys(t.MismatchLabelKeys)
	}
	for i := range s.TopologySpreadConstraints {
		c := &s.TopologySpreadConstraints[i]
		c.TopologyKey = p.labelKey(c.TopologyKey)
		p.selector(c.LabelSelector)
		p.keys(c.MatchLabelKeys)
	}
	for i := range s.Tolerations {
		s.Tolerations[i].Key, s.Tolerations[i].Value = p.label(s.Tolerations[i].Key, s.Tolerations[i].Value)
	}
	for i := range s.SchedulingGates {
		s.SchedulingGates[i].Name = p.of(keyName, s.SchedulingGates[i].Name)
	}
	for i := range s.ReadinessGates {
		s.ReadinessGates[i].ConditionType = corev1.PodConditionType(p.of(keyName, string(s.ReadinessGates[i].ConditionType)))
	}
	if !strings.HasPrefix(s.PriorityClassName, "system-") {
		s.PriorityClassName = p.of(otherName, s.PriorityClassName)
	}
	s.SchedulerName = p.of(otherName, s.SchedulerName)
	if s.RuntimeClassName != nil {
		hidden := p.of(otherName, *s.RuntimeClassName)
		s.RuntimeClassName = &hidden
	}
	s.Overhead = p.resources(s.Overhead)
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			c := &list[i]
			c.Name = p.of(containerName, c.Name)
			if c.Image != "" {
				c.Image = "registry.example/" + p.of(imageName, c.Image)
			}
			c.Resources.Requests, c.Resources.Limits = p.resources(c.Resources.Requests), p.resources(c.Resources.Limits)
			for j := range c.Ports {
				c.Ports[j].HostIP = "" // an address of the user's; every address instead
			}
		}
	}
}

func (p *pseudonyms) keys(list []string) {
	for i := range list {
		list[i] = p.labelKey(list[i])
	}
}

func (p *pseudonyms) resources(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return nil
	}
	out := corev1.ResourceList{}
	for name, q := range list {
		out[corev1.ResourceName(p.resource(string(name)))] = q
	}
	return out
}

package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// read is when the clusters of these tests are.
var read = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

// A made cluster is one that a test makes up, as its objects.
type made struct {
	t       *testing.T
	objects []runtime.Object
	// Owners by kind/namespace/name are among the objects unless they are hidden.
	hidden map[string]bool
}

func newMade(t *testing.T) *made { return &made{t: t, hidden: map[string]bool{}} }

func (m *made) add(o runtime.Object) { m.objects = append(m.objects, o) }

// node adds a node of a managed node group of EKS.
func (m *made) node(name, group, zone string, change func(*corev1.Node)) {
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1930m"), corev1.ResourceMemory: resource.MustParse("7150Mi"), corev1.ResourcePods: resource.MustParse("29"),
		corev1.ResourceEphemeralStorage: resource.MustParse("18242267924"),
	}
	n := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(read.Add(-72 * time.Hour)), Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyRegion: "eu-central-1", corev1.LabelArchStable: "amd64",
			"eks.amazonaws.com/nodegroup-image": "ami-0a1b2c3d4e5f60718", "eks.amazonaws.com/capacityType": "ON_DEMAND", corev1.LabelOSStable: "linux",
		}},
		Spec: corev1.NodeSpec{ProviderID: "aws:///" + zone + "/i-" + name},
		Status: corev1.NodeStatus{
			Capacity: size, Allocatable: size, NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.34.2-eks-ecaa3a6", OSImage: "Amazon Linux 2023.9.20251110", BootID: "b"},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.NewTime(read)}},
		},
	}
	if zone != "" {
		n.Labels[corev1.LabelTopologyZone] = zone
	}
	if group != "" {
		n.Labels["eks.amazonaws.com/nodegroup"] = group
	}
	if change != nil {
		change(n)
	}
	m.add(n)
}

// A part is a workload with its pods.
type part struct {
	kind, namespace, name string
	// on are the nodes of its pods; "" waits.
	on       []string
	replicas int // as the object has it; as many as there are pods where it is 0
	labels   map[string]string
	spec     corev1.PodSpec
	pod      func(*corev1.Pod)
}

func controlledBy(kind, name string) []metav1.OwnerReference {
	api := "apps/v1"
	switch kind {
	case "Job":
		api = "batch/v1"
	case "Node", "ReplicationController":
		api = "v1"
	}
	yes := true
	return []metav1.OwnerReference{{APIVersion: api, Kind: kind, Name: name, UID: types.UID(kind + "-" + name), Controller: &yes}}
}

func (m *made) workload(p part) {
	if p.labels == nil {
		p.labels = map[string]string{"app": p.name}
	}
	if len(p.spec.Containers) == 0 {
		p.spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example/" + p.name + ":1.4.2", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
		}}}
	}
	meta := metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: types.UID(p.kind + "-" + p.name), Labels: p.labels, CreationTimestamp: metav1.NewTime(read.Add(-48 * time.Hour))}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.labels}, Spec: *p.spec.DeepCopy()}
	selector := &metav1.LabelSelector{MatchLabels: p.labels}
	wanted := int32(p.replicas)
	if wanted == 0 {
		wanted = int32(len(p.on))
	}
	owner, labels := controlledBy(p.kind, p.name), maps.Clone(p.labels)
	var object runtime.Object
	switch p.kind {
	case "Deployment":
		object = &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &wanted, Selector: selector, Template: template}}
		set := *meta.DeepCopy()
		set.Name, set.UID, set.OwnerReferences = p.name+"-6d4cf56db6", types.UID("ReplicaSet-"+p.name+"-6d4cf56db6"), owner
		if !m.hidden["ReplicaSet"] {
			m.add(&appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: set, Spec: appsv1.ReplicaSetSpec{Replicas: &wanted, Selector: selector, Template: template}})
		}
		owner, labels["pod-template-hash"] = controlledBy("ReplicaSet", set.Name), "6d4cf56db6"
	case "ReplicaSet":
		object = &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &wanted, Selector: selector, Template: template}}
	case "StatefulSet":
		object = &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &wanted, Selector: selector, Template: template}}
	case "DaemonSet":
		object = &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}}
	case "Job":
		object = &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: meta, Spec: batchv1.JobSpec{Template: template}}
	case "Pod":
		owner = nil
	}
	if object != nil && !m.hidden[p.kind] {
		m.add(object)
	}
	for i, node := range p.on {
		name := fmt.Sprintf("%s-x%d", owner0(owner, p.name), i)
		switch p.kind {
		case "StatefulSet":
			name = fmt.Sprintf("%s-%d", p.name, i)
		case "Node":
			name = p.name + "-" + node
		case "Pod":
			name = p.name
		}
		pod := &corev1.Pod{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: p.namespace, Name: name, Labels: labels, OwnerReferences: owner, CreationTimestamp: metav1.NewTime(read.Add(-time.Hour * time.Duration(24-i%24))),
			},
			Spec: *p.spec.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
		pod.Spec.NodeName = node
		if node == "" {
			pod.Status.Phase = corev1.PodPending
		}
		admitted(&pod.Spec, p.kind, node)
		if p.pod != nil {
			p.pod(pod)
		}
		m.add(pod)
	}
}

func owner0(owner []metav1.OwnerReference, fallback string) string {
	if len(owner) > 0 {
		return owner[0].Name
	}
	return fallback
}

// admitted adds what an API server and controllers add to a pod.
func admitted(s *corev1.PodSpec, kind, node string) {
	five, grace, none := int64(300), int64(30), int32(0)
	exists := func(key string, effect corev1.TaintEffect, seconds *int64) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect, TolerationSeconds: seconds})
	}
	if kind == "DaemonSet" {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{node}}}}},
		}}}
		exists("node.kubernetes.io/not-ready", corev1.TaintEffectNoExecute, nil)
		exists("node.kubernetes.io/unreachable", corev1.TaintEffectNoExecute, nil)
		exists("node.kubernetes.io/unschedulable", corev1.TaintEffectNoSchedule, nil)
	} else {
		exists("node.kubernetes.io/not-ready", corev1.TaintEffectNoExecute, &five)
		exists("node.kubernetes.io/unreachable", corev1.TaintEffectNoExecute, &five)
	}
	s.SchedulerName, s.RestartPolicy, s.DNSPolicy, s.ServiceAccountName = "default-scheduler", corev1.RestartPolicyAlways, corev1.DNSClusterFirst, "default"
	if s.TerminationGracePeriodSeconds == nil {
		s.TerminationGracePeriodSeconds = &grace
	}
	if s.Priority == nil {
		s.Priority = &none
	}
	s.Volumes = append(s.Volumes, corev1.Volume{Name: "kube-api-access-x", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}})
}

func (m *made) budget(namespace, name string, labels map[string]string, min intstr.IntOrString) {
	m.add(&policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(read.Add(-48 * time.Hour))},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &min, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	})
}

// disk adds a claim of a pod and its volume in a zone; without a zone it isn't bound.
func (m *made) disk(namespace, name, zone string) {
	c := &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}},
		},
	}
	m.add(c)
	if zone == "" {
		return
	}
	c.Spec.VolumeName = "pvc-" + name
	m.add(&corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + name},
		Spec: corev1.PersistentVolumeSpec{Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}, NodeAffinity: &corev1.VolumeNodeAffinity{
			Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "topology.ebs.csi.aws.com/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{zone}},
			}}}},
		}},
	})
}

// claims has a part's pods use a claim each, named after the pod.
func claims(p *corev1.Pod) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + p.Name},
	}})
}

// raw are the objects as an API server has them.
func (m *made) raw() (all [][]byte) {
	for _, o := range m.objects {
		text, err := json.Marshal(o)
		if err != nil {
			m.t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

// file reads the cluster.
func (m *made) file(o snapshot.Options) *spec.File {
	m.t.Helper()
	var r snapshot.Reading
	for i, text := range m.raw() {
		kind := m.objects[i].GetObjectKind().GroupVersionKind()
		if err := r.Add(kind.GroupVersion().String(), kind.Kind, text); err != nil {
			m.t.Fatal(err)
		}
	}
	if o.Name == "" {
		o.Name = "prod"
	}
	f, err := r.File(o)
	if err != nil {
		m.t.Fatal(err)
	}
	return f
}

// written is a file as text.
func written(t *testing.T, f *spec.File) string {
	t.Helper()
	var text bytes.Buffer
	if err := snapshot.Write(&text, f); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// workloadOf returns a workload of the file.
func workloadOf(t *testing.T, f *spec.File, ref string) *spec.Workload {
	t.Helper()
	w := f.Workload(ref)
	if w == nil {
		t.Fatalf("found no workload %s in\n%s", ref, written(t, f))
	}
	return w
}

// says reports whether a line of LeftOut begins with something.
func says(f *spec.File, begins string) bool {
	return slices.ContainsFunc(f.LeftOut, func(line string) bool { return strings.HasPrefix(line, begins) })
}

// shop is a cluster with a bit of everything.
func shop(t *testing.T) *made {
	m := newMade(t)
	m.node("ip-10-0-1-10", "workers", "eu-central-1a", nil)
	m.node("ip-10-0-2-11", "workers", "eu-central-1b", func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		n.Labels["team"] = "payments"
	})
	m.node("ip-10-0-1-12", "gpu", "eu-central-1a", func(n *corev1.Node) {
		n.Labels[corev1.LabelInstanceTypeStable] = "x9.huge"
		n.Status.Allocatable = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("15890m"), corev1.ResourceMemory: resource.MustParse("60Gi"), corev1.ResourcePods: resource.MustParse("110"),
			"nvidia.com/gpu": resource.MustParse("4"), "example.com/fpga": resource.MustParse("2"),
		}
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), "nvidia.com/gpu": resource.MustParse("4")}
		n.Spec.Taints = []corev1.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}}
		n.Labels["node-role.kubernetes.io/gpu"] = ""
		n.Status.Conditions[0].Status = corev1.ConditionUnknown
	})
	anti := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, TopologyKey: corev1.LabelHostname},
	}}}
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"ip-10-0-1-10", "ip-10-0-2-11", ""}, spec: corev1.PodSpec{Affinity: anti, Containers: []corev1.Container{
		{Name: "web", Image: "registry.example/web:2.0.0", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}}, Args: []string{"hunter2"}, Command: []string{"hunter2"},
			Ports: []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}, {ContainerPort: 9090}}, Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
			}},
	}}})
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "db", on: []string{"ip-10-0-1-10", ""}, pod: claims})
	m.disk("shop", "data-db-0", "eu-central-1a")
	m.disk("shop", "data-db-1", "eu-central-1b")
	m.workload(part{kind: "DaemonSet", namespace: "kube-system", name: "aws-node", on: []string{"ip-10-0-1-10", "ip-10-0-2-11", "ip-10-0-1-12"}, labels: map[string]string{"k8s-app": "aws-node"}})
	m.workload(part{kind: "Job", namespace: "batch", name: "train", on: []string{"ip-10-0-1-12"}, spec: corev1.PodSpec{
		NodeSelector: map[string]string{"node-role.kubernetes.io/gpu": ""}, Tolerations: []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{Name: "train", Image: "registry.example/train:1", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}},
	}})
	m.budget("shop", "web", map[string]string{"app": "web"}, intstr.FromInt32(2))
	m.budget("shop", "db", map[string]string{"app": "db"}, intstr.FromString("50%"))
	return m
}

func nodeOf(pod []byte) string { return rawjson.Text(pod, "spec", "nodeName") }

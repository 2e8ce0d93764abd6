//go:build controlplane

package scheduler_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// world is a generated cluster in which pods wait, as test/scheduler reads it.
type world struct {
	Namespaces  []corev1.Namespace             `json:"namespaces,omitempty"`
	Nodes       []corev1.Node                  `json:"nodes,omitempty"`
	CSINodes    []storagev1.CSINode            `json:"csiNodes,omitempty"`
	Classes     []storagev1.StorageClass       `json:"classes,omitempty"`
	Volumes     []corev1.PersistentVolume      `json:"volumes,omitempty"`
	Claims      []corev1.PersistentVolumeClaim `json:"claims,omitempty"`
	Budgets     []policyv1.PodDisruptionBudget `json:"budgets,omitempty"`
	ReplicaSets []appsv1.ReplicaSet            `json:"replicaSets,omitempty"`
	Services    []corev1.Service               `json:"services,omitempty"`
	Placed      []corev1.Pod                   `json:"placed,omitempty"`
	Waiting     []corev1.Pod                   `json:"waiting,omitempty"`
	// Free says that kube-scheduler's own choices stand.
	Free bool `json:"free,omitempty"`
}

const (
	zoneKey   = corev1.LabelTopologyZone
	hostKey   = corev1.LabelHostname
	gpu       = "example.com/gpu"
	csiDriver = "disk.csi.example.com"
	class     = "standard"
)

// waitingPods is how many pods wait in a world.
const waitingPods = 12

// generator makes a world of a seed: the same one each time.
type generator struct {
	*rand.Rand
	world
	pods int
}

// generate makes a world.
func generate(seed uint64) *world {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 36))}
	for _, name := range []string{"a", "b"} {
		g.Namespaces = append(g.Namespaces, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("namespace-" + name), Labels: map[string]string{"team": name, corev1.LabelMetadataName: name}}})
	}
	late := storagev1.VolumeBindingWaitForFirstConsumer
	g.Classes = []storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: csiDriver, VolumeBindingMode: &late}}
	for i := range 2 + g.IntN(12) {
		g.node(i, g.odds(2))
	}
	for i := range 3 {
		g.replicaSet(i)
	}
	for range g.IntN(3) {
		g.budget()
	}
	if g.odds(8) {
		g.Services = []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "service"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "a", "version": "1"}}}}
	}
	for range g.IntN(14) {
		if p := g.placed(); !g.portTaken(&p) {
			g.Placed = append(g.Placed, p)
		}
	}
	for range waitingPods {
		g.Waiting = append(g.Waiting, g.pod())
	}
	return &g.world
}

var began = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func (g *generator) odds(of int) bool                        { return g.IntN(of) == 0 }
func (g *generator) one(of ...string) string                 { return of[g.IntN(len(of))] }
func (g *generator) quantity(of ...string) resource.Quantity { return resource.MustParse(g.one(of...)) }

// node makes a node; limited says that a driver tells how many volumes it takes.
func (g *generator) node(i int, limited bool) {
	name := fmt.Sprint("n", i)
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{hostKey: name, "size": fmt.Sprint(g.IntN(20))}}}
	if !g.odds(12) {
		n.Labels[zoneKey] = g.one("a", "b", "c")
	}
	if g.odds(2) {
		n.Labels["disk"] = g.one("ssd", "hdd")
	}
	switch g.IntN(12) {
	case 0:
		n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}}
	case 1:
		n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "w", Effect: corev1.TaintEffectPreferNoSchedule}, {Key: "l", Value: g.one("v", "w"), Effect: corev1.TaintEffectPreferNoSchedule}}
	case 2:
		n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoExecute}}
	case 3:
		n.Spec.Unschedulable = true
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	case 4:
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: g.quantity("1", "2", "3920m", "7910m"), corev1.ResourceMemory: g.quantity("2Gi", "4Gi", "15000Mi", "31000Mi"), corev1.ResourcePods: g.quantity("3", "8", "20"),
		corev1.ResourceEphemeralStorage: g.quantity("5Gi", "20Gi"),
	}
	if g.odds(2) {
		n.Status.Allocatable[gpu] = g.quantity("1", "2")
	}
	n.Status.Capacity = n.Status.Allocatable
	for _, image := range images {
		if g.odds(3) {
			n.Status.Images = append(n.Status.Images, image)
		}
	}
	g.Nodes = append(g.Nodes, n)
	if !limited || g.odds(4) {
		return
	}
	csi := storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: csiDriver, NodeID: name}}}}
	if !g.odds(5) {
		most := int32(1 + g.IntN(2))
		csi.Spec.Drivers[0].Allocatable = &storagev1.VolumeNodeResources{Count: &most}
	}
	g.CSINodes = append(g.CSINodes, csi)
}

// images are those that nodes may have.
var images = []corev1.ContainerImage{
	{Names: []string{"registry.example/big@sha256:1111", "registry.example/big:1"}, SizeBytes: 900 << 20},
	{Names: []string{"registry.example/mid:2"}, SizeBytes: 333 << 20},
	{Names: []string{"registry.example/plain:latest", "registry.example/plain:7"}, SizeBytes: 1500 << 20},
	{Names: []string{"registry.example/small:1"}, SizeBytes: 9 << 20},
}

// replicaSet makes a ReplicaSet, whose pods are all alike.
func (g *generator) replicaSet(i int) {
	rs := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: g.one("a", "b"), Name: fmt.Sprint("rs", i), UID: types.UID(fmt.Sprint("rs", i))}}
	labels := g.labels()
	labels["rs"] = rs.Name
	rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"rs": rs.Name}}
	rs.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: g.spec(labels)}
	g.ReplicaSets = append(g.ReplicaSets, rs)
}

func (g *generator) labels() map[string]string {
	return map[string]string{"app": g.one("a", "b"), "version": g.one("1", "2")}
}

func (g *generator) budget() {
	allowed := int32(g.IntN(2))
	g.Budgets = append(g.Budgets, policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.one("a", "b"), Name: fmt.Sprint("budget", len(g.Budgets))},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &intstr.IntOrString{IntVal: 1}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.one("a", "b")}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	})
}

// pod makes a pod: a ReplicaSet's, or one of its own kind.
func (g *generator) pod() corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", g.pods), UID: types.UID(fmt.Sprint("uid-p", g.pods)), Namespace: g.one("a", "a", "b")}}
	g.pods++
	p.Status.Phase = corev1.PodPending
	p.Status.StartTime = &metav1.Time{Time: began.Add(-time.Duration(g.IntN(1000)*100+g.pods) * time.Second)}
	if g.odds(3) {
		rs := &g.ReplicaSets[g.IntN(len(g.ReplicaSets))]
		yes := true
		p.Namespace, p.Labels = rs.Namespace, rs.Spec.Template.Labels
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: rs.Name, UID: rs.UID, Controller: &yes}}
		p.Spec = *rs.Spec.Template.Spec.DeepCopy()
		return p
	}
	p.Labels = g.labels()
	p.Spec = g.spec(p.Labels)
	g.volumes(&p)
	return p
}

// placed makes a pod that has a node already, and whose claims are there.
func (g *generator) placed() corev1.Pod {
	p := g.pod()
	p.Spec.SchedulingGates = nil
	p.Spec.NodeName, p.Status.Phase = g.Nodes[g.IntN(len(g.Nodes))].Name, corev1.PodRunning
	if g.odds(10) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: began}, new(int64)
	}
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == missing
	})
	return p
}

// portTaken reports whether a pod and another one of its node have ports: no two have the same one there.
func (g *generator) portTaken(p *corev1.Pod) bool {
	return p.Spec.Containers[0].Ports != nil && slices.ContainsFunc(g.Placed, func(o corev1.Pod) bool {
		return o.Spec.NodeName == p.Spec.NodeName && o.Spec.Containers[0].Ports != nil
	})
}

// missing is a claim that isn't there.
const missing = "missing"

// volumes gives a pod a claim, or two.
func (g *generator) volumes(p *corev1.Pod) {
	if !g.odds(5) {
		return
	}
	for i := range 1 + g.IntN(6)/5 {
		claim := fmt.Sprint("claim-", p.Name, "-", i)
		if len(g.Claims) > 0 && g.odds(6) { // somebody else's
			if c := &g.Claims[g.IntN(len(g.Claims))]; c.Namespace == p.Namespace && c.Spec.VolumeName != "" {
				claim = c.Name
			}
		}
		switch {
		case g.odds(30):
			claim = missing
		case claim == fmt.Sprint("claim-", p.Name, "-", i):
			g.claim(p.Namespace, claim)
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i), VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
}

// claim makes a claim that is bound to a volume, of one zone or of all, or that its first pod gets bound.
func (g *generator) claim(namespace, name string) {
	className := class
	c := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &className, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	if g.odds(8) {
		c.Spec.AccessModes[0] = corev1.ReadWriteOncePod
	}
	if !g.odds(3) {
		v := corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: c.Spec.Resources.Requests, AccessModes: c.Spec.AccessModes, StorageClassName: class,
				ClaimRef:               &corev1.ObjectReference{Namespace: namespace, Name: name, UID: c.UID},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: csiDriver, VolumeHandle: name}},
			},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
		}
		if !g.odds(4) {
			v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{g.one("a", "b", "c")}}},
			}}}}
		}
		c.Spec.VolumeName, c.Status.Phase = v.Name, corev1.ClaimBound
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		g.Volumes = append(g.Volumes, v)
	}
	g.Claims = append(g.Claims, c)
}

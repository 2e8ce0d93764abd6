package snapshot

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// Resources are those that a scenario file is made of, in the order in which they are best read.
func Resources() []timeline.Resource {
	return []timeline.Resource{
		{Version: "v1", Kind: "Node", Resource: "nodes"},
		{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets", Namespaced: true},
		{Group: "apps", Version: "v1", Kind: "DaemonSet", Resource: "daemonsets", Namespaced: true},
		{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs", Namespaced: true},
		{Version: "v1", Kind: "ReplicationController", Resource: "replicationcontrollers", Namespaced: true},
		{Version: "v1", Kind: "PersistentVolumeClaim", Resource: "persistentvolumeclaims", Namespaced: true},
		{Version: "v1", Kind: "PersistentVolume", Resource: "persistentvolumes"},
		{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode", Resource: "csinodes"},
	}
}

// A Reading holds what is known so far of a cluster. The zero value is ready to use, by one goroutine.
type Reading struct {
	nodes   map[string]*corev1.Node
	pods    map[types.NamespacedName]*pod
	keepers map[root]*keeper
	byUID   map[types.UID]*keeper
	budgets map[types.NamespacedName]*budget
	claims  map[types.NamespacedName]*claim
	volumes map[string]*persistentVolume
	limits  map[string]corev1.ResourceList // of volumes, by node
	specs   map[string]*corev1.PodSpec     // cleaned, by their JSON
	newest  time.Time                      // in any object
}

// Takes reports whether objects of a kind become a part of the file.
func Takes(apiVersion, kind string) bool {
	return slices.ContainsFunc(Resources(), func(r timeline.Resource) bool {
		group := groupOf(apiVersion)
		return kind == r.Kind && (group == r.Group || group == "extensions" && r.Group == "apps")
	})
}

// Add takes an object in; of one that is there twice the later counts. Objects of kinds that it doesn't take are ignored, and so
// are those without a name.
func (r *Reading) Add(apiVersion, kind string, raw []byte) error {
	if !Takes(apiVersion, kind) {
		return nil
	}
	if r.pods == nil {
		r.nodes, r.pods, r.keepers = map[string]*corev1.Node{}, map[types.NamespacedName]*pod{}, map[root]*keeper{}
		r.byUID, r.budgets = map[types.UID]*keeper{}, map[types.NamespacedName]*budget{}
		r.claims, r.volumes = map[types.NamespacedName]*claim{}, map[string]*persistentVolume{}
		r.specs, r.limits = map[string]*corev1.PodSpec{}, map[string]corev1.ResourceList{}
	}
	switch kind {
	case "Node":
		return r.addNode(raw)
	case "Pod":
		return r.addPod(raw)
	case "PodDisruptionBudget":
		b := &budget{beta: apiVersion == "policy/v1beta1"}
		if err := r.decode(raw, b, &b.meta); err != nil {
			return fmt.Errorf("PodDisruptionBudget %s: %w", b.key(), err)
		}
		r.budgets[b.key()] = b
	case "CSINode":
		return r.addLimits(raw)
	case "PersistentVolumeClaim":
		c := &claim{}
		if err := r.decode(raw, c, &c.meta); err != nil {
			return fmt.Errorf("PersistentVolumeClaim %s: %w", c.key(), err)
		}
		r.claims[c.key()] = c
	case "PersistentVolume":
		v := &persistentVolume{}
		if err := r.decode(raw, v, &v.meta); err != nil {
			return fmt.Errorf("PersistentVolume %s: %w", v.Name, err)
		}
		r.volumes[v.Name] = v
	default:
		k := &keeper{kind: kind}
		if err := r.decode(raw, k, &k.meta); err != nil {
			return fmt.Errorf("%s %s: %w", kind, k.key(), err)
		}
		r.keepers[root{kind, k.key()}] = k
		if k.UID != "" {
			r.byUID[k.UID] = k
		}
	}
	return nil
}

// tooMany is the error of a cluster that no scenario can hold.
func tooMany(what string, most int) error {
	return fmt.Errorf("found more than %d %s: want at most as many, which is what a scenario may have; read a part of the cluster", most, what)
}

func (r *Reading) addPod(raw []byte) error {
	var o podObject
	if err := r.decode(raw, &o, &o.meta); err != nil {
		return fmt.Errorf("Pod %s: %w", o.key(), err)
	}
	if o.Name == "" || o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed {
		return nil // it takes no room
	}
	p, err := r.pod(&o)
	if err != nil {
		return fmt.Errorf("Pod %s: %w", o.key(), err)
	}
	if r.pods[p.key()] = p; len(r.pods) > spec.MaxPods {
		return tooMany("pods", spec.MaxPods)
	}
	return nil
}

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

// KubectlGet is the command that prints what a scenario file is made of: the Resources, but for ReplicationControllers.
const KubectlGet = "kubectl get nodes,pods,pdb,deploy,rs,sts,ds,job,pvc,pv,csinode -A -o json"

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
	// Now is the present, zero where that isn't known. Times that are later don't say when the objects were read.
	Now time.Time

	nodes   map[string]*corev1.Node
	pods    map[types.NamespacedName]*pod
	keepers map[root]*keeper
	byUID   map[types.UID]*keeper
	budgets map[types.NamespacedName]*budget
	claims  map[types.NamespacedName]*claim
	volumes map[string]*persistentVolume
	limits  map[string]corev1.ResourceList // of volumes, by node
	specs   map[string]*corev1.PodSpec     // cleaned, by their JSON
	classes map[string]int32               // the values of PriorityClasses

	nameless map[string]int // objects without a name, by kind
	others   map[string]int // objects of kinds that no file has

	newest, newestAhead time.Time // in any object, up to Now and after it
	future              int       // times after Now
}

// Takes reports whether objects of a kind become a part of the file.
func Takes(apiVersion, kind string) bool {
	return slices.ContainsFunc(Resources(), func(r timeline.Resource) bool {
		group := groupOf(apiVersion)
		return kind == r.Kind && (group == r.Group || group == "extensions" && r.Group == "apps")
	})
}

// Add takes an object in; of one that is there twice the later counts. Objects of kinds that it doesn't take, and those without a
// name, are counted, and LeftOut says so.
func (r *Reading) Add(apiVersion, kind string, raw []byte) error {
	if r.pods == nil {
		r.nodes, r.pods, r.keepers = map[string]*corev1.Node{}, map[types.NamespacedName]*pod{}, map[root]*keeper{}
		r.byUID, r.budgets = map[types.UID]*keeper{}, map[types.NamespacedName]*budget{}
		r.claims, r.volumes = map[types.NamespacedName]*claim{}, map[string]*persistentVolume{}
		r.specs, r.limits = map[string]*corev1.PodSpec{}, map[string]corev1.ResourceList{}
		r.classes, r.nameless, r.others = map[string]int32{}, map[string]int{}, map[string]int{}
	}
	if !Takes(apiVersion, kind) {
		return r.addOther(apiVersion, kind, raw)
	}
	switch kind {
	case "Node":
		return r.addNode(raw)
	case "Pod":
		return r.addPod(raw)
	case "PodDisruptionBudget":
		b := &budget{beta: apiVersion == "policy/v1beta1"}
		if named, err := r.decode(kind, raw, b, &b.meta); !named {
			return err
		}
		r.budgets[b.key()] = b
	case "CSINode":
		return r.addLimits(raw)
	case "PersistentVolumeClaim":
		c := &claim{}
		if named, err := r.decode(kind, raw, c, &c.meta); !named {
			return err
		}
		r.claims[c.key()] = c
	case "PersistentVolume":
		v := &persistentVolume{}
		if named, err := r.decode(kind, raw, v, &v.meta); !named {
			return err
		}
		r.volumes[v.Name] = v
	default:
		k := &keeper{kind: kind}
		if named, err := r.decode(kind, raw, k, &k.meta); !named {
			return err
		}
		r.keepers[root{kind, k.key()}] = k
		if k.UID != "" {
			r.byUID[k.UID] = k
		}
	}
	return nil
}

// mostPodsRead bounds the pods of a cluster; a test lowers it.
var mostPodsRead = spec.MaxPods

// A TooManyError is that of a cluster that no scenario can hold.
type TooManyError struct {
	what string
	most int
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("found more than %d %s: want at most as many, which is what a scenario may have; read a part of the cluster", e.most, e.what)
}

// tooMany is the error of a cluster that no scenario can hold.
func tooMany(what string, most int) error { return &TooManyError{what, most} }

func (r *Reading) addPod(raw []byte) error {
	var o podObject
	if named, err := r.decode("Pod", raw, &o, &o.meta); !named {
		return err
	}
	if o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed {
		return nil // it takes no room
	}
	p, err := r.pod(&o)
	if err != nil {
		return fmt.Errorf("Pod %s: %w", o.called(), err)
	}
	if r.pods[p.key()] = p; len(r.pods) > mostPodsRead {
		return tooMany("pods", mostPodsRead)
	}
	return nil
}

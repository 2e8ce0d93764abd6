package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// A root is what keeps a set of pods: the outermost controller that nodesim knows, or what comes nearest to it.
type root struct {
	kind string // of the object
	types.NamespacedName
}

// An owned workload is a root with its pods, oldest first.
type owned struct {
	root
	as     spec.WorkloadKind
	object *keeper // nil where it isn't among the objects
	pods   []*pod
}

// youngest is the pod that the workload's next pods will be like, or nil.
func (o *owned) youngest() *pod {
	if len(o.pods) == 0 {
		return nil
	}
	return o.pods[len(o.pods)-1]
}

// Kinds that aren't those of objects.
const (
	bare   = "Pod"  // a pod that nothing keeps
	static = "Node" // pods that a kubelet reads from its own files
)

// rootOf finds what keeps a pod, by the owners that are there, or by their names where they aren't.
func (r *Reading) rootOf(p *pod) root {
	owner := p.controller()
	switch {
	case owner == nil:
		return root{bare, p.key()}
	case owner.Kind == static:
		return root{static, types.NamespacedName{Namespace: p.Namespace, Name: strings.TrimSuffix(p.Name, "-"+p.node)}}
	}
	own := types.NamespacedName{Namespace: p.Namespace, Name: owner.Name}
	if owner.Kind != "ReplicaSet" {
		return root{owner.Kind, own}
	}
	if set := r.byUID[owner.UID]; set != nil && set.kind == owner.Kind {
		if above := set.controller(); above != nil {
			return root{above.Kind, types.NamespacedName{Namespace: p.Namespace, Name: above.Name}}
		}
		return root{owner.Kind, own}
	}
	// A Deployment names its ReplicaSets after itself and the hash of the template (pkg/controller/deployment/sync.go).
	if name, is := strings.CutSuffix(owner.Name, "-"+p.hash); is && p.hash != "" {
		return root{"Deployment", types.NamespacedName{Namespace: p.Namespace, Name: name}}
	}
	return root{owner.Kind, own}
}

// kindsAs are the kinds of workloads by those of objects. A pod that nothing keeps is no Job: budgets count it as healthy and not as
// expected, and those over a Job's pods allow nothing (k8s.io/kubernetes, pkg/controller/disruption/disruption.go, getExpectedScale,
// countHealthyPods).
var kindsAs = map[string]spec.WorkloadKind{
	"Deployment": spec.KindDeployment, "ReplicaSet": spec.KindReplicaSet, "StatefulSet": spec.KindStatefulSet, "DaemonSet": spec.KindDaemonSet,
	"Job": spec.KindJob, "ReplicationController": spec.KindReplicaSet, static: spec.KindDaemonSet, bare: spec.KindPod,
}

// workloads are the roots of all pods, and the objects that have none, in the order of their names.
func (d *draft) workloads() []*owned {
	byRoot := map[root]*owned{}
	take := func(at root) *owned {
		o := byRoot[at]
		if o == nil {
			o = &owned{root: at, as: kindsAs[at.kind], object: d.keepers[at]}
			if o.as == "" {
				o.as = spec.KindReplicaSet // for now
				d.said.add("workloads of kinds that nodesim has no model of", "they are StatefulSets here if their pods are numbered, else ReplicaSets", ref{workloadName, at.Namespace, at.Name})
			}
			byRoot[at] = o
		}
		return o
	}
	for _, key := range slices.SortedFunc(maps.Keys(d.pods), compareNames) {
		p := d.pods[key]
		if p.comesBack = d.comesBack(p); p.comesBack {
			d.said.add("pods that are being deleted, of StatefulSets that aren't among the objects", "each is made again, so it waits for a node here", ref{podName, p.Namespace, p.Name})
		} else if why, wanted := d.left(p); why != "" {
			d.said.add(why, "they aren't here", ref{podName, p.Namespace, p.Name})
			if wanted {
				d.elsewhere[d.rootOf(p)]++
			}
			continue
		}
		if p.unready && p.node != "" && !p.comesBack {
			d.said.add("pods that have a node and aren't Ready", "they are Ready here, so that their budgets allow more than in the cluster", ref{podName, p.Namespace, p.Name})
		}
		o := take(d.rootOf(p))
		o.pods = append(o.pods, p)
	}
	for _, at := range slices.SortedFunc(maps.Keys(d.keepers), compareRoots) {
		if d.keepers[at].alone() && d.elsewhere[at] == 0 {
			take(at)
		}
	}
	all := slices.SortedFunc(maps.Values(byRoot), func(a, b *owned) int { return compareRoots(a.root, b.root) })
	for _, o := range all {
		slices.SortStableFunc(o.pods, func(a, b *pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
		if kindsAs[o.kind] == "" && !slices.ContainsFunc(o.pods, func(p *pod) bool { return !o.numbers(p) }) {
			o.as = spec.KindStatefulSet
		}
	}
	return all
}

// numbers reports whether a pod is named after the workload and a number.
func (o *owned) numbers(p *pod) bool {
	number, is := strings.CutPrefix(p.Name, o.Name+"-")
	n, err := strconv.Atoi(number)
	return is && err == nil && strconv.Itoa(n) == number && n >= 0 && n < spec.MaxPods
}

// alone reports whether an object asks for pods by itself.
func (k *keeper) alone() bool {
	switch {
	case k.Spec.Template == nil, k.DeletionTimestamp != nil, k.kind == "Job", k.kind == "ReplicaSet" && k.controller() != nil:
		return false
	}
	return k.kind == "DaemonSet" || k.wanted() > 0
}

// left says why a pod isn't a part of the file, or nothing, and whether it is one of its workload's replicas all the same.
func (d *draft) left(p *pod) (why string, wanted bool) {
	switch {
	case p.DeletionTimestamp != nil:
		return "pods that are being deleted", false
	case p.node != "" && d.nodes[p.node] == nil:
		return "pods on nodes that aren't here", true
	case p.node == "" && p.daemon():
		return "pods of DaemonSets that wait for room on their nodes", false
	}
	return "", false
}

// comesBack reports whether a pod that is being deleted is one of its workload's replicas all the same: nothing else has the number of a
// StatefulSet's pod until that has ended. Where the object is there it says how many replicas there are; a ReplicaSet's pod has its
// successor already; and one on a node that isn't here comes back elsewhere.
func (d *draft) comesBack(p *pod) bool {
	if p.DeletionTimestamp == nil || p.node != "" && d.nodes[p.node] == nil {
		return false
	}
	at := d.rootOf(p)
	return d.keepers[at] == nil && (at.kind == "StatefulSet" || kindsAs[at.kind] == "" && (&owned{root: at}).numbers(p))
}

func (p *pod) daemon() bool {
	owner := p.controller()
	return owner != nil && owner.Kind == "DaemonSet"
}

// wanted are the replicas that an object asks for.
func (k *keeper) wanted() int {
	if k.Spec.Replicas == nil {
		return 1
	}
	return int(*k.Spec.Replicas)
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func compareRoots(a, b root) int {
	return cmp.Or(compareNames(a.NamespacedName, b.NamespacedName), cmp.Compare(a.kind, b.kind))
}

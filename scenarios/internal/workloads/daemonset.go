package workloads

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
)

// daemonSync is what a sync of a DaemonSet works with.
type daemonSync struct {
	*Actor
	o          *object
	set        *appsv1.DaemonSet
	on         map[string][]*kube.Pod // the pods of a node, by what they are bound or pinned to
	hash       string                 // of the newest template
	generation string                 // of the template, as its pods name it
	template   *corev1.PodTemplateSpec
	again      time.Duration
}

// syncDaemonSet is a DaemonSet's controller (pkg/controller/daemon/daemon_controller.go).
func (a *Actor) syncDaemonSet(o *object) time.Duration {
	d := &daemonSync{Actor: a, o: o, set: o.api.(*appsv1.DaemonSet)}
	if equality.Semantic.DeepEqual(d.set.Spec.Selector, &metav1.LabelSelector{}) {
		a.record(o, corev1.EventTypeWarning, "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return 0
	}
	if d.set.DeletionTimestamp != nil {
		return 0
	}
	current, old := d.history()
	if current == nil {
		return takenName
	}
	d.begin(current.api.GetLabels()[appsv1.DefaultDaemonSetUniqueLabelKey])
	d.place()
	if create, remove := d.manage(); !d.act(create, remove) && d.set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		d.act(d.roll())
	}
	d.truncate(old)
	d.place()
	if status := d.status(); !equality.Semantic.DeepEqual(status, d.now().Status) {
		updateStatus(a, o, func(set *appsv1.DaemonSet) { set.Status = status })
	}
	return d.again
}

func (d *daemonSync) now() *appsv1.DaemonSet { return d.o.api.(*appsv1.DaemonSet) }

// begin makes the template of new pods (CreatePodTemplate of pkg/controller/daemon/util).
func (d *daemonSync) begin(hash string) {
	d.hash, d.generation = hash, d.set.Annotations[appsv1.DeprecatedTemplateGeneration]
	t := d.set.Spec.Template.DeepCopy()
	if d.generation != "" {
		t.Labels = with(t.Labels, "pod-template-generation", d.generation)
	}
	t.Labels = with(t.Labels, appsv1.DefaultDaemonSetUniqueLabelKey, hash)
	tolerate(&t.Spec)
	d.template, d.o.fits = t, &daemonFit{node: t.Spec.NodeName, template: convert.TemplateFromAPI(t)}
}

// tolerate adds what the pods of every DaemonSet tolerate (AddOrUpdateDaemonPodTolerations).
func tolerate(s *corev1.PodSpec) {
	add := func(key string, effect corev1.TaintEffect) {
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
		for i := range s.Tolerations {
			if o := &s.Tolerations[i]; o.MatchToleration(&t) {
				*o = t
				return
			}
		}
		s.Tolerations = append(s.Tolerations, t)
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if s.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
}

// place finds the pods of each node, the oldest first, those that are bound before others (getNodesToDaemonPods). One
// that has ended and is being deleted doesn't count.
func (d *daemonSync) place() {
	d.on = map[string][]*kube.Pod{}
	for _, p := range d.claim(d.o, nil) {
		if p.Terminal() && p.Terminating() {
			continue
		}
		node := cmp.Or(p.NodeName, p.Pinned)
		d.on[node] = append(d.on[node], p)
	}
	for _, pods := range d.on {
		slices.SortStableFunc(pods, func(a, b *kube.Pod) int {
			bound := func(p *kube.Pod) int {
				if p.NodeName != "" {
					return 0
				}
				return 1
			}
			return cmp.Or(cmp.Compare(bound(a), bound(b)), cmp.Compare(a.Created.Second(), b.Created.Second()), cmp.Compare(a.Name, b.Name))
		})
	}
}

func (d *daemonSync) fits(n *kube.Node) (run, stay bool) { return d.o.fits.on(n) }

// A daemonFit says where a DaemonSet has pods, by its template: whether they are admitted shows when they are created.
type daemonFit struct {
	node     string
	template *kube.Template
}

// on says whether a pod should be started on a node, and whether one that is there may stay (NodeShouldRunDaemonPod of
// pkg/controller/daemon/daemon_controller.go).
func (f *daemonFit) on(n *kube.Node) (run, stay bool) {
	t := f.template
	if f.node != "" && f.node != n.Name || !n.Labels.Holds(t.NodeSelector) {
		return false, false
	}
	if t.Demands != nil && t.Demands.NodeAffinity != nil && !t.Demands.NodeAffinity.Allows(n.Name, n.Labels) {
		return false, false
	}
	run, stay = true, true
	for _, taint := range n.Taints {
		if taint.Effect == component.EffectPreferNoSchedule || component.Tolerated(t, taint) {
			continue
		}
		run = false
		stay = stay && taint.Effect != component.EffectNoExecute
	}
	return run, stay
}

// manage says on which nodes a pod is missing, and which pods are to go (podsShouldBeOnNode of each node).
func (d *daemonSync) manage() (create []string, remove []*kube.Pod) {
	there := map[string]bool{}
	for _, n := range d.env.API.Nodes() {
		there[n.Name] = true
		run, stay := d.fits(n)
		pods := d.on[n.Name]
		switch {
		case run && len(pods) == 0:
			create = append(create, n.Name)
		case stay:
			alive, ended := d.ended(n.Name, pods)
			remove = append(remove, ended...)
			if d.surge() {
				remove = append(remove, d.surplus(alive)...)
				if len(alive) == 0 && run {
					create = append(create, n.Name)
				}
			} else if len(alive) > 1 {
				remove = append(remove, alive[1:]...)
			}
		default:
			remove = append(remove, slices.DeleteFunc(slices.Clone(pods), (*kube.Pod).Terminating)...)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(d.on)) {
		if !there[node] {
			remove = append(remove, slices.DeleteFunc(slices.Clone(d.on[node]), func(p *kube.Pod) bool { return p.NodeName != "" })...)
		}
	}
	return create, remove
}

func (d *daemonSync) surge() bool {
	u := d.set.Spec.UpdateStrategy.RollingUpdate
	if d.set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType || u == nil || u.MaxSurge == nil {
		return false
	}
	n, _ := d.limits(100) // of a percentage, whether it is any
	return n > 0
}

// ended tells the pods of a node that go on from those that have ended and are to be replaced. A node where they fail
// again and again waits.
func (d *daemonSync) ended(node string, pods []*kube.Pod) (alive, ended []*kube.Pod) {
	for _, p := range pods {
		switch {
		case p.Terminating():
		case p.Phase == string(corev1.PodFailed):
			if left := d.o.failures.left(node, d.env.Now()); left > 0 {
				d.again = sooner(d.again, left)
				continue
			}
			d.o.failures.next(node, d.env.Now())
			d.record(d.o, corev1.EventTypeWarning, "FailedDaemonPod", fmt.Sprintf("Found failed daemon pod %s/%s on node %s, will try to kill it", p.Namespace, p.Name, node))
			ended = append(ended, p)
		case p.Phase == string(corev1.PodSucceeded):
			d.record(d.o, corev1.EventTypeNormal, "SucceededDaemonPod", fmt.Sprintf("Found succeeded daemon pod %s/%s on node %s, will try to delete it", p.Namespace, p.Name, node))
			ended = append(ended, p)
		default:
			alive = append(alive, p)
		}
	}
	return alive, ended
}

// surplus are those pods of a node that go where one with the old template and one with the new may be there at once.
func (d *daemonSync) surplus(pods []*kube.Pod) (gone []*kube.Pod) {
	if len(pods) <= 1 {
		return nil
	}
	var fresh, old *kube.Pod
	for _, p := range pods {
		first := &old
		if p.Labels.Get(appsv1.DefaultDaemonSetUniqueLabelKey) == d.hash {
			first = &fresh
		}
		if *first == nil {
			*first = p
		} else {
			gone = append(gone, p)
		}
	}
	if fresh != nil && old != nil && (!old.Ready() || d.isAvailable(fresh)) {
		gone = append(gone, old)
	}
	return gone
}

// act creates and deletes pods. It reports whether there were any.
func (d *daemonSync) act(create []string, remove []*kube.Pod) bool {
	for _, p := range remove[:min(len(remove), burst)] {
		d.deletePod(d.o, p)
	}
	if len(create) == 0 {
		return len(remove) > 0
	}
	again, _ := d.batches(d.o, min(len(create), burst), func() error {
		name := d.generated(d.o, d.o.doc.Name+"-")
		err := d.createPod(d.o, d.template, name, func(p *kube.Pod) { p.Pinned = create[0] })
		create = create[1:]
		return d.created(d.o, name, err)
	})
	d.again = sooner(d.again, again)
	return true
}

func (d *daemonSync) isAvailable(p *kube.Pod) bool {
	is, in := d.available(p, d.set.Spec.MinReadySeconds)
	d.again = sooner(d.again, in)
	return is
}

// updated reports whether a pod has the newest template (IsPodUpdated).
func (d *daemonSync) updated(p *kube.Pod) bool {
	return d.hash != "" && p.Labels.Get(appsv1.DefaultDaemonSetUniqueLabelKey) == d.hash ||
		d.generation != "" && p.Labels.Get("pod-template-generation") == d.generation
}

// status counts the pods (updateDaemonSetStatus).
func (d *daemonSync) status() appsv1.DaemonSetStatus {
	set := d.now()
	s := appsv1.DaemonSetStatus{ObservedGeneration: set.Generation, CollisionCount: set.Status.CollisionCount, Conditions: set.Status.Conditions}
	for _, n := range d.env.API.Nodes() {
		pods := d.on[n.Name]
		switch run, _ := d.fits(n); {
		case run:
			s.DesiredNumberScheduled++
		case len(pods) > 0:
			s.NumberMisscheduled++
			continue
		}
		if len(pods) == 0 {
			continue
		}
		s.CurrentNumberScheduled++
		if p := pods[0]; p.Ready() {
			s.NumberReady++
			if d.isAvailable(p) {
				s.NumberAvailable++
			}
		}
		if d.updated(pods[0]) {
			s.UpdatedNumberScheduled++
		}
	}
	s.NumberUnavailable = s.DesiredNumberScheduled - s.NumberAvailable
	return s
}

// nodeChanged has DaemonSets look where a pod is to be started on a node or to leave it (syncNodeUpdate). Else a status
// may stay as it was: where a node is deleted, its pods alone have them look (NewDaemonSetsController handles no delete of a node).
func (a *Actor) nodeChanged(c kube.Change, old, n *kube.Node) {
	if c == kube.Deleted || c == kube.Modified && slices.Equal(old.Taints, n.Taints) && slices.Equal(old.Labels, n.Labels) {
		return
	}
	for _, o := range a.daemons {
		if o.fits == nil {
			a.enqueue(o)
			continue
		}
		run, stay := o.fits.on(n)
		there := slices.ContainsFunc(a.env.API.PodsOn(n.Name), func(p *kube.Pod) bool { return p.Owner != nil && p.Owner.UID == o.doc.UID })
		if run && !there || !stay && there || there && o.api.(*appsv1.DaemonSet).Status.NumberMisscheduled > 0 {
			a.enqueue(o)
		}
	}
}

// A failed pod of a DaemonSet is deleted after a second, and each time it fails again on its node after twice as long, up
// to a quarter of an hour (failedPodsBackoff of cmd/kube-controller-manager/app/apps.go).
const (
	daemonBackoff       = time.Second
	daemonBackoffAtMost = 15 * time.Minute
)

// nodeBackoffs are the back-offs of a DaemonSet's nodes.
type nodeBackoffs map[string]nodeBackoff

type nodeBackoff struct {
	wait time.Duration
	from time.Duration
}

func (b nodeBackoffs) left(node string, now time.Duration) time.Duration {
	return max(b[node].from+b[node].wait-now, 0)
}

func (b *nodeBackoffs) next(node string, now time.Duration) {
	if *b == nil {
		*b = nodeBackoffs{}
	}
	was := (*b)[node]
	wait := min(2*was.wait, daemonBackoffAtMost)
	if was.wait == 0 || now > was.from+2*daemonBackoffAtMost {
		wait = daemonBackoff
	}
	(*b)[node] = nodeBackoff{wait, now}
}

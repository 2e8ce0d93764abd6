package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// workload is a root as a file has it, or nil where no pod tells what its pods are like.
func (d *draft) workload(o *owned) *spec.Workload {
	w := &spec.Workload{Namespace: o.Namespace, Kind: o.as}
	w.Name = d.names.workload(o.Namespace, o.Name, string(o.as))
	if w.Name != o.Name {
		d.said.add("workloads whose name is taken or no DNS label", "they have others here", ref{workloadName, o.Namespace, o.Name})
	}
	var its *corev1.PodSpec
	switch last := o.youngest(); {
	case last != nil:
		its, w.PodLabels, w.DoNotDisrupt = last.spec, ofTemplate(last.Labels), last.Annotations.DoNotDisrupt == "true"
	default:
		t := o.object.Spec.Template // of an object without pods alone
		var err error
		if its, err = d.cleaned(&t.Spec, o.as == spec.KindDaemonSet); err != nil {
			return nil
		}
		w.PodLabels, w.DoNotDisrupt = maps.Clone(t.Labels), t.Annotations.DoNotDisrupt == "true"
	}
	if o.as == spec.KindDaemonSet {
		its = d.daemonSpec(o, its)
	}
	w.PodSpec = &spec.PodSpec{PodSpec: *its.DeepCopy()}
	d.rename(&w.PodSpec.PodSpec)
	d.tie(o, &w.PodSpec.PodSpec)
	d.unset(o, &w.PodSpec.PodSpec)
	d.prioritize(o, &w.PodSpec.PodSpec)
	if len(w.PodLabels) == 0 {
		w.PodLabels = nil
	}
	d.place(o, w)
	d.renumber(o, w)
	d.remark(o, w)
	return w
}

// unset takes out of a spec what waits for programs that no simulation has: it would wait forever.
func (d *draft) unset(o *owned, s *corev1.PodSpec) {
	at := ref{workloadName, o.Namespace, o.Name}
	if len(s.ReadinessGates) > 0 {
		d.said.add("workloads with readiness gates", "their pods are ready as soon as their containers are", at)
		s.ReadinessGates = nil
	}
	if s.SchedulerName != "" {
		d.said.add("workloads with a scheduler of their own", "Kubernetes' own places their pods here", at)
		s.SchedulerName = ""
	}
	if len(s.SchedulingGates) > 0 && slices.ContainsFunc(o.pods, func(p *pod) bool { return p.node != "" }) {
		d.said.add("workloads with scheduling gates that somebody removes", "their pods have none here", at)
		s.SchedulingGates = nil
	}
}

// prioritize gives a template the priority that admission gives its pods.
func (d *draft) prioritize(o *owned, s *corev1.PodSpec) {
	if s.Priority != nil || s.PriorityClassName == "" || strings.HasPrefix(s.PriorityClassName, "system-") {
		return
	}
	if value, is := d.classes[s.PriorityClassName]; is {
		s.Priority = &value
		return
	}
	d.said.add("workloads whose PriorityClass isn't among the objects", "their pods have the priority 0 here", ref{workloadName, o.Namespace, o.Name})
}

// place says how many pods there are to be, which there are, and where.
func (d *draft) place(o *owned, w *spec.Workload) {
	size := d.volumeOf(o)
	if o.as != spec.KindDaemonSet {
		w.Volume = size
	}
	for _, p := range o.pods {
		at := spec.PlacedPod{Name: p.Name, Node: p.node}
		if o.as == spec.KindStatefulSet && w.Name != o.Name {
			at.Name = w.Name + strings.TrimPrefix(p.Name, o.Name)
		}
		if p.comesBack {
			at.Node = ""
		}
		if at.Node == "" && w.Volume != nil {
			if at.Zone = d.zoneOfClaims(p); at.Zone == "" {
				at.Zone = d.zones[p.node]
			}
		}
		w.Pods = append(w.Pods, at)
	}
	slices.SortFunc(w.Pods, func(a, b spec.PlacedPod) int { return compareNumbered(a.Name, b.Name) })
	if o.as == spec.KindDaemonSet {
		return
	}
	w.Replicas = len(o.pods)
	if o.object == nil || o.as == spec.KindJob {
		return
	}
	switch wanted := o.object.wanted(); {
	case wanted < len(o.pods):
		d.said.add("workloads with more pods than replicas", "a rollout or a scaling is under way; here all of them are wanted", ref{workloadName, o.Namespace, o.Name})
	case wanted <= spec.MaxPods:
		w.Replicas = max(wanted-d.elsewhere[o.root], len(o.pods)) // in a rollout there may be more than are wanted
	}
}

// renumber numbers the pods of a StatefulSet as a simulation does: from 0 on.
func (d *draft) renumber(o *owned, w *spec.Workload) {
	if w.Kind != spec.KindStatefulSet {
		return
	}
	over := func(p spec.PlacedPod) bool {
		n, err := strconv.Atoi(strings.TrimPrefix(p.Name, w.Name+"-"))
		return err != nil || n >= w.Replicas
	}
	if !slices.ContainsFunc(w.Pods, over) {
		return
	}
	d.said.add("StatefulSets whose pods aren't numbered from 0 on", "they are here", ref{workloadName, o.Namespace, o.Name})
	for i := range w.Pods {
		w.Pods[i].Name = w.Name + "-" + strconv.Itoa(i)
	}
}

// compareNumbered compares names, those that end in numbers by these.
func compareNumbered(a, b string) int {
	number := func(name string) (string, int) {
		i := strings.LastIndexByte(name, '-')
		n, err := strconv.Atoi(name[i+1:])
		if i < 0 || err != nil {
			return name, -1
		}
		return name[:i], n
	}
	nameA, numberA := number(a)
	nameB, numberB := number(b)
	return cmp.Or(cmp.Compare(nameA, nameB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

// daemonSpec is the spec of a DaemonSet's pods with the terms that its controller has replaced in them.
func (d *draft) daemonSpec(o *owned, its *corev1.PodSpec) *corev1.PodSpec {
	out := *its
	if o.kind == static {
		return d.staticSpec(o, &out)
	}
	if o.object == nil || o.object.Spec.Template == nil {
		d.said.add("DaemonSets that aren't among the objects", "the node affinity of their pods can't be told from them", ref{workloadName, o.Namespace, o.Name})
		return &out
	}
	own := o.object.Spec.Template.Spec.Affinity
	if own == nil || own.NodeAffinity == nil {
		return &out
	}
	a := corev1.Affinity{}
	if out.Affinity != nil {
		a = *out.Affinity
	}
	a.NodeAffinity = own.NodeAffinity
	out.Affinity = &a
	return &out
}

// staticSpec is the spec of static pods, as a DaemonSet's on the nodes that have them. They tolerate every taint, as kubelets start
// them whatever a node's taints are.
func (d *draft) staticSpec(o *owned, its *corev1.PodSpec) *corev1.PodSpec {
	d.said.add("static pods, which a kubelet starts by itself", "they are DaemonSets here", ref{workloadName, o.Namespace, o.Name})
	its.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	nodes := map[string]bool{}
	for _, p := range o.pods {
		nodes[p.node] = true
	}
	if len(nodes) == len(d.nodes) {
		return its
	}
	its.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: slices.Sorted(maps.Keys(nodes)),
		}}}},
	}}}
	return its
}

// longGrace is a grace period, in seconds, that somebody has set since the pods need it.
const longGrace = 5 * 60

// remark says what of a workload the file can't.
func (d *draft) remark(o *owned, w *spec.Workload) {
	at := ref{workloadName, o.Namespace, o.Name}
	say := func(is bool, what, why string) {
		if is {
			d.said.add(what, why, at)
		}
	}
	last := o.youngest()
	say(o.kind == bare, "pods that nothing keeps", "an eviction ends each for good; a live run has Jobs in their place, over which a budget with maxUnavailable or a percentage allows nothing")
	say(o.object != nil && o.object.Spec.MinReadySeconds > 0, "workloads with minReadySeconds", "their pods are available as soon as they are ready")
	say(last != nil && slices.ContainsFunc(o.pods, func(p *pod) bool { return p.spec != last.spec }),
		"workloads whose pods aren't alike", "all have the spec of the youngest")
	say(last != nil && slices.ContainsFunc(o.pods, func(p *pod) bool { return !maps.Equal(ofTemplate(p.Labels), ofTemplate(last.Labels)) }),
		"workloads whose pods have different labels", "all have those of the youngest here, so that budgets which select by them hold other pods")
	grace := w.PodSpec.TerminationGracePeriodSeconds
	say(grace != nil && *grace >= longGrace || slices.ContainsFunc(o.pods, func(p *pod) bool { return p.lingers }),
		"workloads with a long grace period, a preStop hook or a finalizer", "their pods end within seconds here: say how long with stop and finalizer")
	parallel := o.object != nil && o.object.Spec.PodManagement == string(appsv1.ParallelPodManagement)
	say(w.Kind == spec.KindStatefulSet && (parallel || kindsAs[o.kind] == ""), "StatefulSets whose pods may be made in parallel", "each waits for the one before it here")
	say(slices.ContainsFunc(o.pods, func(p *pod) bool { return p.unbound }),
		"workloads of kinds that nodesim has no model of, whose pods are bound to a node each", "they may run on other nodes here")
	say(last != nil && last.dynamic, "workloads with claims of devices (resource.k8s.io)", "their pods run on any node here")
	say(usesNamespaceSelector(w.PodSpec.Affinity), "workloads with a namespaceSelector", "labels of namespaces aren't here")
}

func usesNamespaceSelector(a *corev1.Affinity) bool {
	return slices.ContainsFunc(podTerms(a), func(t *corev1.PodAffinityTerm) bool { return t.NamespaceSelector != nil })
}

// podTerms are all terms about other pods.
func podTerms(a *corev1.Affinity) (terms []*corev1.PodAffinityTerm) {
	if a == nil {
		return nil
	}
	take := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			terms = append(terms, &required[i])
		}
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
	}
	if p := a.PodAffinity; p != nil {
		take(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		take(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return terms
}

// nodeTerms are all terms about nodes.
func nodeTerms(a *corev1.Affinity) (all []*corev1.NodeSelectorTerm) {
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	n := a.NodeAffinity
	if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		for i := range r.NodeSelectorTerms {
			all = append(all, &r.NodeSelectorTerms[i])
		}
	}
	for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		all = append(all, &n.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
	}
	return all
}

// nodeRequirements are all requirements about labels of nodes.
func nodeRequirements(a *corev1.Affinity) (all []*corev1.NodeSelectorRequirement) {
	for _, t := range nodeTerms(a) {
		for j := range t.MatchExpressions {
			all = append(all, &t.MatchExpressions[j])
		}
	}
	return all
}

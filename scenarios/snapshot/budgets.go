package snapshot

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// budgetsOf are the cluster's budgets as a file has them.
func (d *draft) budgetsOf() (all []spec.Budget) {
	labelled := map[string]map[string]labels.Set{} // each set of labels of a namespace's workloads once
	pods := map[string][]*pod{}                    // by namespace
	for _, p := range d.pods {
		pods[p.Namespace] = append(pods[p.Namespace], p)
	}
	for i := range d.file.Workloads {
		w := &d.file.Workloads[i]
		if labelled[w.Namespace] == nil {
			labelled[w.Namespace] = map[string]labels.Set{}
		}
		set := labels.Set(w.PodLabels)
		labelled[w.Namespace][set.String()] = set
	}
	for _, key := range slices.SortedFunc(maps.Keys(d.budgets), compareNames) {
		b := d.budgets[key]
		at := ref{budgetName, b.Namespace, b.Name}
		selector, ok := b.selector()
		switch {
		case !ok || b.Spec.Selector == nil:
			d.said.add("budgets without a selector that can be read", "they cover no pod and aren't here", at)
			continue
		case b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil:
			d.said.add("budgets with both numbers", "kube-apiserver takes none such, and they aren't here", at)
			continue
		}
		one := spec.Budget{
			Name: d.names.budget(b.Namespace, b.Name), Namespace: b.Namespace, Selector: &spec.Selector{LabelSelector: *b.Spec.Selector},
			MinAvailable: amount(b.Spec.MinAvailable), MaxUnavailable: amount(b.Spec.MaxUnavailable),
		}
		if b.Spec.MinAvailable == nil && b.Spec.MaxUnavailable == nil {
			// It expects no pod, and then nothing may be disrupted (k8s.io/kubernetes, pkg/controller/disruption/disruption.go,
			// getExpectedPodCount, updatePdbStatus).
			d.said.add("budgets without a number", "they allow no disruption: minAvailable is 100% here", at)
			one.MinAvailable = &spec.IntOrPercent{Value: 100, IsPercent: true}
		}
		if one.MinAvailable == nil && one.MaxUnavailable == nil {
			d.said.add("budgets whose number can't be read", "they aren't here", at)
			continue
		}
		if b.Spec.Unhealthy == string(spec.UnhealthyAlwaysAllow) {
			one.UnhealthyPodEvictionPolicy = spec.UnhealthyAlwaysAllow
		}
		each, unlike := ofEach(selector)
		switch {
		case !each && !selects(selector, labelled[b.Namespace]), each && !selectsPod(selector, pods[b.Namespace]):
			d.said.add("budgets that select no pod", "they are here and hold nothing up", at)
		case unlike:
			d.said.add("budgets that select pods by labels which controllers give them", "these labels have other values here, so that they may hold nothing up", at)
		}
		all = append(all, one)
	}
	return all
}

func selects(selector labels.Selector, sets map[string]labels.Set) bool {
	for _, set := range sets {
		if selector.Matches(set) {
			return true
		}
	}
	return false
}

// ofEach reports whether a selector asks for a label that controllers give each pod, and whether it is one that has another value in a
// simulation.
func ofEach(selector labels.Selector) (each, unlike bool) {
	asked, _ := selector.Requirements()
	for i := range asked {
		key := asked[i].Key()
		is := slices.Contains(perPod, key)
		each, unlike = each || is, unlike || is && !slices.Contains(alike, key)
	}
	return each, unlike
}

// alike are labels of each pod that a simulation gives it, too: those that are its name, its number or that of its workload.
var alike = []string{appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel, batchv1.JobNameLabel, "job-name"}

// selectsPod looks at every pod of a namespace.
func selectsPod(selector labels.Selector, pods []*pod) bool {
	return slices.ContainsFunc(pods, func(p *pod) bool { return selector.Matches(labels.Set(p.Labels)) })
}

// selector selects the budget's pods. An empty one selects no pod in policy/v1beta1 (k8s.io/api/policy/v1beta1, types.go).
func (b *budget) selector() (labels.Selector, bool) {
	if b.beta && b.Spec.Selector != nil && len(b.Spec.Selector.MatchLabels)+len(b.Spec.Selector.MatchExpressions) == 0 {
		return nil, false
	}
	s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return s, err == nil
}

// amount is a number or a percentage, nil where it is neither.
func amount(v *intstr.IntOrString) *spec.IntOrPercent {
	if v == nil {
		return nil
	}
	if v.Type == intstr.Int {
		if v.IntVal < 0 {
			return nil
		}
		return &spec.IntOrPercent{Value: min(int(v.IntVal), spec.MaxPods)}
	}
	digits, is := strings.CutSuffix(v.StrVal, "%")
	n, err := strconv.Atoi(digits)
	if !is || err != nil || n < 0 {
		return nil
	}
	return &spec.IntOrPercent{Value: min(n, 100), IsPercent: true}
}

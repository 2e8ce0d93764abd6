package spec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/rawjson"
)

// PodSpec is the spec of a workload's pods in Kubernetes' own words: what places them on a node, sizes them and ends them. It has no
// environment, no arguments and no commands.
type PodSpec struct{ corev1.PodSpec }

// Selector is a label selector in Kubernetes' own words: matchLabels and matchExpressions.
type Selector struct{ metav1.LabelSelector }

// keys are those that a mapping may have; below one without keys of its own the types of k8s.io/api decide.
type keys map[string]keys

var containerKeys = keys{
	"name": nil, "image": nil, "resources": nil, "resizePolicy": nil, "restartPolicy": nil,
	"ports": {"hostPort": nil, "containerPort": nil, "hostIP": nil, "protocol": nil, "name": nil},
}

var podSpecKeys = keys{
	"nodeSelector": nil, "affinity": nil, "topologySpreadConstraints": nil, "tolerations": nil, "priority": nil, "priorityClassName": nil,
	"preemptionPolicy": nil, "schedulerName": nil, "schedulingGates": nil, "terminationGracePeriodSeconds": nil, "hostNetwork": nil,
	"overhead": nil, "runtimeClassName": nil, "readinessGates": nil, "restartPolicy": nil, "resources": nil,
	"containers": containerKeys, "initContainers": containerKeys,
}

// allowed refuses a key that a file has no use for.
func (d *decoder) allowed(n *node, path string, known keys) *Error {
	for i, item := range n.items {
		if n.kind == isList {
			if err := d.allowed(item, fmt.Sprintf("%s[%d]", path, i), known); err != nil {
				return err
			}
			continue
		}
		key := n.keys[i]
		below, is := known[key]
		if !is {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			e := d.at(item, under(path, key), "unknown key", list(names))
			if e.Remedy = didYouMean(phrase.Closest(key, names)); e.Remedy != "" {
				e.Wanted = ""
			}
			return e
		}
		if below != nil {
			if err := d.allowed(item, under(path, key), below); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendJSON appends a value as JSON.
func (d *decoder) appendJSON(b []byte, n *node, path string) ([]byte, *Error) {
	var err *Error
	switch n.kind {
	case isMapping:
		b = append(b, '{')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(rawjson.AppendString(b, n.keys[i]), ':')
			if b, err = d.appendJSON(b, item, under(path, n.keys[i])); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case isList:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = d.appendJSON(b, item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case isNumber:
		if !json.Valid([]byte(n.text)) {
			return nil, d.at(n, path, n.String(), "a decimal number")
		}
		return append(b, n.text...), nil
	case isBool:
		if n.text != "true" && n.text != "false" {
			return nil, d.at(n, path, n.String(), "true or false")
		}
		return append(b, n.text...), nil
	case isNull:
		return nil, d.notText(n, path)
	case isText:
	}
	if e := d.form(n, path, ""); e != nil {
		return nil, e
	}
	return rawjson.AppendString(b, n.text), nil
}

// object fills a value of k8s.io/api from a mapping.
func (d *decoder) object(n *node, path, of string, into any) *Error {
	if n.kind != isMapping {
		return d.at(n, path, n.String(), "a mapping, "+of)
	}
	text, err := d.appendJSON(nil, n, path)
	if err != nil {
		return err
	}
	strict, bad := kjson.UnmarshalStrict(text, into)
	if bad == nil && len(strict) > 0 {
		bad = strict[0]
	}
	if bad != nil {
		return d.at(n, path, oneLine(bad), of)
	}
	return nil
}

// oneLine is an error's text, short, of which no part was obeyed.
func oneLine(err error) string {
	text := strings.Map(func(r rune) rune {
		if notPrintable(r) {
			return ' '
		}
		return r
	}, err.Error())
	return fmt.Sprintf("%.200s", text)
}

func (d *decoder) podSpec(n *node, p *PodSpec, path string) *Error {
	if n.kind == isMapping {
		if err := d.allowed(n, path, podSpecKeys); err != nil {
			return err
		}
	}
	if err := d.object(n, path, "a PodSpec of Kubernetes", &p.PodSpec); err != nil {
		return err
	}
	if place, found, wanted := p.bad(); found != "" {
		return d.at(n, under(path, place), found, wanted)
	}
	p.defaults()
	return nil
}

func (d *decoder) selector(n *node, s *Selector, path string) *Error {
	if err := d.object(n, path, "a label selector of Kubernetes", &s.LabelSelector); err != nil {
		return err
	}
	if _, err := metav1.LabelSelectorAsSelector(&s.LabelSelector); err != nil {
		return d.at(n, path, oneLine(err), "a label selector of Kubernetes")
	}
	return nil
}

// defaults fills in what the API server does and the scheduler looks at: requests that limits imply, and ports.
func (p *PodSpec) defaults() {
	pod := corev1.Pod{Spec: *p.DeepCopy()}
	if err := kubedefaults.FillObject(corev1.SchemeGroupVersion.WithKind("Pod"), &pod); err != nil {
		return // it is a Pod
	}
	take := func(own, filled []corev1.Container) {
		for i := range own {
			own[i].Resources, own[i].Ports = filled[i].Resources, filled[i].Ports
		}
	}
	take(p.Containers, pod.Spec.Containers)
	take(p.InitContainers, pod.Spec.InitContainers)
}

// bad says what the API server would refuse (k8s.io/kubernetes/pkg/apis/core/validation, ValidatePodSpec), or is empty.
func (p *PodSpec) bad() (place, found, wanted string) {
	if n := len(p.Containers) + len(p.InitContainers); len(p.Containers) == 0 || n > MaxContainers {
		return "containers", fmt.Sprintf("%d of them, init containers included", n), fmt.Sprintf("1 to %d", MaxContainers)
	}
	seen := map[string]bool{}
	for _, list := range []struct {
		key  string
		list []corev1.Container
	}{{"containers", p.Containers}, {"initContainers", p.InitContainers}} {
		for i := range list.list {
			c, at := &list.list[i], fmt.Sprintf("%s[%d]", list.key, i)
			if len(validation.IsDNS1123Label(c.Name)) > 0 || seen[c.Name] {
				return at + ".name", fmt.Sprintf("%.80q", c.Name), "a DNS-1123 label that no other container has"
			}
			seen[c.Name] = true
			if c.Image != "" && !imageForm.MatchString(c.Image) {
				return at + ".image", fmt.Sprintf("%.80q", c.Image), forms["image"].wanted
			}
			for _, r := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
				if found := badResources(r); found != "" {
					return at + ".resources", found, "quantities of named resources, 0 or more"
				}
			}
		}
	}
	if found := badResources(p.Overhead); found != "" {
		return "overhead", found, "quantities of named resources, 0 or more"
	}
	if g := p.TerminationGracePeriodSeconds; g != nil && (*g < 0 || *g > int64(MaxDuration.Seconds())) {
		return "terminationGracePeriodSeconds", strconv.FormatInt(*g, 10), fmt.Sprintf("0 to %d", int64(MaxDuration.Seconds()))
	}
	for _, name := range []struct{ key, value string }{{"priorityClassName", p.PriorityClassName}, {"schedulerName", p.SchedulerName}} {
		if name.value != "" && len(validation.IsDNS1123Subdomain(name.value)) > 0 {
			return name.key, fmt.Sprintf("%.80q", name.value), "a DNS-1123 subdomain"
		}
	}
	for i := range p.Tolerations {
		if t := &p.Tolerations[i]; t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0 || len(validation.IsValidLabelValue(t.Value)) > 0 {
			return fmt.Sprintf("tolerations[%d]", i), fmt.Sprintf("%.80q=%.80q", t.Key, t.Value), "the key and the value of a taint"
		}
	}
	for i, g := range p.SchedulingGates {
		if len(validation.IsQualifiedName(g.Name)) > 0 {
			return fmt.Sprintf("schedulingGates[%d].name", i), fmt.Sprintf("%.80q", g.Name), forms["key"].wanted
		}
	}
	if err := badLabels(p.NodeSelector); err != "" {
		return "nodeSelector", err, "labels of nodes"
	}
	return p.badTerms()
}

// badTerms says which term of affinity or spread the API server would refuse.
func (p *PodSpec) badTerms() (place, found, wanted string) {
	for i := range p.TopologySpreadConstraints {
		t, at := &p.TopologySpreadConstraints[i], fmt.Sprintf("topologySpreadConstraints[%d]", i)
		switch {
		case t.MaxSkew < 1:
			return at + ".maxSkew", strconv.Itoa(int(t.MaxSkew)), "1 or more"
		case t.WhenUnsatisfiable != corev1.DoNotSchedule && t.WhenUnsatisfiable != corev1.ScheduleAnyway:
			return at + ".whenUnsatisfiable", fmt.Sprintf("%.80q", t.WhenUnsatisfiable), "DoNotSchedule or ScheduleAnyway"
		}
		if found := badTopology(t.TopologyKey, t.LabelSelector); found != "" {
			return at, found, "a topologyKey and a label selector"
		}
	}
	a := p.Affinity
	if a == nil {
		return "", "", ""
	}
	if n := a.NodeAffinity; n != nil {
		terms := []corev1.NodeSelectorTerm{}
		if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			terms = append(terms, r.NodeSelectorTerms...)
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, n.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
		}
		for i := range terms {
			if found := badRequirements(terms[i].MatchExpressions); found != "" {
				return "affinity.nodeAffinity", found, "requirements of a node's labels"
			}
		}
	}
	var near []corev1.PodAffinityTerm
	if n := a.PodAffinity; n != nil {
		near = append(near, n.RequiredDuringSchedulingIgnoredDuringExecution...)
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			near = append(near, n.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm)
		}
	}
	if n := a.PodAntiAffinity; n != nil {
		near = append(near, n.RequiredDuringSchedulingIgnoredDuringExecution...)
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			near = append(near, n.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm)
		}
	}
	for i := range near {
		found := badTopology(near[i].TopologyKey, near[i].LabelSelector)
		if found == "" {
			found = badTopology(near[i].TopologyKey, near[i].NamespaceSelector)
		}
		if found != "" {
			return "affinity", found, "terms with a topologyKey and label selectors"
		}
	}
	return "", "", ""
}

func badTopology(key string, selector *metav1.LabelSelector) string {
	if len(validation.IsQualifiedName(key)) > 0 {
		return fmt.Sprintf("the topologyKey %.80q", key)
	}
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		return oneLine(err)
	}
	return ""
}

// operators of a node's requirements, as the package labels has them.
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

func badRequirements(list []corev1.NodeSelectorRequirement) string {
	for i := range list {
		r := &list[i]
		op, known := operators[r.Operator]
		if !known {
			return fmt.Sprintf("the operator %.80q", r.Operator)
		}
		if _, err := labels.NewRequirement(r.Key, op, r.Values); err != nil {
			return oneLine(err)
		}
	}
	return ""
}

func badResources(list corev1.ResourceList) string {
	for name, q := range list {
		if len(validation.IsQualifiedName(string(name))) > 0 {
			return fmt.Sprintf("the resource %.80q", name)
		}
		if q.Sign() < 0 || q.Value() > 1<<50 {
			return fmt.Sprintf("%s: %s", name, q.String())
		}
	}
	return ""
}

func badLabels(m map[string]string) string {
	for key, value := range m {
		if len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
			return fmt.Sprintf("%.80q: %.80q", key, value)
		}
	}
	return ""
}

// fillPodSpec gives a pod's containers the images that the file leaves out, and the workload the grace of its pods.
func (w *Workload) fillPodSpec() {
	if w.PodSpec == nil {
		return
	}
	for _, list := range [][]corev1.Container{w.PodSpec.Containers, w.PodSpec.InitContainers} {
		for i := range list {
			if list[i].Image == "" {
				list[i].Image = "registry.example/" + list[i].Name + ":1.0.0"
			}
		}
	}
	if len(w.PodSpec.Containers) > 0 {
		w.Image = w.PodSpec.Containers[0].Image
	}
	if g := w.PodSpec.TerminationGracePeriodSeconds; g != nil {
		w.Grace = time.Duration(*g) * time.Second
	}
}

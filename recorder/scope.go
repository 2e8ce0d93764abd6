package recorder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// patience is the time an Event waits for the object that it is about.
const patience = 5 * time.Second

// verdict holds what a scope says of an Event.
type verdict int

const (
	outside verdict = iota
	inside
	undecided
)

// view holds what a scope knows of one object.
type view struct {
	in       bool
	state    *resourceState
	node     string          // the node it names
	owner    string          // UID of its controller, for pods
	mirror   string          // what the kubelet calls a static pod, in place of the UID
	labels   labels.Set      // of a pod in scope
	selector labels.Selector // of a budget
}

// scope applies a Scope. It is told of every object (look, forget) and puts
// those that come in through others into their resource's pending entries.
type scope struct {
	states  []*resourceState
	matches func(labels.Set) bool
	group   string
	keys    []string

	nodes  map[string]bool                 // in scope? by name; those alive
	onNode map[string]map[*object]struct{} // out of scope, by the node they name
	owned  map[string]map[*object]struct{} // pods without a node, out of scope, by controller
	owners map[string]bool                 // controllers that have had pods in scope
	pods   map[string]map[*object]struct{} // in scope, by namespace
	budget map[string]map[*object]struct{} // out of scope, by namespace
	// mirrors are the static pods by what kubelets call them: the hash of their files, which Events name as their UID. The API server gives
	// the pods that mirror them other UIDs (k8s.io/kubernetes, pkg/kubelet/config/common.go, applyDefaults).
	mirrors map[string]*object
	were    map[string]bool // UIDs once in scope; nodes' names with a slash before
	found   bool            // a node in scope was seen
	groups  map[string]bool // that nodes out of scope name, at most mostGroups
}

// mostGroups bounds how many names of groups are remembered for an error.
const mostGroups = 100

func isEvent(r timeline.Resource) bool {
	return r.Resource == "events" && (r.Group == "" || r.Group == "events.k8s.io")
}

// look takes in an object's present state and decides whether it is in scope.
func (s *scope) look(t *resourceState, o *object, raw []byte) {
	if o.view == nil {
		o.view = &view{state: t}
	}
	v := o.view
	s.unlink(o)
	was := v.in
	switch {
	case o.onTape:
		v.in = true
	case isEvent(t.res): // judged before
		v.in = true
	}
	switch t.res.String() {
	case "nodes":
		v.in = v.in || s.matches(labelsOf(raw))
		s.nodes[o.name] = v.in
		s.meet(v.in, raw)
	case "pods":
		v.node = rawjson.Text(raw, "spec", "nodeName")
		v.owner = controllerOf(raw)
		if v.mirror = rawjson.Text(raw, "metadata", "annotations", corev1.MirrorPodAnnotationKey); v.mirror != "" {
			s.mirrors[v.mirror] = o
		}
		v.labels = labelsOf(raw)
		v.in = v.in || s.nodes[v.node] || v.node == "" && v.owner != "" && s.owners[v.owner]
	case "poddisruptionbudgets.policy":
		v.selector = selectorOf(raw)
		v.in = v.in || s.guards(o)
	case "events", "events.events.k8s.io":
	default:
		v.in = v.in || s.other(o, raw)
	}
	s.link(o)
	if v.in && !isEvent(t.res) { // nothing depends on an Event
		s.came(o, was)
	}
}

// meet notes that there is a node in scope, and until then what groups there are.
func (s *scope) meet(in bool, raw []byte) {
	s.found = s.found || in
	if s.found || len(s.groups) >= mostGroups {
		return
	}
	l := labelsOf(raw)
	for _, key := range s.keys {
		if group := l[key]; group != "" {
			s.groups[group] = true
		}
	}
}

// unmatched is the error of a scope that no node was in.
func (s *scope) unmatched(c Scope) error {
	switch {
	case s.found:
		return nil
	case c.Selector != "":
		return fmt.Errorf("selector %q: found no node that matches: want labels that nodes have", c.Selector)
	case len(s.groups) == 0:
		return fmt.Errorf("node group %q: found no node of any group: want a label of %s on them, or a selector", c.Nodegroup, strings.Join(s.keys, ", "))
	}
	return fmt.Errorf("node group %q: found no such group: want one of %s", c.Nodegroup, strings.Join(sorted(s.groups), ", "))
}

// other decides about the resources that the scope knows nothing else of.
func (s *scope) other(o *object, raw []byte) bool {
	v := o.view
	v.node = nodeNamed(v.state.res, o, raw)
	if v.node != "" {
		return s.nodes[v.node]
	}
	l := labelsOf(raw)
	for _, key := range s.keys {
		if group, ok := l[key]; ok {
			return group == s.group
		}
	}
	return true
}

// came draws in what depends on an object that is in scope.
func (s *scope) came(o *object, was bool) {
	v := o.view
	if o.uid != "" {
		s.were[o.uid] = true
	}
	switch v.state.res.String() {
	case "nodes":
		s.were["/"+o.name] = true
		if !was {
			s.pull(s.onNode[o.name])
		}
	case "pods":
		if v.mirror != "" {
			s.were[v.mirror] = true
		}
		if v.owner != "" && !s.owners[v.owner] {
			s.owners[v.owner] = true
			s.pull(s.owned[v.owner])
		}
		for b := range s.budget[o.ns] {
			if b.view.selector.Matches(v.labels) {
				s.pull(map[*object]struct{}{b: {}})
			}
		}
	}
}

// pull brings objects in by something else than their own event.
func (s *scope) pull(objects map[*object]struct{}) {
	sorted := make([]*object, 0, len(objects))
	for o := range objects {
		sorted = append(sorted, o)
	}
	slices.SortFunc(sorted, func(a, b *object) int {
		return strings.Compare(a.ns+"/"+a.name, b.ns+"/"+b.name)
	})
	for _, o := range sorted {
		s.unlink(o)
		o.view.in = true
		s.link(o)
		if !o.queued && o.raw != nil {
			o.queued = true
			o.view.state.pendingEntries = append(o.view.state.pendingEntries, o)
		}
		s.came(o, false)
	}
}

// link files an object where what it waits for will find it.
func (s *scope) link(o *object) {
	v := o.view
	pod := v.state.res.String() == "pods"
	switch {
	case v.in && pod:
		file(s.pods, o.ns, o)
	case v.in:
	case v.selector != nil:
		file(s.budget, o.ns, o)
	case v.node != "":
		file(s.onNode, v.node, o)
	case pod && v.owner != "":
		file(s.owned, v.owner, o)
	}
}

func (s *scope) unlink(o *object) {
	v := o.view
	unfile(s.pods, o.ns, o)
	unfile(s.budget, o.ns, o)
	unfile(s.onNode, v.node, o)
	unfile(s.owned, v.owner, o)
}

func (s *scope) forget(t *resourceState, o *object) {
	if o.view != nil {
		s.unlink(o)
		if s.mirrors[o.view.mirror] == o {
			delete(s.mirrors, o.view.mirror)
		}
	}
	if t.res.String() == "nodes" {
		delete(s.nodes, o.name)
	}
}

// guards reports whether a budget matches a pod in scope.
func (s *scope) guards(budget *object) bool {
	for pod := range s.pods[budget.ns] {
		if budget.view.selector.Matches(pod.view.labels) {
			return true
		}
	}
	return false
}

func file(m map[string]map[*object]struct{}, key string, o *object) {
	if m[key] == nil {
		m[key] = map[*object]struct{}{}
	}
	m[key][o] = struct{}{}
}

func unfile(m map[string]map[*object]struct{}, key string, o *object) {
	if set, ok := m[key]; ok {
		delete(set, o)
		if len(set) == 0 {
			delete(m, key)
		}
	}
}

func labelsOf(raw []byte) labels.Set {
	l := rawjson.Get(raw, "metadata", "labels")
	if l == nil {
		return nil
	}
	set := labels.Set{}
	for name, value := range rawjson.Members(l) {
		var key string
		if json.Unmarshal([]byte(`"`+string(name)+`"`), &key) == nil {
			set[key] = text(value)
		}
	}
	return set
}

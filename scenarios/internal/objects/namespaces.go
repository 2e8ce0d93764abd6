package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
)

// namespaces is the namespace controller (pkg/controller/namespace): it deletes what is in a namespace that is at its
// end, first its pods and then the rest, says in the namespace's conditions what it waits for, and then takes its
// finalizer away.
type namespaces struct {
	*Objects
	ending map[string]*ending
}

// ending is a namespace at its end.
type ending struct {
	wait     *loop.Timer
	due      time.Duration
	failures int
}

const (
	// namespaceDelay is how long the controller waits at first (namespaceDeletionGracePeriod).
	namespaceDelay = 5 * time.Second
	// finalizerEstimate is how long it takes finalizers to take (finalizerEstimateSeconds).
	finalizerEstimate = 15
	// After an error it tries again ever later (nsControllerRateLimiter).
	namespaceRetryFirst = 5 * time.Millisecond
	namespaceRetryMost  = time.Minute
)

func newNamespaces(s *Objects) *namespaces {
	return &namespaces{Objects: s, ending: map[string]*ending{}}
}

// Terminating reports whether a namespace is at its end: nothing can be created in it.
func (s *Objects) Terminating(namespace string) bool { return s.namespaces.ending[namespace] != nil }

func (ns *namespaces) seen(c kube.Change, was, x *Object) {
	switch {
	case x.resource != "namespaces":
	case c == kube.Deleted:
		if e := ns.ending[x.Name]; e != nil {
			e.wait.Stop()
			delete(ns.ending, x.Name)
		}
	case x.Deleting:
		if ns.ending[x.Name] == nil {
			ns.ending[x.Name] = &ending{}
		}
		ns.again(x, namespaceDelay)
	}
}

// again has a namespace looked at after a while, unless that comes sooner anyway.
func (ns *namespaces) again(x *Object, after time.Duration) {
	e := ns.ending[x.Name]
	due := ns.Env.Now() + after
	if e.wait.Pending() {
		if e.due <= due {
			return
		}
		e.wait.Stop()
	}
	e.due = due
	e.wait = ns.Env.Timer(after, func() { ns.sync(x, e) })
}

// inhabited reports whether an object is a namespace that has to be emptied first.
func (s *Objects) inhabited(x *Object) bool {
	return x.resource == "namespaces" && len(spaceFinalizers(x)) > 0
}

func spaceFinalizers(x *Object) (all []string) {
	_ = json.Unmarshal(rawjson.Get(x.text, "spec", "finalizers"), &all) // what the API server takes is a list of strings
	return all
}

// sync is namespacedResourcesDeleter.Delete.
func (ns *namespaces) sync(x *Object, e *ending) {
	left := spaceFinalizers(x)
	if x.gone || !slices.Contains(left, string(corev1.FinalizerKubernetes)) {
		return
	}
	found := ns.empty(x)
	ns.say(x, found)
	switch {
	case len(found.errors) > 0:
		wait := min(namespaceRetryFirst<<min(e.failures, 20), namespaceRetryMost)
		e.failures++
		ns.again(x, wait)
		return
	case found.estimate > 0:
		ns.again(x, time.Duration(found.estimate/2+1)*time.Second)
		return
	}
	e.failures = 0
	left = slices.DeleteFunc(left, func(f string) bool { return f == string(corev1.FinalizerKubernetes) })
	switch {
	case len(left) > 0:
		ns.patch(x, marshal(map[string]any{"spec": map[string]any{"finalizers": left}}))
	case len(x.Finalizers) > 0:
		ns.patch(x, []byte(`{"spec":{"finalizers":null}}`))
	default:
		ns.drop(x)
	}
}

// content is what is left in a namespace.
type content struct {
	estimate   int64          // in how many seconds it will be gone
	remaining  map[string]int // by resource and group
	finalizers map[string]int
	errors     []string
}

// empty deletes what is in a namespace: its pods, and the rest when they have gone (deleteAllContent).
func (ns *namespaces) empty(x *Object) content {
	found := content{remaining: map[string]int{}, finalizers: map[string]int{}}
	groups := map[*Kind][]*Object{}
	var kinds []*Kind
	for _, o := range ns.in(x.Name) {
		if groups[o.Kind] == nil {
			kinds = append(kinds, o.Kind)
		}
		groups[o.Kind] = append(groups[o.Kind], o)
	}
	isPods := func(k *Kind) bool { return k.resource == "pods" }
	if i := slices.IndexFunc(kinds, isPods); i >= 0 {
		pods := content{remaining: map[string]int{}, finalizers: map[string]int{}}
		ns.emptyOf(x, kinds[i], groups[kinds[i]], ns.grace(x), &pods)
		if len(pods.remaining) > 0 {
			// What remains isn't in the conditions before the pods have gone.
			return content{estimate: pods.estimate, errors: pods.errors}
		}
	}
	for _, k := range kinds {
		if !isPods(k) {
			ns.emptyOf(x, k, groups[k], 0, &found)
		}
	}
	ns.forgetEvents(x.Name)
	return found
}

// grace estimates how long the namespace's pods take to end: nothing once that time has passed.
func (ns *namespaces) grace(x *Object) (seconds int64) {
	for _, o := range ns.in(x.Name) {
		if p := ns.Env.API.Pod(x.Name, o.Name); p != nil && o.resource == "pods" && !p.Terminal() {
			seconds = max(seconds, p.Template.GraceSeconds)
		}
	}
	since, err := time.Parse(time.RFC3339, rawjson.Text(x.text, "metadata", "deletionTimestamp"))
	if err == nil && ns.Env.API.Now().Time().Sub(since) >= time.Duration(seconds)*time.Second {
		return 0
	}
	return seconds
}

// emptyOf is deleteAllContentForGroupVersionResource.
func (ns *namespaces) emptyOf(x *Object, k *Kind, list []*Object, estimate int64, found *content) {
	for _, o := range list {
		if !o.Deleting || k.resource == "pods" {
			ns.Delete(o, metav1.DeletePropagationBackground)
		}
	}
	left, held := 0, false
	for _, o := range list {
		if o.gone {
			continue
		}
		left++
		for _, f := range o.Finalizers {
			found.finalizers[f]++
			held = true
		}
	}
	if left == 0 {
		return
	}
	found.remaining[k.Resource.Resource+"."+k.Group] = left
	switch {
	case estimate > 0:
		found.estimate = max(found.estimate, estimate)
	case held:
		found.estimate = max(found.estimate, finalizerEstimate)
	default:
		found.errors = append(found.errors, fmt.Sprintf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", x.Name, k.Group, k.Version, k.Resource.Resource))
	}
}

// say writes the conditions of a namespace (status_condition_utils.go).
func (ns *namespaces) say(x *Object, found content) {
	all := []corev1.NamespaceCondition{
		{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
		{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
		{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
		{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
		{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
	}
	if n := len(found.errors); n > 0 {
		slices.Sort(found.errors)
		all[2].Status, all[2].Reason = corev1.ConditionTrue, "ContentDeletionFailed"
		all[2].Message = fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", n, strings.Join(found.errors, ", "))
	}
	if len(found.remaining) > 0 {
		all[3].Status, all[3].Reason = corev1.ConditionTrue, "SomeResourcesRemain"
		all[3].Message = "Some resources are remaining: " + counted(found.remaining, "%s has %d resource instances")
	}
	if len(found.finalizers) > 0 {
		all[4].Status, all[4].Reason = corev1.ConditionTrue, "SomeFinalizersRemain"
		all[4].Message = "Some content in the namespace has finalizers remaining: " + counted(found.finalizers, "%s in %d resource instances")
	}
	var had []corev1.NamespaceCondition
	_ = json.Unmarshal(rawjson.Get(x.text, "status", "conditions"), &had) // as the API server has them
	now := metav1.NewTime(ns.Env.API.Now().Second().Time())
	changed := false
	for _, c := range all {
		if c.Status == "" {
			c.Status = corev1.ConditionFalse
		}
		c.LastTransitionTime = now
		i := slices.IndexFunc(had, func(h corev1.NamespaceCondition) bool { return h.Type == c.Type })
		if i < 0 {
			had, changed = append(had, c), true
			continue
		}
		if h := &had[i]; h.Status != c.Status || h.Reason != c.Reason || h.Message != c.Message {
			if h.Status == c.Status {
				c.LastTransitionTime = h.LastTransitionTime
			}
			*h, changed = c, true
		}
	}
	if changed {
		ns.patch(x, marshal(map[string]any{"status": map[string]any{"conditions": had}}))
	}
}

func counted(by map[string]int, format string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf(format, k, by[k]))
	}
	return strings.Join(all, ", ")
}

package objects

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/internal/podadmission"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// quotas is the controller of ResourceQuotas (pkg/controller/resourcequota): it counts what there is in a namespace, when a
// quota is new or other than it was, when something has gone or is charged otherwise, and every five minutes. What actors create
// without asking it counts as well. It is also the API server's admission of controllers' pods by quotas and LimitRanges.
type quotas struct {
	*Objects
	stream model.Stream
	within map[string][]*quota  // by namespace, in the order of their names
	ranges map[string][]*Object // LimitRanges, as above
	specs  quotaSpecs
}

// quota is a ResourceQuota, and when it is counted.
type quota struct {
	*Object
	queued, again *loop.Timer
}

// recount is how often all is counted (--resource-quota-sync-period).
const recount = 5 * time.Minute

func newQuotas(s *Objects) *quotas {
	q := &quotas{Objects: s, stream: s.Env.Stream("resourcequota-controller"), within: map[string][]*quota{}, ranges: map[string][]*Object{}}
	s.Env.API.WatchPods(q.sawPod)
	return q
}

func (q *quotas) seen(c kube.Change, was, x *Object) {
	switch x.resource {
	case "limitranges":
		q.ranges[x.Namespace] = slices.DeleteFunc(q.ranges[x.Namespace], func(o *Object) bool { return o == x })
		if c != kube.Deleted {
			q.ranges[x.Namespace] = append(q.ranges[x.Namespace], x)
			slices.SortFunc(q.ranges[x.Namespace], func(a, b *Object) int { return strings.Compare(a.Name, b.Name) })
		}
	case "resourcequotas":
		q.sawQuota(c, was, x)
	}
	if len(q.within[x.Namespace]) == 0 || x.Namespace == "" {
		return
	}
	if c != kube.Modified || x.resource == "services" || x.resource == "persistentvolumeclaims" {
		q.changed(x.Namespace, x.resource)
	}
}

func (q *quotas) sawQuota(c kube.Change, was, x *Object) {
	hard := func(o *Object) []byte { return rawjson.Get(o.text, "spec", "hard") }
	list := q.within[x.Namespace]
	i := slices.IndexFunc(list, func(t *quota) bool { return t.Object == x })
	switch {
	case c == kube.Deleted && i >= 0:
		list[i].queued.Stop()
		list[i].again.Stop()
		if list = slices.Delete(list, i, i+1); len(list) == 0 {
			delete(q.within, x.Namespace)
			return
		}
	case c == kube.Added:
		t := &quota{Object: x}
		list = append(list, t)
		slices.SortFunc(list, func(a, b *quota) int { return strings.Compare(a.Name, b.Name) })
		q.enqueue(t)
	case i >= 0 && !bytes.Equal(hard(was), hard(x)):
		q.enqueue(list[i])
	}
	q.within[x.Namespace] = list
}

// sawPod has a pod counted anew whose end, or whose deadline, says that it is charged otherwise (DefaultUpdateFilter of
// pkg/quota/v1/install/update_filter.go).
func (q *quotas) sawPod(c kube.Change, old, p *kube.Pod) {
	if c == kube.Modified && len(q.within[p.Namespace]) > 0 && (old.Terminal() != p.Terminal() || deadline(old) != deadline(p)) {
		q.changed(p.Namespace, "pods")
	}
}

func deadline(p *kube.Pod) bool {
	return p.Template.Demands != nil && p.Template.Demands.Deadline != nil
}

// changed has those quotas counted that count something of a resource (replenishQuota).
func (q *quotas) changed(namespace, resource string) {
	for _, t := range q.within[namespace] {
		for name := range rawjson.Members(rawjson.Get(t.text, "status", "hard")) {
			if podadmission.Counts(corev1.ResourceName(name), resource) {
				q.enqueue(t)
				break
			}
		}
	}
}

// enqueue has a quota counted after the controller's reaction time.
func (q *quotas) enqueue(t *quota) {
	if !t.queued.Pending() {
		t.queued = q.Env.Timer(q.Env.Draw(&q.stream, q.Env.Timings.ControllerReact), func() { q.count(t) })
	}
}

// count is syncResourceQuota.
func (q *quotas) count(t *quota) {
	if t.gone {
		return
	}
	t.again.Stop()
	t.again = q.Env.Timer(recount, func() { q.count(t) })
	is := &corev1.ResourceQuota{}
	if json.Unmarshal(t.text, is) != nil {
		return // no server took it
	}
	known := func(resource string) bool {
		r := schema.ParseGroupResource(resource)
		for _, one := range q.Header.Resources {
			if one.Resource == r.Resource && one.Group == r.Group {
				return one.Namespaced
			}
		}
		return len(q.defined[resource]) > 0
	}
	status, changed := podadmission.QuotaStatus(is, q.items(t.Namespace), known, q.Env.API.Now().Time())
	if changed {
		q.write(t.Object, &status)
	}
}

// write gives a quota another status.
func (q *quotas) write(x *Object, status *corev1.ResourceQuotaStatus) {
	was := rawjson.Get(x.text, "status")
	if was == nil {
		was = []byte(`{}`)
	}
	if patch, _ := rawjson.Diff(nil, was, marshal(status)); len(patch) > len(`{}`) {
		q.patch(x, fmt.Appendf(nil, `{"status":%s}`, patch))
	}
}

// items are the objects of a namespace. Pods whose specs are alike to quotas are one.
func (q *quotas) items(namespace string) []podadmission.Item {
	type alike struct {
		spec  *byte
		ended bool
	}
	pods := map[alike]int{}
	others := map[string]int{}
	var all []podadmission.Item
	for _, x := range q.in(namespace) {
		switch resource := x.resource; resource {
		case "pods":
			p := q.podOf(x)
			key := alike{ended: podadmission.Ended(p, q.Env.API.Now().Time())}
			if len(x.spec) > 0 {
				key.spec = &x.spec[0]
			}
			if i, has := pods[key]; has {
				all[i].Times++
				continue
			}
			_ = json.Unmarshal(x.spec, &p.Spec) // as the API server has it
			pods[key] = len(all)
			all = append(all, podadmission.Item{Resource: resource, Pod: p, Times: 1})
		case "services":
			all = append(all, podadmission.Item{Resource: resource, Service: decode[corev1.Service](x)})
		case "persistentvolumeclaims":
			all = append(all, podadmission.Item{Resource: resource, Claim: decode[corev1.PersistentVolumeClaim](x)})
		default:
			if i, has := others[resource]; has {
				all[i].Times++
				continue
			}
			others[resource] = len(all)
			all = append(all, podadmission.Item{Resource: resource, Times: 1})
		}
	}
	return all
}

// podOf is a pod as quotas look at it, without its spec.
func (q *quotas) podOf(x *Object) *corev1.Pod {
	out := &corev1.Pod{}
	p := q.Env.API.Pod(x.Namespace, x.Name)
	if p == nil {
		return out
	}
	out.Status.Phase = corev1.PodPhase(p.Phase)
	if p.Terminating() {
		at, grace := metav1.NewTime(p.Deleting.Time()), p.Grace
		out.DeletionTimestamp, out.DeletionGracePeriodSeconds = &at, &grace
	}
	return out
}

// Ranges returns the LimitRanges of a namespace.
func (s *Objects) Ranges(namespace string) (all []*corev1.LimitRange) {
	for _, x := range s.quotas.ranges[namespace] {
		all = append(all, decode[corev1.LimitRange](x))
	}
	return all
}

// Bounded reports whether there is a quota or a LimitRange in a namespace.
func (s *Objects) Bounded(namespace string) bool {
	return len(s.quotas.within[namespace])+len(s.quotas.ranges[namespace]) > 0
}

// Charge has the quotas of its namespace count a controller's new pod, or says why they or its LimitRanges forbid it.
func (s *Objects) Charge(p *corev1.Pod) error {
	forbidden := func(why error) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, p.Name, why)
	}
	var wrong field.ErrorList
	for _, containers := range []string{"containers", "initContainers"} {
		list := p.Spec.Containers
		if containers == "initContainers" {
			list = p.Spec.InitContainers
		}
		for i := range list {
			wrong = append(wrong, podadmission.CheckResources(&list[i].Resources, field.NewPath("spec", containers).Index(i).Child("resources"))...)
		}
	}
	if len(wrong) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, p.Name, wrong)
	}
	if err := podadmission.CheckLimits(p, s.Ranges(p.Namespace)); err != nil {
		return forbidden(err)
	}
	return s.charge(p.Namespace, p.Name, podadmission.Item{Resource: "pods", Pod: p})
}

// ChargeClaim is Charge for a claim that a controller creates.
func (s *Objects) ChargeClaim(c *corev1.PersistentVolumeClaim) error {
	if err := podadmission.CheckClaim(c, s.Ranges(c.Namespace)); err != nil {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, c.Name, err)
	}
	return s.charge(c.Namespace, c.Name, podadmission.Item{Resource: "persistentvolumeclaims", Claim: c})
}

func (s *Objects) charge(namespace, name string, is podadmission.Item) error {
	list := s.quotas.within[namespace]
	var all []*corev1.ResourceQuota
	for _, t := range list {
		all = append(all, decode[corev1.ResourceQuota](t.Object))
	}
	charged, err := podadmission.Charge(all, is, nil, s.Env.API.Now().Time())
	if err != nil {
		return apierrors.NewForbidden(schema.GroupResource{Resource: is.Resource}, name, err)
	}
	for _, c := range charged {
		i := slices.IndexFunc(list, func(t *quota) bool { return t.Name == c.Name })
		s.quotas.write(list[i].Object, &c.Status)
	}
	return nil
}

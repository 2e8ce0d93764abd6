package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/retry"
)

// A sweep removes what a live run made, in passes: each deletes the objects whose turn it is, until nothing is left.
// Workloads go first, then pods, by force, as no kubelet is there to let them go; then volumes, nodes, namespaces,
// the provider's objects with the definitions that were made for them, and the record last, so that a sweep that was
// interrupted can be begun again. Pods that a DaemonSet of the cluster's own has put on our nodes would come again as
// long as those exist: they go after them.
type sweep struct {
	p               *Runner
	clients         *clients
	resources       []schema.GroupVersionResource // of what was created, namespaces among them
	customResources []schema.GroupVersionResource // the provider's own, each before its owner, and definitions last

	mu        sync.Mutex
	seen      map[string]bool // what was deleted, by UID
	removed   map[string]int  // how much of it, by resource
	hosts     map[string]bool // our nodes, those included that are gone
	forbidden []string        // what may not be, or not be looked for
	tries     int             // how many passes in a row may get no answer; 0 for all that ctx has time for
}

var (
	nodesResource      = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	podsResource       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	namespacesResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// run sweeps until nothing is left or ctx ends.
func (s *sweep) run(ctx context.Context, report *Report) error {
	var left []string
	failed := 0
	for wait := passFirst; ; wait = min(2*wait, passMost) {
		now, err := s.pass(ctx)
		if err == nil {
			left, failed = now, 0
		} else if ctx.Err() == nil {
			if failed++; failed == s.tries {
				err = fmt.Errorf("%w (tried %d times): want an API server that answers, and --cleanup once more", err, failed)
			}
			if failed == s.tries || !passing(err) {
				report.Removed, report.Kinds, report.Left = len(s.seen), s.removed, left
				return fmt.Errorf("remove what scenario %s has left: %w", s.p.label, err)
			}
			s.p.warn(fmt.Errorf("remove what scenario %s has left: %w; trying again", s.p.label, err))
		}
		report.Removed, report.Kinds, report.Left = len(s.seen), s.removed, left
		if err == nil && len(left) == 0 {
			break
		}
		if retry.Pause(ctx, s.p.clock, wait) != nil {
			return fmt.Errorf("remove what scenario %s has left: %w: some of it is still there, such as %s: want --cleanup once more",
				s.p.label, context.Cause(ctx), example(report.Left))
		}
	}
	if len(s.forbidden) > 0 {
		return fmt.Errorf("remove what scenario %s has left: the user may not %s: want these rights, and --cleanup once more", s.p.label, strings.Join(s.forbidden, ", "))
	}
	return nil
}

func example(left []string) string {
	if len(left) == 0 {
		return "what couldn't be listed"
	}
	return left[0]
}

// pass deletes what is there and whose turn it is, and names what is left.
func (s *sweep) pass(ctx context.Context) (left []string, err error) {
	for _, r := range s.resources {
		if r == namespacesResource {
			continue
		}
		names, err := s.labelled(ctx, r)
		if err != nil {
			return nil, err
		}
		left = append(left, names...)
	}
	pods, behind, err := s.pods(ctx)
	if err != nil {
		return nil, err
	}
	if left = append(left, pods...); len(left) > 0 {
		return left, nil
	}
	if left, err = s.disks(ctx); err != nil || len(left) > 0 {
		return left, err
	}
	if err := s.forgetTop(ctx); err != nil {
		return nil, err
	}
	for _, r := range []schema.GroupVersionResource{nodesResource, namespacesResource} {
		names, err := s.labelled(ctx, r)
		if err != nil {
			return nil, err
		}
		left = append(left, names...)
	}
	if left = append(left, behind...); len(left) > 0 {
		return left, nil
	}
	for _, r := range s.customResources {
		names, err := s.optional(ctx, r)
		if err != nil || len(names) > 0 {
			return names, err
		}
	}
	return nil, s.record(ctx)
}

// labelled deletes what carries the label.
func (s *sweep) labelled(ctx context.Context, r schema.GroupVersionResource) (left []string, err error) {
	list, err := s.clients.dynamic.Resource(r).List(ctx, metav1.ListOptions{LabelSelector: Label + "=" + s.p.label})
	if apierrors.IsForbidden(err) {
		if !slices.Contains(s.customResources, r) { // those may not have been written
			s.forbid("list " + r.GroupResource().String())
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = eachOf(list.Items, func(o *unstructured.Unstructured) error {
		if theirs(r, o) {
			return nil
		}
		if err := s.remove(ctx, r, o); err != nil || s.isForbidden(r) {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		left = append(left, planned{r, o}.key())
		return nil
	})
	slices.Sort(left)
	return left, err
}

func (s *sweep) remove(ctx context.Context, r schema.GroupVersionResource, o *unstructured.Unstructured) error {
	client := (&prerequisites{client: s.clients.dynamic}).of(r, o.GetNamespace())
	if len(o.GetFinalizers()) > 0 && (r == nodesResource || r != definitionsResource && slices.Contains(s.customResources, r)) { // the controller that would remove them has ended
		if err := release(ctx, client, o.GetName(), o.GetUID()); err != nil {
			return s.refused(r, "patch", err)
		}
	}
	if o.GetDeletionTimestamp() != nil {
		s.note(r, o.GetUID())
		return nil
	}
	options := onlyThis(o.GetUID(), nil)
	policy := metav1.DeletePropagationBackground
	options.PropagationPolicy = &policy
	if err := deleted(client.Delete(ctx, o.GetName(), options)); err != nil {
		return s.refused(r, "delete", err)
	}
	s.note(r, o.GetUID())
	if r == nodesResource { // a garbage collector may not be there
		return gone(s.clients.kube.CoordinationV1().Leases(corev1.NamespaceNodeLease).Delete(ctx, o.GetName(), metav1.DeleteOptions{}))
	}
	return nil
}

// pods deletes those on our nodes and in our namespaces, except those that have to wait for the end of their node.
func (s *sweep) pods(ctx context.Context) (left, behind []string, err error) {
	ours := map[string]bool{}
	for _, r := range []schema.GroupVersionResource{nodesResource, namespacesResource} {
		list, err := s.clients.dynamic.Resource(r).List(ctx, metav1.ListOptions{LabelSelector: Label + "=" + s.p.label})
		if err != nil {
			return nil, nil, s.refused(r, "list", err)
		}
		for _, o := range list.Items {
			ours[r.Resource+"/"+o.GetName()] = true
			if r == nodesResource {
				s.hosts[o.GetName()] = true
			}
		}
	}
	list, err := s.clients.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, s.refused(podsResource, "list", err)
	}
	now := int64(0)
	err = eachOf(list.Items, func(pod *corev1.Pod) error {
		name := "pods/" + pod.Namespace + "/" + pod.Name
		switch {
		case !s.hosts[pod.Spec.NodeName] && !ours["namespaces/"+pod.Namespace] && !s.orphaned(pod):
			return nil
		case ours["nodes/"+pod.Spec.NodeName] && s.comesAgain(pod):
			s.mu.Lock()
			defer s.mu.Unlock()
			behind = append(behind, name)
			return nil
		}
		client := s.clients.kube.CoreV1().Pods(pod.Namespace)
		if len(pod.Finalizers) > 0 && pod.DeletionTimestamp != nil {
			if err := release(ctx, s.clients.dynamic.Resource(podsResource).Namespace(pod.Namespace), pod.Name, pod.UID); err != nil {
				return s.refused(podsResource, "patch", err)
			}
		}
		if err := deleted(client.Delete(ctx, pod.Name, onlyThis(pod.UID, &now))); err != nil {
			return s.refused(podsResource, "delete", err)
		}
		s.note(podsResource, pod.UID)
		s.mu.Lock()
		defer s.mu.Unlock()
		left = append(left, name)
		return nil
	})
	slices.Sort(left)
	slices.Sort(behind)
	return left, behind, err
}

// comesAgain reports whether a DaemonSet that wasn't deleted here makes another pod
// where this one is.
func (s *sweep) comesAgain(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet" && !s.orphaned(pod)
}

// orphaned reports whether the pod's controller was deleted here: a pod that has
// found no node yet.
func (s *sweep) orphaned(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	s.mu.Lock()
	defer s.mu.Unlock()
	return owner != nil && s.seen[string(owner.UID)]
}

// record deletes the records that are this scenario's, that of the first shard last: as long as it is there, a process doesn't begin another.
func (s *sweep) record(ctx context.Context) error {
	leases := s.clients.kube.CoordinationV1().Leases(RecordNamespace)
	for _, name := range slices.Backward(records()) {
		have, err := leases.Get(ctx, name, metav1.GetOptions{})
		if err != nil || checkpointOf(have).Scenario != s.p.label {
			if err := gone(err); err != nil {
				return err
			}
			continue
		}
		if err := deleted(leases.Delete(ctx, name, onlyThis(have.UID, nil))); err != nil {
			return err
		}
		s.note(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, have.UID)
	}
	return nil
}

func (s *sweep) note(r schema.GroupVersionResource, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[string(uid)] {
		return
	}
	if s.removed == nil {
		s.removed = map[string]int{}
	}
	s.removed[r.GroupResource().String()]++
	s.seen[string(uid)] = true
}

// refused notes what may not be done, and passes other errors on.
func (s *sweep) refused(r schema.GroupVersionResource, verb string, err error) error {
	if apierrors.IsForbidden(err) {
		s.forbid(verb + " " + r.GroupResource().String())
		return nil
	}
	return err
}

func (s *sweep) forbid(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.forbidden, what) {
		s.forbidden = append(s.forbidden, what)
	}
}

func (s *sweep) isForbidden(r schema.GroupVersionResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.forbidden, "delete "+r.GroupResource().String()) || slices.Contains(s.forbidden, "patch "+r.GroupResource().String())
}

// eachOf calls do for each of the items, sixteen at a time.
func eachOf[T any](items []T, do func(*T) error) error {
	var mu sync.Mutex
	var all []error
	var owned sync.WaitGroup
	next := make(chan *T)
	for range min(writeWorkers, len(items)) {
		owned.Go(func() {
			for item := range next {
				if err := do(item); err != nil {
					mu.Lock()
					all = append(all, err)
					mu.Unlock()
				}
			}
		})
	}
	for i := range items {
		next <- &items[i]
	}
	close(next)
	owned.Wait()
	if len(all) > 3 {
		all = all[:3]
	}
	return errors.Join(all...)
}

package noderoll

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// drainListsMax is the number of draining nodes asked for their pods one by one;
// beyond it, going through all pods of the cluster once is cheaper.
const drainListsMax = 32

// warningsOnly is the field selector of Warning Events.
const warningsOnly = "type=" + corev1.EventTypeWarning

// unread says why a list lacks what a Snapshot can do without.
type unread struct{ warnings, budgets string }

// list reads everything that a Snapshot shows. What went wrong with Warnings and
// budgets is returned beside the State, what went wrong with pods is in it.
func (o *KubeObserver) list(ctx context.Context) (s *State, not unread, err error) {
	if s, err = o.listNodes(ctx); err != nil {
		return nil, not, err
	}
	s.SetPodsError("")
	if s.count.draining > 0 {
		if err := o.listPods(ctx, s); err != nil {
			s.SetPodsError(err.Error())
		}
		if o.opts.Budgets != nil {
			if err := o.listBudgets(ctx, s); err != nil {
				not.budgets = err.Error()
			}
		}
	}
	if s.roll != nil {
		if err := o.listInstances(ctx, s); err != nil {
			return nil, not, err
		}
	}
	if err := o.listWarnings(ctx, s); err != nil {
		not.warnings = err.Error()
	}
	// A context that ended on the way is the caller's wish, not a finding.
	if err := ctx.Err(); err != nil {
		return nil, not, err
	}
	return s, not, nil
}

func (o *KubeObserver) listNodes(ctx context.Context) (*State, error) {
	if o.refusal != nil {
		return nil, o.refusal
	}
	s := o.newState()
	var found []corev1.Node
	err := o.pages(ctx, o.nodeOptions(), func(opts metav1.ListOptions, restart bool) (string, error) {
		if restart {
			found = nil
		}
		page, err := o.client.nodes.List(ctx, opts)
		if err != nil {
			return "", err
		}
		found = append(found, page.Items...)
		return page.Continue, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	for i := range found {
		s.SetNode(NodeFrom(&found[i]))
	}
	return s, nil
}

// listPods reads the pods of the draining nodes. The server finds the pods of
// one node by an index (pkg/registry/core/pod, NodeNameIndexFunc); a fake, which
// ignores field selectors, returns them all, so they are checked here as well.
func (o *KubeObserver) listPods(ctx context.Context, s *State) error {
	var draining []string
	for name, rec := range s.nodes {
		if rec.view.Phase == PhaseDraining {
			draining = append(draining, name)
		}
	}
	if len(draining) > drainListsMax {
		return o.listPodsBy(ctx, s, "", func(string) bool { return true })
	}
	slices.Sort(draining)
	for _, name := range draining {
		only := fields.OneTermEqualSelector("spec.nodeName", name).String()
		if err := o.listPodsBy(ctx, s, only, func(node string) bool { return node == name }); err != nil {
			return err
		}
	}
	return nil
}

func (o *KubeObserver) listPodsBy(ctx context.Context, s *State, selector string, wanted func(node string) bool) error {
	err := o.pages(ctx, metav1.ListOptions{FieldSelector: selector}, func(opts metav1.ListOptions, _ bool) (string, error) {
		page, err := o.client.pods(metav1.NamespaceAll).List(ctx, opts)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			pod := &page.Items[i]
			rec := s.nodes[pod.Spec.NodeName]
			if rec != nil && rec.view.Phase == PhaseDraining && wanted(rec.name) {
				s.SetPod(o.opts.podForCount(pod))
			}
		}
		return page.Continue, nil
	})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	return nil
}

// listInstances reads the pods of a roll of pods.
func (o *KubeObserver) listInstances(ctx context.Context, s *State) error {
	scope := &o.opts.Pods
	err := o.pages(ctx, metav1.ListOptions{LabelSelector: scope.Selector.String()}, func(opts metav1.ListOptions, _ bool) (string, error) {
		page, err := o.client.pods(scope.Namespace).List(ctx, opts)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			s.roll.set(new(InstanceFrom(&page.Items[i])))
		}
		return page.Continue, nil
	})
	if err != nil {
		return fmt.Errorf("list pods of the roll: %w", err)
	}
	return nil
}

// podForCount is PodFrom, where no budgets are read without the labels and the
// readiness, which only budgets need.
func (o *KubeOptions) podForCount(pod *corev1.Pod) Pod {
	p := PodFrom(pod)
	if o.Budgets == nil {
		p.Labels, p.Ready = nil, false
	}
	return p
}

func (o *KubeObserver) listBudgets(ctx context.Context, s *State) error {
	err := o.pages(ctx, metav1.ListOptions{}, func(opts metav1.ListOptions, _ bool) (string, error) {
		page, err := o.opts.Budgets.List(ctx, opts)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			s.SetBudget(BudgetFrom(&page.Items[i]))
		}
		return page.Continue, nil
	})
	if err != nil {
		return fmt.Errorf("list poddisruptionbudgets: %w", err)
	}
	return nil
}

func (o *KubeObserver) listWarnings(ctx context.Context, s *State) error {
	err := o.pages(ctx, metav1.ListOptions{FieldSelector: warningsOnly}, func(opts metav1.ListOptions, _ bool) (string, error) {
		page, err := o.client.events.List(ctx, opts)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			s.SetEvent(EventRecordFrom(&page.Items[i]))
		}
		return page.Continue, nil
	})
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	return nil
}

// pages reads a list page by page. If the server forgets the list on the way
// (410), it starts again, once, and without a limit.
func (o *KubeObserver) pages(ctx context.Context, opts metav1.ListOptions, read func(opts metav1.ListOptions, restart bool) (next string, err error)) error {
	opts.Limit = o.opts.PageSize
	restart := false
	for {
		next, err := read(opts, restart)
		switch {
		case err != nil && opts.Continue != "" && apierrors.IsResourceExpired(err):
			opts.Limit, opts.Continue, restart = 0, "", true
			continue
		case err != nil:
			return err
		case next == "":
			return nil
		case next == opts.Continue:
			return errors.New("the server returned the same page twice")
		}
		opts.Continue, restart = next, false
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// KubeClient is the client of a KubeObserver. Every kubernetes.Interface is one, and the compiler finds the type
// parameters. client-go's interfaces aren't named here, since their packages link the types of every group of
// Kubernetes into each program that imports this one.
type KubeClient[G KubeCore[N, P, E], N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]] interface {
	CoreV1() G
}

// KubeCore is the client of the core group of a KubeClient.
type KubeCore[N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]] interface {
	Nodes() N
	Pods(namespace string) P
	Events(namespace string) E
}

// KubeLister is the client of one resource.
type KubeLister[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// kubeClient is a KubeClient without its type parameters.
type kubeClient struct {
	itself any // says by its type whether it knows WatchList
	nodes  KubeLister[*corev1.NodeList]
	pods   func(namespace string) KubeLister[*corev1.PodList]
	events KubeLister[*corev1.EventList] // of all namespaces
}

// plainClient returns nil for a client that is nil.
func plainClient[C KubeClient[G, N, P, E], G KubeCore[N, P, E], N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]](client C) *kubeClient {
	if any(client) == nil {
		return nil
	}
	core := client.CoreV1()
	return &kubeClient{
		itself: client, nodes: core.Nodes(), events: core.Events(metav1.NamespaceAll),
		pods: func(namespace string) KubeLister[*corev1.PodList] { return core.Pods(namespace) },
	}
}

package live

import (
	"context"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/virtualnode/controller"
)

// pods are those on the scenario's nodes: the provider of the one PodController that serves all of them. The
// controller's requests go to the scenario's kubelets on the event loop; what they post goes to the controller.
//
// Its methods may be called from any goroutine.
type pods struct {
	give   func(*corev1.Pod) bool // tells a kubelet; false when the live run is over
	left   func(*corev1.Pod)      // tells the scenario that a pod has left the API
	serves func(node string) bool // whether a node's kubelet lives
	relook func()                 // has the controller look at all pods again

	mu     sync.Mutex
	byUID  map[types.UID]*corev1.Pod // as given last, with the present status; never changed in place
	byName map[types.NamespacedName]types.UID
	held   map[types.UID]*corev1.Pod // posts of silent kubelets
	notify func(*corev1.Pod)

	line *sequence[types.UID, *corev1.Pod] // of what is posted
}

var (
	_ controller.PodLifecycleHandler = (*pods)(nil)
	_ controller.PodNotifier         = (*pods)(nil)
	_ controller.PodUIDGetter        = (*pods)(nil)
)

func newPods() *pods {
	p := &pods{
		byUID: map[types.UID]*corev1.Pod{}, byName: map[types.NamespacedName]types.UID{}, held: map[types.UID]*corev1.Pod{},
		notify: func(*corev1.Pod) {}, relook: func() {}, left: func(*corev1.Pod) {},
	}
	p.line = newSequence(p.deliver, podStands)
	return p
}

// takes is the controller's filter: pods of kubelets that live.
func (p *pods) takes(_ context.Context, pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && p.serves(pod.Spec.NodeName)
}

// CreatePod implements [controller.PodLifecycleHandler]. A pod that has started is one of an earlier live run: its
// kubelet confirms its status, since others may have overwritten it.
func (p *pods) CreatePod(_ context.Context, pod *corev1.Pod) error {
	heal(pod)
	p.mu.Lock()
	p.put(pod)
	p.mu.Unlock()
	if pod.Status.StartTime != nil {
		p.line.post(pod.UID, pod)
	}
	return p.tell(pod)
}

// heal makes a pod Ready that is not because its kubelet was silent: the node
// lifecycle controller changes that one condition (k8s.io/kubernetes,
// pkg/controller/util/node, MarkPodsNotReady), and a kubelet that is back takes it
// back.
func heal(pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil || len(pod.Spec.ReadinessGates) > 0 {
		return
	}
	var ready *corev1.PodCondition
	running := false
	for i := range pod.Status.Conditions {
		switch c := &pod.Status.Conditions[i]; c.Type {
		case corev1.PodReady:
			ready = c
		case corev1.ContainersReady:
			running = c.Status == corev1.ConditionTrue
		}
	}
	if running && ready != nil && ready.Status != corev1.ConditionTrue {
		ready.Status, ready.Reason, ready.Message, ready.LastTransitionTime = corev1.ConditionTrue, "", "", metav1.Now()
	}
}

// UpdatePod implements [controller.PodLifecycleHandler]. The status stays the
// kubelet's.
func (p *pods) UpdatePod(_ context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	if was := p.byUID[pod.UID]; was != nil {
		pod = withStatus(pod, was)
	}
	p.put(pod)
	p.mu.Unlock()
	return p.tell(pod)
}

// DeletePod implements [controller.PodLifecycleHandler]. The kubelet ends the
// containers in its time; what is no longer in the API runs no more.
func (p *pods) DeletePod(_ context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp == nil {
		p.forget(pod)
		return nil
	}
	running := pod.DeepCopy()
	running.DeletionTimestamp, running.DeletionGracePeriodSeconds = nil, nil
	p.mu.Lock()
	known := p.byUID[pod.UID] != nil
	if !known {
		p.put(running) // as one that was known before: with a deletion it wouldn't be forgotten
	}
	p.mu.Unlock()
	if !known { // of an earlier live run: it ran, and then was deleted
		if err := p.tell(running); err != nil {
			return err
		}
	}
	return p.tell(pod)
}

func (p *pods) tell(pod *corev1.Pod) error {
	if !p.give(pod) {
		return errOver
	}
	return nil
}

// put remembers a pod.
func (p *pods) put(pod *corev1.Pod) {
	p.byUID[pod.UID] = pod
	p.byName[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod.UID
}

// forget is called when a pod has left the API. The scenario's own watch may have reported that before the kubelet's
// last update: so it is reported once more after that, or a drain would wait for the pod for ever.
func (p *pods) forget(pod *corev1.Pod) {
	p.mu.Lock()
	p.drop(pod)
	p.mu.Unlock()
	p.line.drop(pod.UID) // which calls hand, and so waits for mu
	p.left(pod)
}

func (p *pods) drop(pod *corev1.Pod) {
	delete(p.byUID, pod.UID)
	delete(p.held, pod.UID)
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	if p.byName[name] == pod.UID {
		delete(p.byName, name)
	}
}

// GetPod implements [controller.PodLifecycleHandler].
func (p *pods) GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	p.mu.Lock()
	uid := p.byName[types.NamespacedName{Namespace: namespace, Name: name}]
	p.mu.Unlock()
	return p.GetPodByUID(ctx, namespace, name, uid)
}

// GetPodByUID implements [controller.PodUIDGetter].
func (p *pods) GetPodByUID(_ context.Context, namespace, name string, uid types.UID) (*corev1.Pod, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pod := p.byUID[uid]; pod != nil {
		return pod, nil
	}
	return nil, controller.NotFoundf("pod %s/%s runs on no virtual node", namespace, name)
}

// GetPodStatus implements [controller.PodLifecycleHandler].
func (p *pods) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	pod, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return pod.Status.DeepCopy(), nil
}

// GetPods implements [controller.PodLifecycleHandler].
func (p *pods) GetPods(context.Context) ([]*corev1.Pod, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*corev1.Pod, 0, len(p.byUID))
	for _, pod := range p.byUID {
		all = append(all, pod)
	}
	return all, nil
}

// NotifyPods implements [controller.PodNotifier].
func (p *pods) NotifyPods(_ context.Context, notify func(*corev1.Pod)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notify = notify
}

// post is a kubelet's post of a pod's status. That of a silent one waits until it
// is back.
func (p *pods) post(pod *corev1.Pod) {
	p.mu.Lock()
	was := p.byUID[pod.UID]
	if was == nil { // it has left the API
		p.mu.Unlock()
		return
	}
	is := withStatus(was, pod)
	is.Status = afterCreation(keepTimes(is.Status, was.Status), was.CreationTimestamp)
	p.byUID[pod.UID] = is
	p.mu.Unlock()
	p.line.post(is.UID, is)
}

// withStatus is a pod with the status of another state of it. It shares the memory of both, which is never changed.
func withStatus(pod, said *corev1.Pod) *corev1.Pod {
	is := *pod
	is.Status = said.Status
	return &is
}

// share releases a pod that is as the server has it, in favour of the cache's own: of ten thousand pods at rest
// there is one copy. The scheduler says when a pod was scheduled, whatever its kubelet has posted: the server's value
// stays ([controller.PodController] writes no time over that of a condition that is as it was).
func (p *pods) share(server *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	is := p.byUID[server.UID]
	if is == nil || is == server {
		return
	}
	equal := apiequality.Semantic.DeepEqual
	if statusStands(&is.Status, &server.Status) && maps.Equal(is.Labels, server.Labels) && maps.Equal(is.Annotations, server.Annotations) &&
		is.DeletionTimestamp.Equal(server.DeletionTimestamp) && equal(is.DeletionGracePeriodSeconds, server.DeletionGracePeriodSeconds) &&
		equal(&is.Spec, &server.Spec) {
		p.byUID[server.UID] = server
	}
}

// statusStands reports whether a server's status equals the kubelet's, apart from the fields that no kubelet posts.
func statusStands(said, server *corev1.PodStatus) bool {
	status := *said
	status.QOSClass = server.QOSClass
	if i := scheduled(status.Conditions); i >= 0 {
		if k := scheduled(server.Conditions); k >= 0 && status.Conditions[i].Status == server.Conditions[k].Status {
			status.Conditions = slices.Clone(status.Conditions)
			status.Conditions[i].LastTransitionTime = server.Conditions[k].LastTransitionTime
		}
	}
	return apiequality.Semantic.DeepEqual(&status, server)
}

// scheduled is where the condition PodScheduled stands, -1 for nowhere.
func scheduled(conditions []corev1.PodCondition) int {
	return slices.IndexFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
}

// deliver tells the controller of a state whose turn it is.
func (p *pods) deliver(uid types.UID, pod *corev1.Pod) {
	p.mu.Lock()
	notify := p.notify
	if !p.serves(pod.Spec.NodeName) {
		if p.byUID[uid] != nil {
			p.held[uid] = pod
		}
		notify = nil
	}
	p.mu.Unlock()
	if notify != nil {
		notify(pod)
	}
}

// back is called when the kubelet of a node is: it posts what it couldn't, and
// learns what it has missed.
func (p *pods) back(node string) {
	p.mu.Lock()
	var posts []*corev1.Pod
	for uid := range p.held {
		if pod := p.byUID[uid]; pod != nil && pod.Spec.NodeName == node {
			posts = append(posts, pod)
			delete(p.held, uid)
		}
	}
	p.mu.Unlock()
	for _, pod := range posts {
		p.line.post(pod.UID, pod)
	}
	p.relook()
}

// gone is called when a machine is gone: its pods have stopped, and no kubelet is left to say so.
func (p *pods) gone(node string) {
	p.mu.Lock()
	var dropped []types.UID
	for uid, pod := range p.byUID {
		if pod.Spec.NodeName == node {
			p.drop(pod)
			dropped = append(dropped, uid)
		}
	}
	p.mu.Unlock()
	for _, uid := range dropped {
		p.line.drop(uid)
	}
}

// knows reports whether a pod was told to its kubelet.
func (p *pods) knows(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byUID[uid] != nil
}

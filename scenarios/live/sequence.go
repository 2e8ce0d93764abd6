package live

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/phrase"
)

const (
	// sequenceMost bounds the wait until a post is on the server.
	sequenceMost = 2 * time.Second
	// sequenceLine bounds the number of waiting posts of an object. Of more the oldest is left out: a kubelet whose
	// server is slow posts its latest state, too.
	sequenceLine = 8
)

// A sequence hands on what kubelets post of their objects, state by state: the next one when the one before is on the
// server, or after two seconds. Who writes keeps the latest state alone, so that at a high speed a watch would
// otherwise miss what a real kubelet shows.
type sequence[K comparable, T any] struct {
	deliver func(K, T)
	// stands reports whether a server's object shows what was posted.
	stands func(posted, server T) bool

	mu    sync.Mutex
	lines map[K]*line[T]
	last  map[K]T // what the server has, as it was seen last
	over  bool
}

// line holds the waiting posts of one object; the first was handed on.
type line[T any] struct {
	posts []T
	limit *time.Timer
}

func newSequence[K comparable, T any](deliver func(K, T), stands func(posted, server T) bool) *sequence[K, T] {
	return &sequence[K, T]{deliver: deliver, stands: stands, lines: map[K]*line[T]{}, last: map[K]T{}}
}

// post hands a state on in its turn.
func (s *sequence[K, T]) post(key K, o T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	l := s.lines[key]
	if l == nil {
		s.begin(key, []T{o})
		return
	}
	l.posts = append(l.posts, o)
	if len(l.posts) > sequenceLine {
		l.posts = append(l.posts[:1], l.posts[2:]...)
	}
}

// begin hands on the waiting posts, up to the first that isn't on the server yet: a post that changes nothing there
// needs no wait.
func (s *sequence[K, T]) begin(key K, posts []T) {
	for ; len(posts) > 0; posts = posts[1:] {
		s.deliver(key, posts[0])
		if last, known := s.last[key]; !known || !s.stands(posts[0], last) {
			break
		}
	}
	if len(posts) == 0 {
		delete(s.lines, key)
		return
	}
	l := &line[T]{posts: posts}
	s.lines[key] = l
	l.limit = time.AfterFunc(sequenceMost, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.lines[key] == l {
			s.next(key)
		}
	})
}

// next continues with the posts after the first.
func (s *sequence[K, T]) next(key K) {
	l := s.lines[key]
	l.limit.Stop()
	s.begin(key, l.posts[1:])
}

// seen tells what the server has of an object.
func (s *sequence[K, T]) seen(key K, server T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.last[key] = server
	if l := s.lines[key]; l != nil && s.stands(l.posts[0], server) {
		s.next(key)
	}
}

// drop forgets an object.
func (s *sequence[K, T]) drop(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, key)
	if l := s.lines[key]; l != nil {
		l.limit.Stop()
		delete(s.lines, key)
	}
}

// close hands nothing on any more.
func (s *sequence[K, T]) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for key, l := range s.lines {
		l.limit.Stop()
		delete(s.lines, key)
	}
}

// podStands reports whether a server's pod shows what its kubelet has posted.
// Conditions of others than the kubelet may be left out of the write, and readiness gates may hold Ready back.
func podStands(posted, server *corev1.Pod) bool {
	p, s := &posted.Status, &server.Status
	if p.Phase != s.Phase || !apiequality.Semantic.DeepEqual(p.ContainerStatuses, s.ContainerStatuses) {
		return false
	}
	for i := range p.Conditions {
		is := &p.Conditions[i]
		switch is.Type {
		case corev1.PodReady, corev1.ContainersReady, corev1.PodInitialized, corev1.PodReadyToStartContainers,
			corev1.PodResizePending, corev1.PodResizeInProgress:
			if !shows(s.Conditions, is) && (is.Type != corev1.PodReady || len(server.Spec.ReadinessGates) == 0) {
				return false
			}
		}
	}
	return true
}

func shows(on []corev1.PodCondition, is *corev1.PodCondition) bool {
	for i := range on {
		if on[i].Type == is.Type {
			return on[i].Status == is.Status && on[i].Reason == is.Reason
		}
	}
	return false
}

// nodeStands reports whether a server's node shows what its kubelet has posted.
func nodeStands(posted, server *corev1.Node) bool {
	for _, is := range posted.Status.Conditions {
		found := false
		for _, on := range server.Status.Conditions {
			found = found || on.Type == is.Type && on.Status == is.Status && on.Reason == is.Reason && on.Message == is.Message
		}
		if !found {
			return false
		}
	}
	return posted.Status.NodeInfo.BootID == server.Status.NodeInfo.BootID && len(posted.Status.Addresses) == len(server.Status.Addresses)
}

const (
	// quietFor is the time without events from the server before the scenario begins, quietMost bounds the wait for
	// that: a cluster may have a life of its own.
	quietFor  = 500 * time.Millisecond
	quietMost = 5 * time.Second
)

// unknownPods names a pod on a node of ours that its kubelet doesn't know yet: one of an earlier live run. A drain must
// not miss it.
func (r *run) unknownPods() []string {
	all, err := r.podCache.List(labels.Everything())
	if err != nil {
		return []string{err.Error()}
	}
	ks := r.apiServer.kubelets
	for _, pod := range all {
		over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil
		if !over && pod.Spec.NodeName != "" && ks.serves(pod.Spec.NodeName) && !ks.pods.knows(pod.UID) {
			return []string{fmt.Sprintf("pod %s/%s isn't known to its kubelet", pod.Namespace, pod.Name)}
		}
	}
	return nil
}

// undelivered says that writes are under way. The scenario begins with the cluster's content at 0s: the provider's
// objects, too, of which a server creates the first of a new kind only after two seconds
// (k8s.io/apiextensions-apiserver, pkg/apiserver/customresource_handler.go).
func (r *run) undelivered() []string {
	if n := r.apiServer.writeQueue.under(); n > 0 {
		return []string{phrase.Count(n, "write") + " under way"}
	}
	return nil
}

// quiet reports whether the server has come to rest, so that what is seen from the
// scenario's 0s on is the scenario.
func (r *run) quiet() bool {
	now := r.clock.Now()
	if r.still.IsZero() {
		r.still = now
	}
	return now.Sub(r.lastEvent) >= quietFor || now.Sub(r.still) >= quietMost
}

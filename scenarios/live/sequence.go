package live

import (
	"sync"
	"time"
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
	hand func(K, T)
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

func newSequence[K comparable, T any](hand func(K, T), stands func(posted, server T) bool) *sequence[K, T] {
	return &sequence[K, T]{hand: hand, stands: stands, lines: map[K]*line[T]{}, last: map[K]T{}}
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
		s.hand(key, posts[0])
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

package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

const (
	writeWorkers = 16
	// attemptMost bounds one request.
	attemptMost = 15 * time.Second
	pauseFirst  = 50 * time.Millisecond
	pauseMost   = 5 * time.Second
	// A write that the server answers with an internal error may be one that it
	// will never take (a webhook that is gone, say).
	internalMost = 10
)

// A writeQueue sends writes to the API server: those of one object keep their order, those of several objects are sent concurrently,
// and each is retried until the server has taken or refused it.
type writeQueue struct {
	warn  func(error)
	queue workqueue.TypedRateLimitingInterface[string]
	owned sync.WaitGroup

	mu      sync.Mutex
	lines   map[string][]write
	waiting int
	idle    chan struct{} // closed when nothing waits; nil without a waiter
	counts  struct{ retries, refused int }
	written writeCounter // a queued write may find that there is nothing to write
}

// A write is one entry of the queue: a request, or a wait.
type write struct {
	what    string // "patch nodes ip-10-0-1-10"
	do      func(context.Context) error
	tries   tries
	until   []<-chan struct{} // of a wait; nil for a write
	awaited bool
}

// Tries are those of one write.
type tries struct{ internal int }

// last reports whether an error of a try is the server's last word: it refuses the
// write, or has answered with an internal error too often.
func (t *tries) last(err error) bool {
	if apierrors.IsInternalError(err) {
		t.internal++
	}
	return !passing(err) || t.internal >= internalMost
}

// newWriteQueue starts the queue, until ctx ends; close waits for it.
func newWriteQueue(ctx context.Context, warn func(error)) *writeQueue {
	c := &writeQueue{
		warn: warn, lines: map[string][]write{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](pauseFirst, pauseMost)),
	}
	for range writeWorkers {
		c.owned.Go(func() { c.work(ctx) })
	}
	return c
}

// close ends it. What waits is dropped.
func (c *writeQueue) close() {
	c.queue.ShutDown()
	c.owned.Wait()
}

// send hands a write in.
func (c *writeQueue) send(key, what string, do func(context.Context) error) {
	c.mu.Lock()
	c.lines[key] = append(c.lines[key], write{what: what, do: do})
	c.waiting++
	c.mu.Unlock()
	c.queue.Add(key)
}

// hold keeps what is handed in for an object from now on until one of both channels is closed; other may be nil. It
// doesn't block a worker of the queue, as a write that waits by itself would.
func (c *writeQueue) hold(key string, one, other <-chan struct{}) {
	c.mu.Lock()
	c.lines[key] = append(c.lines[key], write{until: []<-chan struct{}{one, other}})
	c.waiting++
	c.mu.Unlock()
	c.queue.Add(key)
}

// past returns a channel that is closed once what was handed in for an object until now is on the server, or was refused.
func (c *writeQueue) past(key string) <-chan struct{} {
	done := make(chan struct{})
	c.send(key, "", func(context.Context) error { close(done); return nil })
	return done
}

// under counts the writes that wait or are under way.
func (c *writeQueue) under() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting
}

// delivered waits until nothing waits.
func (c *writeQueue) delivered(ctx context.Context) error {
	c.mu.Lock()
	if c.waiting == 0 {
		c.mu.Unlock()
		return nil
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *writeQueue) work(ctx context.Context) {
	for {
		key, over := c.queue.Get()
		if over {
			return
		}
		c.deliver(ctx, key)
		c.queue.Done(key)
	}
}

// deliver makes the writes of one object, up to the first that has to wait.
func (c *writeQueue) deliver(ctx context.Context, key string) {
	for {
		c.mu.Lock()
		if len(c.lines[key]) == 0 {
			delete(c.lines, key)
			c.mu.Unlock()
			c.queue.Forget(key)
			return
		}
		e := &c.lines[key][0]
		if e.until != nil {
			over := c.over(ctx, key, e)
			c.mu.Unlock()
			if !over {
				return
			}
			continue
		}
		next := *e
		c.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		err := c.attempt(ctx, next)
		if ctx.Err() != nil {
			return
		}
		if err != nil && c.triesAgain(key, err) {
			c.warn(fmt.Errorf("%s: %w; trying again", next.what, err))
			if wait, told := apierrors.SuggestsClientDelay(err); told && wait > 0 {
				c.queue.AddAfter(key, time.Duration(wait)*time.Second)
			} else {
				c.queue.AddRateLimited(key)
			}
			return
		}
		if err != nil {
			c.warn(fmt.Errorf("%s: %w", next.what, err))
		}
		c.done(key, err)
	}
}

// triesAgain reports whether the first write of an object is to be tried once more.
func (c *writeQueue) triesAgain(key string, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lines[key][0].tries.last(err) {
		return false
	}
	c.counts.retries++
	return true
}

// over takes the wait away that is the first of a line, or sees to it that the line is
// looked at again when the wait is over. c.mu has to be held.
func (c *writeQueue) over(ctx context.Context, key string, e *write) bool {
	one, other := e.until[0], e.until[1]
	select {
	case <-one:
	case <-other:
	default:
		if !e.awaited {
			e.awaited = true
			c.owned.Go(func() {
				select {
				case <-one:
				case <-other:
				case <-ctx.Done():
				}
				c.queue.Add(key)
			})
		}
		return false
	}
	c.next(key)
	return true
}

// attempt makes one write; conflicts are computed again at once.
func (c *writeQueue) attempt(ctx context.Context, e write) error {
	ctx, cancel := context.WithTimeout(ctx, attemptMost)
	defer cancel()
	ctx = c.written.in(ctx)
	return againAfterConflict(func() error { return e.do(ctx) })
}

// done takes the first write of an object away.
func (c *writeQueue) done(key string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next(key)
	if err != nil {
		c.counts.refused++
	}
}

// next takes the first of a line away. c.mu has to be held.
func (c *writeQueue) next(key string) {
	c.lines[key] = c.lines[key][1:]
	c.waiting--
	if c.waiting == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// count adds what was delivered to a report.
func (c *writeQueue) count(r *Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Written += int(c.written.taken.Load())
	r.Retries += c.counts.retries
	r.Refused += c.counts.refused
}

// passing reports whether an error may go away by itself: the network's, and the
// server's own. What the server says about the request itself doesn't.
func passing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true // no answer at all
	}
	switch code := status.Status().Code; {
	case code == http.StatusTooManyRequests, code == http.StatusConflict, code >= 500 && code != http.StatusNotImplemented:
		return !apierrors.IsAlreadyExists(err)
	case code == http.StatusUnauthorized:
		return true // a restarted server reads its users again
	}
	return false
}

// gone drops the errors that say that there is nothing left to write to.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

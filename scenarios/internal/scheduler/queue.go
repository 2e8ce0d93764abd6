package scheduler

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

const (
	// schedulingCycle is the time that the search for a node keeps the scheduler busy, which takes pods one by one:
	// 500 a second. test/integration/scheduler_perf expects some hundred a second of a cluster of 5000 nodes.
	schedulingCycle = 2 * time.Millisecond
	// A pod that fitted nowhere isn't tried again for a second, and for twice as
	// long each time, up to ten (pkg/scheduler/backend/queue/scheduling_queue.go).
	backoffInitial = time.Second
	backoffMost    = 10 * time.Second
)

// waitingPod is a pod that is bound to no node.
type waitingPod struct {
	pod      *kube.Pod
	class    *podClass
	attempts int
	parkedAt time.Duration
	backoff  time.Duration // not to be tried before
	queued   bool          // it is in the active queue, or will be after its backoff
	done     bool          // it has a node, or is gone
	// nominated is the node on which others make room for the pod.
	nominated *schedNode
}

// priorityQueue is the active pods of one priority, first come, first served.
type priorityQueue struct {
	priority int32
	pods     []*waitingPod
	head     int
}

// activate puts a pod into the active queue.
func (s *Scheduler) activate(w *waitingPod) {
	i, found := slices.BinarySearchFunc(s.queues, w.class.template.Priority, func(l *priorityQueue, p int32) int {
		switch {
		case l.priority > p:
			return -1
		case l.priority < p:
			return 1
		}
		return 0
	})
	if !found {
		s.queues = slices.Insert(s.queues, i, &priorityQueue{priority: w.class.template.Priority})
	}
	w.queued = true
	s.queues[i].pods = append(s.queues[i].pods, w)
	s.run()
}

// run has the scheduler take the next pod as soon as it is free.
func (s *Scheduler) run() {
	if !s.running {
		s.running = true
		s.Env.At(s.busyUntil, s.step)
	}
}

// step schedules one pod.
func (s *Scheduler) step() {
	s.running = false
	w := s.next()
	if w == nil {
		return
	}
	w.queued = false
	if s.schedule(w) {
		s.busyUntil = s.Env.Now() + schedulingCycle
	}
	s.run()
}

// next takes the first pod of the highest priority that still waits.
func (s *Scheduler) next() *waitingPod {
	for _, l := range s.queues {
		for l.head < len(l.pods) {
			w := l.pods[l.head]
			l.pods[l.head] = nil
			l.head++
			if l.head == len(l.pods) {
				l.pods, l.head = l.pods[:0], 0
			}
			if !w.done {
				return w
			}
		}
	}
	return nil
}

// park keeps a pod that fitted nowhere until something changes, or for five
// minutes.
func (s *Scheduler) park(w *waitingPod) {
	w.attempts++
	w.parkedAt = s.Env.Now()
	w.backoff = w.parkedAt + min(backoffInitial<<min(w.attempts-1, 8), backoffMost)
	w.class.parked = append(w.class.parked, w)
	s.parked++
	s.flushLater(w.class)
}

// flushLater has the parked pods of a class tried again, each five minutes
// after its last try (flushUnschedulablePodsLeftover of scheduling_queue.go).
func (s *Scheduler) flushLater(c *podClass) {
	if c.flush || len(c.parked) == 0 {
		return
	}
	c.flush = true
	s.Env.At(c.parked[0].parkedAt+s.Env.Draw(&s.stream, s.Env.Timings.SchedulerRetry), func() {
		c.flush = false
		retry := s.Env.Timings.SchedulerRetry.Median()
		n := 0
		for n < len(c.parked) && (c.parked[n].done || s.Env.Now()-c.parked[n].parkedAt >= retry) {
			n++
		}
		due := c.parked[:n:n]
		c.parked = c.parked[n:]
		s.parked -= n
		s.retry(due)
		s.flushLater(c)
	})
}

// wake has all parked pods of a class tried again.
func (s *Scheduler) wake(c *podClass) {
	due := c.parked
	c.parked = nil
	s.parked -= len(due)
	s.retry(due)
}

// retry has pods tried again, each as soon as its backoff is over.
func (s *Scheduler) retry(due []*waitingPod) {
	for _, w := range due {
		switch {
		case w.done || w.queued:
		case w.backoff <= s.Env.Now():
			s.activate(w)
		default:
			w.queued = true
			s.Env.At(w.backoff, func() {
				if !w.done {
					s.activate(w)
				}
			})
		}
	}
}

// opened wakes the pods that may run on a node which has changed or which another pod has left. The queueing hints of
// the scheduler's plugins do the same, though those of NodeResourcesFit look less closely: any pod's end wakes all
// pods that lack room.
func (s *Scheduler) opened(n *schedNode) {
	if s.parked == 0 {
		return
	}
	for _, w := range n.nominees {
		s.wake(w.class)
	}
	for _, c := range s.classes {
		if len(c.parked) == 0 {
			continue
		}
		waits := s.podCounts != nil || c.template.Demands != nil
		if (waits || n.free().Holds(c.need)) && s.Refusal(c.template, n.group) == "" || c.spreads() {
			s.wake(c)
		}
	}
}

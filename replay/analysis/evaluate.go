package analysis

import (
	"container/heap"
	"time"
)

// evaluation works out when the moments of a graph would have been.
type evaluation struct {
	g       *graph
	without *gatherKey // what takes no time; nil for nothing
	times   []time.Duration
	open    []int32   // what a moment still follows on
	next    [][]int32 // moments that follow on one
	waiting [completions]map[int][]int32
	counts  [completions]int
	due     dueQueue
}

type due struct {
	at   time.Duration
	of   int32
	kind completion
}

// evaluate returns the times of all moments, as on the tape, or as they would have been without one kind of wait.
//
// Completions are counted in the order of their new times: where another node is ready first now, that is what the next
// beginning follows on.
func (g *graph) evaluate(next [][]int32, without *gatherKey) []time.Duration {
	e := &evaluation{g: g, without: without, next: next, times: make([]time.Duration, len(g.moments)), open: make([]int32, len(g.moments))}
	for i := range g.moments {
		v := &g.moments[i]
		e.open[i] = int32(len(v.after))
		if v.cross != 0 && e.drops(v) {
			e.open[i]--
		}
		if v.kind != none {
			e.open[i]++
			if e.waiting[v.kind] == nil {
				e.waiting[v.kind] = map[int][]int32{}
			}
			e.waiting[v.kind][v.count] = append(e.waiting[v.kind][v.count], int32(i))
		}
	}
	e.times[root] = g.from.At
	e.settle(root)
	for e.due.Len() > 0 {
		d := heap.Pop(&e.due).(due)
		e.counts[d.kind]++
		for _, i := range e.waiting[d.kind][e.counts[d.kind]] {
			e.reach(i, d.at)
		}
	}
	return e.times
}

// drops reports whether the lag of a moment is one that takes no time.
func (e *evaluation) drops(v *vertex) bool { return e.without != nil && v.key == *e.without }

// settle hands a moment's time on. It walks with a list of its own: a chain may be as long as the tape.
func (e *evaluation) settle(i int32) {
	todo := []int32{i}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if kind := e.g.moments[i].ends; kind != none {
			heap.Push(&e.due, due{e.times[i], i, kind})
		}
		for _, j := range e.next[i] {
			v := &e.g.moments[j]
			if v.cross == i && i != root && e.drops(v) {
				continue
			}
			if e.arrive(j, e.times[i]) {
				todo = append(todo, j)
			}
		}
	}
}

// reach is settle for a beginning whose completion has come.
func (e *evaluation) reach(i int32, at time.Duration) {
	if e.arrive(i, at) {
		e.settle(i)
	}
}

// arrive notes that something which a moment follows on has come, and reports whether that was the last.
func (e *evaluation) arrive(i int32, at time.Duration) bool {
	e.times[i] = max(e.times[i], at)
	if e.open[i]--; e.open[i] > 0 {
		return false
	}
	if v := &e.g.moments[i]; !e.drops(v) {
		e.times[i] += v.lag
	}
	return true
}

// followers lists for each moment those that follow on it.
func (g *graph) followers() [][]int32 {
	counts := make([]int32, len(g.moments))
	total := 0
	for i := range g.moments {
		for _, p := range g.moments[i].after {
			counts[p]++
			total++
		}
	}
	all := make([]int32, 0, total)
	next := make([][]int32, len(g.moments))
	for i, n := range counts {
		from := len(all)
		all = all[:from+int(n)]
		next[i] = all[from:from:len(all)]
	}
	for i := range g.moments {
		for _, p := range g.moments[i].after {
			next[p] = append(next[p], int32(i))
		}
	}
	return next
}

// dueQueue is a heap of completions by time, and of those of one time by their place in the graph.
type dueQueue []due

func (q dueQueue) Len() int { return len(q) }

func (q dueQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].of < q[j].of
}

func (q dueQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is for container/heap.
func (q *dueQueue) Push(x any) { *q = append(*q, x.(due)) }

// Pop is for container/heap.
func (q *dueQueue) Pop() any {
	last := len(*q) - 1
	d := (*q)[last]
	*q = (*q)[:last]
	return d
}

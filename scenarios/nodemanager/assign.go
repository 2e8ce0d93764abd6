package nodemanager

import (
	"slices"
	"time"
)

// Assign decides which machine serves which request, which machines start and which stop: it is the core of Plan. Callers have
// neither pods nor nodes: what they have is data, and results are indexes into it. K is what a machine and a request have
// to agree in.
//
// Machines come in the order in which they are taken, requests in the order in which they are served, but for those that
// name a zone: they find fewer machines, so they choose first. Equal arguments give equal results; the cost grows as the
// sum of both lists and of the counts of the pools. A request that holds a machine keeps it.
func Assign[K comparable](rules Rules[K], machines []Machine[K], requests []Request[K], now time.Time) Assignment {
	a := Assignment{Served: make([]int, len(requests)), Idle: make([]time.Time, len(machines))}
	needed := make([]bool, len(machines))
	for r := range requests {
		a.Served[r] = requests[r].Holds - 1
		if a.Served[r] >= 0 {
			needed[a.Served[r]] = true
		}
	}
	free := newFreeMachines(machines, needed)
	for _, zoned := range [...]bool{true, false} {
		for r := range requests {
			if a.Served[r] >= 0 || (requests[r].Zone != "") != zoned {
				continue
			}
			if m := free.take(&requests[r], needed); m >= 0 {
				a.Served[r], needed[m] = m, true
			} else if rules.Unavailable != nil && rules.Unavailable(r) {
				a.Unmet = append(a.Unmet, r)
			} else {
				a.Start = append(a.Start, Launch{Request: r, Pool: -1})
			}
		}
	}
	fillPools(&a, &rules, machines, needed)
	for m := range machines {
		a.Idle[m] = machines[m].IdleSince
		switch {
		case needed[m]:
			a.Idle[m] = time.Time{}
		case rules.IdleGrace <= 0:
			a.Stop = append(a.Stop, m)
		case a.Idle[m].IsZero():
			a.Idle[m] = now
		case now.Sub(a.Idle[m]) >= rules.IdleGrace:
			a.Stop = append(a.Stop, m)
		}
	}
	return a
}

// Rules are what Assign decides by besides machines and requests. Its functions have to be pure for the length of a call.
type Rules[K comparable] struct {
	// Pools are machines to keep free, filled in this order.
	Pools []Pool[K]
	// IdleGrace is how long a machine that nobody needs is kept; 0 and less is not at all.
	IdleGrace time.Duration
	// Unavailable says that no machine can be had for a request, by its index; nil is never.
	Unavailable func(request int) bool
	// Paused says that a pool, by its index, isn't filled up now; nil is never.
	Paused func(pool int) bool
}

// Pool is a number of machines of a kind.
type Pool[K comparable] struct {
	Kind  K
	Count int
}

// Machine is one that serves requests, or will when it is ready.
type Machine[K comparable] struct {
	Kind      K // that requests name
	Pool      K // that pools name
	Zone      string
	IdleSince time.Time // since when nobody needs it; zero for one that somebody needed at the last decision
}

// Request is something that needs a machine of its own.
type Request[K comparable] struct {
	// Kinds are those of the machines that would do; none means that a machine has to start.
	Kinds []K
	// Zone is where the machine has to be; "" is anywhere.
	Zone string
	// Holds is the index of the machine that it has already, plus one; 0 if it has none.
	Holds int
}

// Assignment is what Assign decided.
type Assignment struct {
	// Served is the machine of each request, -1 for none.
	Served []int
	// Start are the machines to start: for requests first, in the order in which these were served, then for pools.
	Start []Launch
	// Unmet are requests that get no machine now, in the order in which they were served.
	Unmet []int
	// Stop are machines to stop, in their order.
	Stop []int
	// Idle is since when each machine is of no use; zero where it is.
	Idle []time.Time
}

// Launch is a machine to start, for a request or for a pool; the other is -1.
type Launch struct{ Request, Pool int }

// fillPools keeps free machines for the pools and starts what is missing.
func fillPools[K comparable](a *Assignment, rules *Rules[K], machines []Machine[K], needed []bool) {
	if len(rules.Pools) == 0 {
		return
	}
	free := map[K][]int{}
	for m := range machines {
		if !needed[m] {
			free[machines[m].Pool] = append(free[machines[m].Pool], m)
		}
	}
	for i, pool := range rules.Pools {
		keep := min(pool.Count, len(free[pool.Kind]))
		for _, m := range free[pool.Kind][:keep] {
			needed[m] = true
		}
		free[pool.Kind] = free[pool.Kind][keep:]
		if keep == pool.Count || rules.Paused != nil && rules.Paused(i) {
			continue
		}
		a.Start = append(a.Start, slices.Repeat([]Launch{{Request: -1, Pool: i}}, pool.Count-keep)...)
	}
}

// freeMachines finds the first free machine for a request without looking at those that can't serve it.
type freeMachines[K comparable] struct {
	anywhere map[K][]int
	inZone   map[zoned[K]][]int
}

type zoned[K comparable] struct {
	kind K
	zone string
}

func newFreeMachines[K comparable](machines []Machine[K], needed []bool) *freeMachines[K] {
	f := &freeMachines[K]{anywhere: map[K][]int{}, inZone: map[zoned[K]][]int{}}
	for i := range machines {
		if needed[i] {
			continue
		}
		m := &machines[i]
		f.anywhere[m.Kind] = append(f.anywhere[m.Kind], i)
		z := zoned[K]{m.Kind, m.Zone}
		f.inZone[z] = append(f.inZone[z], i)
	}
	return f
}

// take returns the first machine that serves the request, or -1. The caller marks it as needed.
func (f *freeMachines[K]) take(r *Request[K], needed []bool) int {
	best := -1
	for _, kind := range r.Kinds {
		var list []int
		if r.Zone == "" {
			list = skipNeeded(f.anywhere[kind], needed)
			f.anywhere[kind] = list
		} else {
			z := zoned[K]{kind, r.Zone}
			list = skipNeeded(f.inZone[z], needed)
			f.inZone[z] = list
		}
		if len(list) > 0 && (best < 0 || list[0] < best) {
			best = list[0]
		}
	}
	return best
}

func skipNeeded(list []int, needed []bool) []int {
	for len(list) > 0 && needed[list[0]] {
		list = list[1:]
	}
	return list
}

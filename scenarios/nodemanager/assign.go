package nodemanager

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/assign"
)

// Assign is [assign.Assign], the decision of Plan over plain data.
func Assign[K comparable](rules Rules[K], machines []Machine[K], requests []Request[K], now time.Time) Assignment {
	return assign.Assign(rules, machines, requests, now)
}

// What Assign takes and returns.
type (
	// Rules are what Assign decides by besides machines and requests.
	Rules[K comparable] = assign.Rules[K]
	// Pool is a number of machines of a kind.
	Pool[K comparable] = assign.Pool[K]
	// Machine is one that serves requests, or will when it is ready.
	Machine[K comparable] = assign.Machine[K]
	// Request is something that needs a machine of its own.
	Request[K comparable] = assign.Request[K]
	// Assignment is what Assign decided.
	Assignment = assign.Assignment
	// Launch is a machine to start, for a request or for a pool; the other is -1.
	Launch = assign.Launch
)

package live

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/cycle"
)

// A provider is the part of a live run that an environment needs: groups of machines in a simulated cloud, and drains
// through the API. [scenarios.LiveSimulation] is one.
type provider interface {
	Now() time.Duration
	Group(name string) (scenarios.GroupState, error)
	Retarget(group string) error
	Launch(group string, count int) error
	Drain(id string, done func(error))
	Terminate(id string)
	// RollerPoll draws how long a roller takes to see what has changed.
	RollerPoll() time.Duration
}

// An environment is the simulated cloud and the real API server as package cycle
// sees them: a cluster is a node group, by its name; a drain is a cordon and
// evictions through the API, which honour budgets and are tried again, and when
// the scenario's eviction timeout is over the pods are deleted, where it says so.
//
// Its stamps are moments of the scenario, not of the wall: 0s is [environmentEpoch]. Its methods may be called from
// several goroutines; each runs on the event loop.
type environment struct {
	eventLoop *eventLoop
	provider  provider
	poll      func(context.Context) error // waits a little

	// Of the roller's looks, on the event loop.
	shown   []string // what it reacts to, at the last time
	looks   bool     // it will look
	looksAt time.Duration

	mu       sync.Mutex
	draining map[string]time.Duration // since when
	failed   error                    // of a drain whose time was over
}

// environmentEpoch is the stamp of a scenario's 0s. What the scenario begins with
// is older, and a zero time says that nothing is known.
var environmentEpoch = time.Unix(0, 0).UTC().Add(1000 * time.Hour)

var _ cycle.Environment = (*environment)(nil)

func newEnvironment(s *eventLoop, p provider, poll func(context.Context) error) *environment {
	return &environment{eventLoop: s, provider: p, poll: poll, draining: map[string]time.Duration{}}
}

// on runs a function on the event loop and waits for it.
func (e *environment) on(ctx context.Context, do func() error) (err error) {
	// The call may still be made after ctx has ended: its error is dropped then.
	result := make(chan error, 1)
	if err := e.eventLoop.call(ctx, func() { result <- do() }); err != nil {
		return err
	}
	return <-result
}

// Now is the moment of the scenario as a stamp.
func (e *environment) Now(ctx context.Context) (now time.Time, err error) {
	var at time.Duration
	err = e.on(ctx, func() error { at = e.provider.Now(); return nil })
	return environmentEpoch.Add(at), err
}

// lookDue reports whether a roller from outside looks at a group now: some time after something of it has changed, as a simulation's roller does.
func (e *environment) lookDue(ctx context.Context, id cycle.ClusterID) (due bool, err error) {
	err = e.on(ctx, func() error {
		g, err := e.provider.Group(string(id))
		if err != nil {
			return err
		}
		now := e.provider.Now()
		if is := e.shows(g); !slices.Equal(is, e.shown) {
			e.shown = is
			if !e.looks {
				e.looks, e.looksAt = true, now+e.provider.RollerPoll()
			}
		}
		if due = e.looks && now >= e.looksAt; due {
			e.looks = false
		}
		return nil
	})
	return due, err
}

// shows is what a roller reacts to: the states of machines and their nodes, and the ends of drains.
func (e *environment) shows(g scenarios.GroupState) (all []string) {
	for _, i := range g.Instances {
		state, _ := e.state(i)
		all = append(all, fmt.Sprint(i.ID, i.State, i.Registered, i.Ready, state == cycle.Drained))
	}
	return all
}

// Failed is the first drain that didn't end in its time, nil while there is none.
func (e *environment) Failed() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}

// LookupClusterID implements [cycle.Environment]: a group's id is its name.
func (e *environment) LookupClusterID(ctx context.Context, name string) (cycle.ClusterID, error) {
	err := e.on(ctx, func() error { _, err := e.provider.Group(name); return err })
	return cycle.ClusterID(name), err
}

// DescribeCluster implements [cycle.Environment]. Instances that were asked for and
// that the cloud hasn't launched yet are listed as Starting: they take their room.
func (e *environment) DescribeCluster(ctx context.Context, id cycle.ClusterID) (cycle.Cluster, error) {
	var c cycle.Cluster
	err := e.on(ctx, func() error {
		g, err := e.provider.Group(string(id))
		if err != nil {
			return err
		}
		c = e.describe(g)
		return nil
	})
	return c, err
}

func (e *environment) describe(g scenarios.GroupState) cycle.Cluster {
	c := cycle.Cluster{ID: cycle.ClusterID(g.Name), Name: g.Name, Config: cycle.ConfigID(g.Config), MinSize: g.Min, MaxSize: g.Max}
	asked := g.Desired
	for _, i := range g.Instances {
		in := cycle.Instance{ID: cycle.InstanceID(i.ID), Config: cycle.ConfigID(i.Config), CreatedAt: environmentEpoch.Add(i.Launched)}
		if i.Wanted {
			in.Config = c.Config
		}
		in.State, in.UpdatedAt = e.state(i)
		if in.State != cycle.Terminating {
			asked--
		}
		c.Instances = append(c.Instances, in)
	}
	for k := range max(asked, 0) {
		// "~" sorts after any id of a cloud.
		c.Instances = append(c.Instances, cycle.Instance{
			ID: cycle.InstanceID("~asked-" + strconv.Itoa(k)), State: cycle.Starting, Config: c.Config,
			CreatedAt: environmentEpoch.Add(e.provider.Now()),
		})
	}
	return c
}

func (e *environment) state(i scenarios.Instance) (cycle.InstanceState, time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	since, drains := e.draining[i.ID]
	switch {
	case i.State == "shutting-down" || i.State == "stopped":
		return cycle.Terminating, time.Time{}
	case drains && i.Pods == 0:
		return cycle.Drained, time.Time{}
	case drains:
		return cycle.Draining, environmentEpoch.Add(since)
	case !i.Registered || !i.Ready && i.Wanted:
		return cycle.Starting, time.Time{}
	}
	return cycle.Started, time.Time{}
}

// StartInstances implements [cycle.Environment].
func (e *environment) StartInstances(ctx context.Context, id cycle.ClusterID, count int) error {
	return e.on(ctx, func() error { return e.provider.Launch(string(id), count) })
}

// DrainInstances implements [cycle.Environment].
func (e *environment) DrainInstances(ctx context.Context, ids ...cycle.InstanceID) error {
	return e.on(ctx, func() error {
		for _, id := range ids {
			e.mu.Lock()
			_, under := e.draining[string(id)]
			if !under {
				e.draining[string(id)] = e.provider.Now()
			}
			e.mu.Unlock()
			if !under {
				e.provider.Drain(string(id), e.drained)
			}
		}
		return nil
	})
}

func (e *environment) drained(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil && e.failed == nil {
		e.failed = err
	}
}

// TerminateInstances implements [cycle.Environment].
func (e *environment) TerminateInstances(ctx context.Context, ids ...cycle.InstanceID) error {
	return e.on(ctx, func() error {
		for _, id := range ids {
			e.provider.Terminate(string(id))
		}
		return nil
	})
}

// WaitInstances implements [cycle.Environment]. It waits a little: the planner looks again anyway.
func (e *environment) WaitInstances(ctx context.Context, _ cycle.InstanceState, _ ...cycle.InstanceID) error {
	return e.poll(ctx)
}

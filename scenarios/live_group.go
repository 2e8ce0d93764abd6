package scenarios

import (
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// An Instance is a machine of a group, as the provider and the API describe it.
type Instance struct {
	ID, Node, Zone string
	// Wanted says that it runs what the group's instances shall run; Config names
	// what it runs.
	Wanted bool
	Config string
	// State is the provider's: pending, running, shutting-down, stopped.
	State string
	// Registered says that its Node is there, Ready that this is Ready, Cordoned
	// that it takes no new pods.
	Registered, Ready, Cordoned bool
	// Pods are those on it that a drain evicts.
	Pods int
	// Launched is when it was asked for, in the scenario's time.
	Launched time.Duration
}

// A GroupState is a group at the provider.
type GroupState struct {
	Name string
	// Config names what its instances shall run.
	Config            string
	Min, Max, Desired int
	// Instances are those that aren't terminated, in the order of their launch.
	// Those that were asked for and aren't launched yet are missing.
	Instances []Instance
}

// Retarget has the instances of a group that are launched from now on run what the
// scenario's roll brings.
func (p *LiveSimulation) Retarget(group string) error {
	f, g, err := p.group(group)
	if err != nil {
		return err
	}
	g.Template = template(f, f.To, launchTo)
	return nil
}

// Group describes a group.
func (p *LiveSimulation) Group(name string) (GroupState, error) {
	_, g, err := p.group(name)
	if err != nil {
		return GroupState{}, err
	}
	s := GroupState{Name: g.Name, Config: configOf(g.Template), Min: g.Min, Max: g.Max, Desired: g.Desired}
	store := p.sim.env.API
	for _, i := range g.Instances() {
		one := Instance{
			ID: i.ID, Node: i.Name, Zone: i.Zone, Config: configOf(i.Template), Wanted: i.Template == g.Template,
			State: i.State.String(), Launched: i.Launched,
		}
		if n := store.Node(i.Name); n != nil {
			seen := p.nodes[i.Name]
			one.Registered, one.Ready, one.Cordoned = true, n.Ready() && seen.ready && !seen.closed, n.Unschedulable
			for _, pod := range store.PodsOn(i.Name) {
				if roll.Leaves(pod) {
					one.Pods++
				}
			}
		}
		s.Instances = append(s.Instances, one)
	}
	return s, nil
}

func configOf(t cloud.Template) string {
	return fmt.Sprintf("%s %s %s (launch template version %d)", t.Image, t.Version, t.InstanceType, t.LaunchVersion)
}

func (p *LiveSimulation) group(name string) (*spec.Group, *cloud.Group, error) {
	f, g := p.sim.group(name), p.sim.env.Cloud.Group(name)
	if f == nil || g == nil {
		return nil, nil, fmt.Errorf("group %q: scenario %s has no such group", name, p.sim.file.Metadata.Name)
	}
	return f, g, nil
}

// RollerPoll draws how long a roller from outside takes to see what has changed.
func (p *LiveSimulation) RollerPoll() time.Duration {
	return p.sim.env.Draw(&p.polls, p.sim.env.Timings.RollerPoll)
}

// Launch asks the provider for count more instances of a group.
func (p *LiveSimulation) Launch(group string, count int) error {
	_, g, err := p.group(group)
	if err != nil {
		return err
	}
	p.sim.env.Cloud.SetDesired(g, g.Desired+max(count, 0))
	return nil
}

// Terminate ends an instance for good; the group shrinks by it. An unknown one is
// no error.
func (p *LiveSimulation) Terminate(id string) {
	if i := p.sim.env.Cloud.Instance(id); i != nil {
		p.sim.env.Cloud.Terminate(i, true)
	}
}

// Drain cordons the node of an instance and evicts its pods, as the scenario's roll
// has it: refused evictions are tried again, and when the time is over the pods are
// deleted, where it says so. done is called, from within a later call of the
// LiveSimulation's methods, with nil or with what is left. An unknown instance has
// nothing to drain.
func (p *LiveSimulation) Drain(id string, done func(error)) {
	env, r := p.sim.env, p.sim.file.Roll
	i := env.Cloud.Instance(id)
	var n *kube.Node
	if i != nil {
		n = env.API.Node(i.Name)
	}
	if n == nil {
		env.After(0, func() { done(nil) })
		return
	}
	env.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true })
	how := roll.Drain{Retry: env.Timings.EvictionRetry}
	if r != nil {
		how.Timeout, how.Force = r.EvictionTimeout, r.Force
	}
	p.drains.Drain(n, how, func(err error) {
		var stuck *roll.Stuck
		if errors.As(err, &stuck) {
			err = fmt.Errorf("the drain of node %s did not end within %s: %w", n.Name, how.Timeout, err)
		}
		done(err)
	})
}

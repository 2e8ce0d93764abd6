package roll

import (
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

// epoch is what the planner's stamps count from: moments of the tape are
// durations, and a zero time says that one isn't known.
var epoch = time.Unix(0, 0).UTC()

func stamp(d time.Duration) time.Time { return epoch.Add(d + 1000*time.Hour) }

// configOf names what an instance runs.
func configOf(t cloud.Template) cycle.ConfigID {
	return cycle.ConfigID(t.Image + " " + t.Version + " " + t.Release + " " + t.InstanceType + " " + strconv.Itoa(t.LaunchVersion))
}

// describe says how the group stands. Instances that were asked for and not
// launched yet are listed as well: they take their room.
func (r *Roller) describe() cycle.Cluster {
	g := r.cfg.Group
	c := cycle.Cluster{ID: cycle.ClusterID(g.Name), Name: g.Name, Config: configOf(r.target), MinSize: g.Min, MaxSize: g.Max}
	kept := 0
	for _, i := range g.Instances() {
		in := cycle.Instance{ID: cycle.InstanceID(i.ID), Config: configOf(i.Template), CreatedAt: stamp(i.Launched)}
		in.State, in.UpdatedAt = r.state(i)
		if i.State != cloud.ShuttingDown {
			kept++
		}
		c.Instances = append(c.Instances, in)
	}
	for k := range g.Desired - kept {
		c.Instances = append(c.Instances, cycle.Instance{
			ID: cycle.InstanceID("asked-" + strconv.Itoa(k)), State: cycle.Starting, Config: c.Config, CreatedAt: stamp(r.env.Now()),
		})
	}
	return c
}

func (r *Roller) state(i *cloud.Instance) (cycle.InstanceState, time.Time) {
	if i.State == cloud.ShuttingDown {
		return cycle.Terminating, time.Time{}
	}
	if w := r.work[i.ID]; w != nil {
		if w.drained {
			return cycle.Drained, time.Time{}
		}
		return cycle.Draining, stamp(w.since)
	}
	n := r.env.API.Node(i.Name)
	if n == nil || !r.served[i.ID] && !n.Ready() {
		return cycle.Starting, time.Time{}
	}
	if at, ok := r.since[i.ID]; ok {
		return cycle.Started, stamp(at)
	}
	return cycle.Started, time.Time{}
}

// ready reports whether an instance's node serves.
func (r *Roller) ready(id cycle.InstanceID) bool {
	i := r.env.Cloud.Instance(string(id))
	if i == nil {
		return false
	}
	n := r.env.API.Node(i.Name)
	return n != nil && n.Ready()
}

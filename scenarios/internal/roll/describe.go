package roll

import (
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

// epoch is the zero of the planner's stamps: moments of the tape are durations, those before it negative, and a zero
// time says that one isn't known.
var epoch = time.Unix(0, 0).UTC()

func stamp(d time.Duration) time.Time { return epoch.Add(d + 1000*time.Hour) }

// config names what an instance runs. The version of the launch template counts
// only where the roll changes nothing else: one that goes back has a new version
// of the old template.
func (r *Roller) config(t cloud.Template) cycle.ConfigID {
	if !r.versioned {
		t.LaunchVersion = 0
	}
	id, known := r.configs[t]
	if !known {
		id = cycle.ConfigID(strings.Join([]string{t.Image, t.Version, t.Release, t.OS, t.InstanceType, strconv.Itoa(t.LaunchVersion)}, " "))
		r.configs[t] = id
	}
	return id
}

// old reports whether an instance is to be replaced.
func (r *Roller) old(i *cloud.Instance) bool { return r.config(i.Template) != r.config(r.target) }

// askedPrefix begins the ids of instances that aren't launched yet; it sorts after any id of a cloud.
const askedPrefix = "~asked-"

// describe says how the group stands, its instances by id. Those that were asked
// for and not launched yet are listed as well: they take their room. The list is
// valid until the next call.
func (r *Roller) describe() cycle.Cluster {
	g := r.cfg.Group
	c := cycle.Cluster{ID: cycle.ClusterID(g.Name), Name: g.Name, Config: r.config(r.target), MinSize: g.Min, MaxSize: g.Max, Instances: r.list[:0]}
	asked := 0
	switch {
	case !g.Detached:
		asked = g.Desired
	case r.asked != nil:
		asked = r.asked()
	}
	for _, m := range r.members {
		if m.instance.State != cloud.ShuttingDown && !g.Detached {
			asked--
		}
		if m.skipped {
			continue
		}
		in := cycle.Instance{ID: cycle.InstanceID(m.instance.ID), Config: m.config, CreatedAt: stamp(m.instance.Launched)}
		in.State, in.UpdatedAt = m.state()
		c.Instances = append(c.Instances, in)
	}
	for k := range max(asked, 0) {
		c.Instances = append(c.Instances, cycle.Instance{
			ID: cycle.InstanceID(askedPrefix + strconv.Itoa(k)), State: cycle.Starting, Config: c.Config, CreatedAt: stamp(r.env.Now()),
		})
	}
	r.list = c.Instances
	return c
}

func (m *member) state() (cycle.InstanceState, time.Time) {
	switch {
	case m.instance.State == cloud.ShuttingDown:
		return cycle.Terminating, time.Time{}
	case m.work != nil && m.work.drained:
		return cycle.Drained, time.Time{}
	case m.work != nil:
		return cycle.Draining, stamp(m.work.since)
	case !m.served:
		return cycle.Starting, time.Time{}
	case m.moved:
		return cycle.Started, stamp(m.since)
	}
	return cycle.Started, time.Time{}
}

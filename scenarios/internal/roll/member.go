package roll

import (
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// member is an instance of the group with the roller's notes on it, so that a look at a large group needs no queries.
type member struct {
	instance *cloud.Instance
	config   cycle.ConfigID
	ready    bool          // its node is there and Ready
	served   bool          // its node was Ready once
	moved    bool          // its readiness has changed
	since    time.Duration // when it did
	skipped  bool          // the roll continues without it
	work     *work         // nil where nothing is done to it
}

// work is the roller's current step on an instance.
type work struct {
	since   time.Duration
	drained bool
}

// join adds an instance to the members, which are in the order of their ids.
func (r *Roller) join(i *cloud.Instance) *member {
	if m := r.byID[i.ID]; m != nil {
		return m
	}
	m := &member{instance: i, config: r.config(i.Template)}
	if n := r.env.API.Node(i.Name); n != nil && n.Ready() {
		m.ready, m.served = true, true
	}
	r.byID[i.ID] = m
	r.nodes.Follow(i.Name)
	at, _ := r.place(i.ID)
	r.members = slices.Insert(r.members, at, m)
	return m
}

// leave is the end of an instance.
func (r *Roller) leave(i *cloud.Instance) {
	if r.byID[i.ID] != nil {
		r.nodes.Drop(i.Name)
	}
	delete(r.byID, i.ID)
	if at, found := r.place(i.ID); found {
		r.members = slices.Delete(r.members, at, at+1)
	}
}

func (r *Roller) nodeChanged(c kube.Change, old, n *kube.Node) {
	if r.over || c == kube.Modified && old.Ready() == n.Ready() {
		return
	}
	i := r.env.Cloud.ByNode(n.Name)
	if i == nil || i.Group != r.cfg.Group {
		return
	}
	m := r.byID[i.ID]
	if m == nil {
		return
	}
	m.ready = c != kube.Deleted && n.Ready()
	m.served = m.served || m.ready
	m.moved, m.since = true, r.env.Now()
	r.look()
}

func (r *Roller) instanceChanged(c cloud.Change, i *cloud.Instance) {
	if r.over || i.Group != r.cfg.Group || c == cloud.Ailing || c == cloud.Told {
		return
	}
	m := r.join(i)
	m.config = r.config(i.Template) // a reimage has another
	if i.State == cloud.Terminated {
		r.leave(i)
		if m.skipped {
			r.skips--
		}
		if m.work != nil {
			// Another client was faster.
			m.work = nil
			r.busy--
			r.env.After(0, func() { r.lost(i) })
		}
	}
	r.look()
}

// begin notes that something is done to an instance, and idle that nothing is any
// more.
func (m *member) begin(r *Roller) *work {
	if m.work == nil {
		r.busy++
	}
	m.work = &work{since: r.env.Now()}
	return m.work
}

func (r *Roller) idle(i *cloud.Instance) {
	if m := r.byID[i.ID]; m != nil && m.work != nil {
		m.work = nil
		r.busy--
	}
}

// working reports whether something is being done to an instance.
func (r *Roller) working(i *cloud.Instance) bool {
	m := r.byID[i.ID]
	return m != nil && m.work != nil
}

// zone is the zone of an instance, "" where there is none.
func (r *Roller) zone(id cycle.InstanceID) string {
	if m := r.byID[string(id)]; m != nil {
		return m.instance.Zone
	}
	return ""
}

// ready reports whether an instance's node serves. A plan asks for one instance
// after the other, in the order of their ids: the next is near the last.
func (r *Roller) ready(id cycle.InstanceID) bool {
	for i := r.asking; i < min(r.asking+8, len(r.members)); i++ {
		if m := r.members[i]; m.instance.ID == string(id) {
			r.asking = i + 1
			return m.ready
		}
	}
	m := r.byID[string(id)]
	if m == nil {
		return false
	}
	r.asking, _ = r.place(string(id))
	return m.ready
}

// place is where an instance stands among the members, or would.
func (r *Roller) place(id string) (at int, found bool) {
	return slices.BinarySearchFunc(r.members, id, func(m *member, id string) int { return strings.Compare(m.instance.ID, id) })
}

package roll

import (
	"errors"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

// drain has an instance's node drained.
func (r *Roller) drain(id string) {
	m := r.byID[id]
	if m == nil || r.over {
		return
	}
	i, w := m.instance, m.begin(r)
	n := r.env.API.Node(i.Name)
	if n == nil {
		w.drained = true
		r.look()
		return
	}
	r.strategy.Drain(i, n, func(err error) {
		var stuck *Stuck
		switch {
		case r.over || m.work != w:
		case errors.As(err, &stuck) && !r.strategy.Skips(i, n):
			r.fail(Undrained, n.Name)
		case stuck != nil:
			r.idle(i)
			m.skipped = true
			r.skips++
			r.look()
		default:
			r.env.After(r.cfg.Settle, func() {
				w.drained = true
				r.look()
			})
		}
	})
}

// remove ends an instance that has nothing to do any more.
func (r *Roller) remove(id string) {
	if strings.HasPrefix(id, askedPrefix) {
		r.withdraw()
		return
	}
	m := r.byID[id]
	if m == nil || r.over {
		return
	}
	i := m.instance
	r.idle(i)
	r.gone(i)
	r.strategy.Remove(i, r.env.API.Node(i.Name))
	r.look()
	r.turn()
}

// withdraw takes back the request for an instance that isn't launched yet. Where
// each is ordered by itself, it goes when it has come.
func (r *Roller) withdraw() {
	if g := r.cfg.Group; !g.Detached {
		r.env.Cloud.SetDesired(g, g.Desired-1)
		r.look()
	}
}

// lost handles the end of an instance during its drain, caused by another actor.
func (r *Roller) lost(i *cloud.Instance) {
	if r.over {
		return
	}
	r.drains.Cancel(i.Name)
	r.gone(i)
	r.look()
	r.turn()
}

// gone counts an instance that was replaced.
func (r *Roller) gone(i *cloud.Instance) {
	if r.old(i) {
		r.replaced++
	}
}

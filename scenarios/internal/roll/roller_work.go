package roll

import (
	"errors"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

// work is what the roller does to an instance.
type work struct {
	since   time.Duration
	drained bool
}

// drain has an instance's node drained.
func (r *Roller) drain(id string) {
	i := r.env.Cloud.Instance(id)
	if i == nil || r.over {
		return
	}
	w := &work{since: r.env.Now()}
	r.work[id] = w
	n := r.env.API.Node(i.Name)
	if n == nil {
		w.drained = true
		r.look()
		return
	}
	r.strategy.Drain(i, n, func(err error) {
		var stuck *Stuck
		switch {
		case r.over || r.work[id] != w:
		case errors.As(err, &stuck) && !r.strategy.Skips(i, n):
			r.fail(Undrained, n.Name)
		case stuck != nil:
			delete(r.work, id)
			r.skipped[id] = true
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
	i := r.env.Cloud.Instance(id)
	if i == nil || r.over {
		return
	}
	delete(r.work, id)
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

// lost is the end of an instance that was being drained, by somebody else's
// hand.
func (r *Roller) lost(i *cloud.Instance) {
	if r.work[i.ID] == nil || r.over {
		return
	}
	delete(r.work, i.ID)
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

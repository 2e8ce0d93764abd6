package noderoll

import (
	"cmp"
	"slices"
	"time"
)

// StillAfter is how long a pool that has all nodes Ready and on target, but not as
// many as before its roll, must have been still for the roll to be over: somebody
// has resized it meanwhile. It is also how long one that has only got more nodes
// must have been still to count as scaled up. A managed node group of EKS takes its surge nodes away
// one in 30 to 90 s, and begins within a minute or two.
const StillAfter = 5 * time.Minute

// feedPool is what a Feed remembers of a pool.
type feedPool struct {
	rolling bool
	// size is how many nodes the pool had when its roll began, all of which are to
	// be replaced; 0 where that isn't known.
	size int
	// old is how many there were to be replaced, less those of them that were taken since because they aren't needed.
	old    int
	rolled int // nodes of a roll that is over, while other pools still roll
	// moved is when a node of the pool changed, or a pod left a draining one.
	moved time.Duration
	still bool // among Feed.still
	grown bool // it is there because it has only got more nodes
	// more is how many nodes on target it has got that are no roll.
	more   int
	parked map[*nodeRec]struct{}
}

// shrink notes that a node is gone that wasn't needed.
func (r *feedPool) shrink(v *NodeView) {
	if !v.OnTarget {
		r.old, r.size = max(r.old-1, 0), max(r.size-1, 0)
	}
}

// progress looks whether a pool's roll has begun, or is over: all nodes are Ready
// and on target, and there are as many as at its beginning. A surge is more, and
// until the last node's successor is there it is less. AKS reimages nodes in place,
// and until the last one is back under its name the surge node stands in for it. Karpenter keeps no number of
// nodes, and who comes in the middle of a roll doesn't know it: there the first
// condition is all.
//
// What looks like a beginning may turn out to be none: a cordon that is taken back, a node that comes and goes, or one
// that leaves because it isn't needed. A pool that has only got more nodes, which no image tells from the old ones, was
// scaled up, which is known after StillAfter.
func (f *Feed) progress(p *pool) {
	c, r := &p.count, &p.feed
	moving := c.joining + c.draining - p.scalesDown
	imaged := p.hasTarget || f.state.target.image != "" // images tell what is on target
	onTarget := c.total - c.offTarget
	if r.more = min(r.more, onTarget); imaged {
		r.more = 0
	}
	if c.offTarget > 0 && !r.rolling && (moving > 0 || onTarget > r.more) {
		r.rolling, r.size, r.old = true, c.offTarget, c.offTarget
		if p.elastic || f.seeding && c.offTarget < c.total {
			r.size = 0
		}
		f.rolling++
	}
	untouched := r.rolling && r.old > 0 && moving == 0 && c.offTarget == r.old
	if untouched && c.offTarget == c.total || r.rolling && r.old == 0 && c.offTarget == 0 && !imaged {
		f.noRoll(p)
	}
	if !r.rolling {
		clear(p.away) // a change of size
	}
	through := r.rolling && c.offTarget == 0 && c.total > 0 && c.readyTarget == c.total
	r.grown = r.rolling && untouched && !imaged
	rests := through || r.grown
	switch {
	case through && (r.size == 0 || r.size == c.total && len(p.away) == 0):
		f.rollOver(p)
	case rests && !r.still:
		r.still = true
		f.still = append(f.still, p)
	case !rests && r.still:
		f.stir(p)
	}
}

// rested ends what has been still for StillAfter: a roll, or what looked like one.
func (f *Feed) rested(p *pool) {
	if p.feed.grown {
		f.noRoll(p)
	} else {
		f.rollOver(p)
	}
}

// noRoll takes back that a pool's roll has begun.
func (f *Feed) noRoll(p *pool) {
	if p.feed.still {
		f.stir(p)
	}
	p.feed.rolling, p.feed.size, p.feed.old, p.feed.more = false, 0, 0, p.count.total-p.count.offTarget
	if f.rolling--; f.rolling == 0 {
		f.complete()
	}
}

// stir takes a pool off those that have to rest.
func (f *Feed) stir(p *pool) {
	p.feed.still = false
	f.still = slices.DeleteFunc(f.still, func(q *pool) bool { return q == p })
}

// rollOver ends the roll of a pool.
func (f *Feed) rollOver(p *pool) {
	if p.feed.still {
		f.stir(p)
	}
	p.feed.rolling, p.feed.rolled = false, p.count.total
	if f.rolling--; f.rolling == 0 {
		f.complete()
	}
}

// stillest is the pool that has been still for longest of those that have to rest.
func (f *Feed) stillest() *pool {
	if len(f.still) == 0 {
		return nil
	}
	return slices.MinFunc(f.still, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(a.feed.moved, b.feed.moved), cmp.Compare(a.name, b.name))
	})
}

// complete says that the last pool is through, and counts the nodes of all that
// rolled since none did, if any has.
func (f *Feed) complete() {
	nodes := 0
	for _, p := range f.state.pools {
		nodes += p.feed.rolled
		p.feed.rolled = 0
	}
	if nodes == 0 {
		return
	}
	f.emit(Entry{Kind: EvtComplete, Message: count(nodes, "node") + " on target"})
}

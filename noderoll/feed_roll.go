package noderoll

import (
	"cmp"
	"slices"
	"time"
)

// StillAfter is how long a pool that has all nodes Ready and on target, but not as
// many as before its roll, must have been still for the roll to be over: somebody
// has resized it meanwhile. A managed node group of EKS takes its surge nodes away
// one in 30 to 90 s, and begins within a minute or two.
const StillAfter = 5 * time.Minute

// feedPool is what a Feed remembers of a pool.
type feedPool struct {
	rolling bool
	// size is how many nodes the pool had when its roll began, all of which are to
	// be replaced; 0 where that isn't known.
	size   int
	rolled int // nodes of a roll that is over, while other pools still roll
	// moved is when a node of the pool changed, or a pod left a draining one.
	moved  time.Duration
	still  bool // among Feed.still
	parked map[*nodeRec]struct{}
}

// progress looks whether a pool's roll has begun, or is over: all nodes are Ready
// and on target, and there are as many as at its beginning. A surge is more, and
// until the last node's successor is there it is less. AKS reimages nodes in place,
// and until the last one is back under its name the surge node stands in for it. Karpenter keeps no number of
// nodes, and who comes in the middle of a roll doesn't know it: there the first
// condition is all.
func (f *Feed) progress(p *pool) {
	c, r := &p.count, &p.feed
	if c.offTarget > 0 && !r.rolling && (c.joining+c.draining > 0 || c.offTarget < c.total) {
		r.rolling, r.rolled, r.size = true, 0, c.offTarget
		if p.elastic || f.seeding && c.offTarget < c.total {
			r.size = 0
		}
		f.rolling++
	}
	if r.rolling && r.size > 0 && c.joining+c.draining == 0 && c.offTarget == c.total && c.total == r.size {
		r.rolling, r.size = false, 0 // a cordon that was taken back, or a node that came and went
		f.rolling--
	}
	if !r.rolling {
		clear(p.away) // a change of size
	}
	through := r.rolling && c.offTarget == 0 && c.total > 0 && c.readyTarget == c.total
	switch {
	case through && (r.size == 0 || r.size == c.total && len(p.away) == 0):
		f.rollOver(p)
	case through && !r.still:
		r.still = true
		f.still = append(f.still, p)
	case !through && r.still:
		f.stir(p)
	}
}

// stir takes a pool off those that are only not of their size.
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

// stillest is the pool that has been still for longest of those that are only not
// of their size.
func (f *Feed) stillest() *pool {
	if len(f.still) == 0 {
		return nil
	}
	return slices.MinFunc(f.still, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(a.feed.moved, b.feed.moved), cmp.Compare(a.name, b.name))
	})
}

// complete says that the last pool is through, and counts the nodes of all that
// rolled since none did.
func (f *Feed) complete() {
	nodes := 0
	for _, p := range f.state.pools {
		nodes += p.feed.rolled
		p.feed.rolled = 0
	}
	f.emit(Entry{Kind: EvtComplete, Message: count(nodes, "node") + " on target"})
}

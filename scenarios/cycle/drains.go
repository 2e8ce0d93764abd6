package cycle

import (
	"cmp"
	"slices"
)

// drains chooses what gives up its work: first what is outdated; when nothing of that is left, what is too much.
func (p *assessment) drains() {
	if p.mode == Pause {
		return
	}
	reason, list, limit := ReasonOutdated, p.old, len(p.old)
	if len(p.old) == 0 {
		surplus := -p.census.Wanted
		if surplus <= 0 {
			return
		}
		surplus -= p.dropStarting(surplus)
		reason, list, limit = ReasonSurplus, p.current, surplus
	}
	spare := max(0, p.census.Serving-p.census.Floor)
	room := limit
	if n, ok := p.options.MaxDraining.Get(); ok {
		room = min(limit, max(0, n-len(p.draining)))
	}
	idle := p.idle
	if reason == ReasonSurplus {
		idle = p.census.NotReady
	}
	var floored int
	if room > 0 && (spare > 0 || idle > 0) {
		floored = p.choose(p.candidates(list, reason), reason, room, spare, idle)
	} else if room > 0 {
		floored = limit
	}
	if floored = min(floored, limit-len(p.drain)); floored > 0 {
		p.block(ReasonFloor, floored, itoa(p.census.Serving)+" serve, at least "+itoa(p.census.Floor)+" must")
	}
	if len(p.drain) == room && room < limit {
		p.block(ReasonMaxDraining, limit-room, p.options.MaxDraining.String()+" may drain at once")
	}
}

// choose fills p.drain in the order of the candidates, idle of which don't serve: at most room in all, at most spare that
// serve. It returns how many it passed by because they serve.
func (p *assessment) choose(candidates queue, reason Reason, room, spare, idle int) (floored int) {
	left := len(candidates)
	for c := range candidates.inOrder(min(room, spare+idle)) {
		if len(p.drain) == room {
			break
		}
		if spare == 0 && idle == 0 {
			return floored + left
		}
		left--
		if c.serving && spare == 0 {
			floored++
			continue
		}
		if !c.serving {
			idle--
		}
		if p.options.MayDrain != nil {
			if ok, why := p.options.MayDrain(c.id); !ok {
				p.blockInstance(ReasonRefused, c.id, why)
				continue
			}
		}
		p.drain = append(p.drain, Target{c.id, reason})
		if c.serving {
			spare--
		}
	}
	return floored
}

// candidates returns the instances that may be drained, with their order: by rank; what doesn't serve before what
// does, since it costs nothing; what a roll that was cut short left behind before what the roll started from (under
// Abort: the cluster's config before others); the oldest first; by id.
func (p *assessment) candidates(list []int32, reason Reason) queue {
	from := p.options.From
	if reason == ReasonOutdated && from == "" {
		from = p.oldestConfig(list)
	}
	candidates := make(queue, len(list))
	for n, i := range list {
		instance := &p.cluster.Instances[i]
		c := candidate{
			id: instance.ID, seconds: instance.CreatedAt.Unix(), nanoseconds: instance.CreatedAt.Nanosecond(),
			serving: p.options.Ready == nil || p.options.Ready(instance.ID),
		}
		if p.options.Rank != nil {
			c.rank = p.options.Rank(instance.ID)
		}
		if c.serving {
			c.class += 2
		}
		stays := instance.Config == from
		if reason == ReasonSurplus {
			stays = instance.Config != p.cluster.Config
		}
		if stays {
			c.class++
		}
		candidates[n] = c
	}
	return candidates
}

// oldestConfig is the config of the oldest instance of the list; of two as old, the one with the lower id.
func (p *assessment) oldestConfig(list []int32) ConfigID {
	oldest := &p.cluster.Instances[list[0]]
	for _, i := range list[1:] {
		instance := &p.cluster.Instances[i]
		if cmp.Or(instance.CreatedAt.Compare(oldest.CreatedAt), cmp.Compare(instance.ID, oldest.ID)) < 0 {
			oldest = instance
		}
	}
	return oldest.Config
}

// dropStarting removes up to n wanted instances that are not up yet, the youngest first, and returns how many.
func (p *assessment) dropStarting(n int) int {
	n = min(n, len(p.starting))
	if n == 0 {
		return 0
	}
	created := make(map[InstanceID]*Instance, len(p.starting))
	for i := range p.cluster.Instances {
		if instance := &p.cluster.Instances[i]; instance.State == Starting {
			created[instance.ID] = instance
		}
	}
	slices.SortFunc(p.starting, func(a, b Target) int {
		return cmp.Or(created[b.ID].CreatedAt.Compare(created[a.ID].CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	for _, t := range p.starting[:n] {
		p.terminate = append(p.terminate, Target{t.ID, ReasonNeverServed})
	}
	p.starting = p.starting[n:]
	return n
}

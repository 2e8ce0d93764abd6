package apply

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// reset brings the cluster to a state of the tape: at the beginning, after an
// earlier run whatever it has left, and where the Player has gone back.
func (a *Applier) reset(ctx context.Context, it item) error {
	a.count(func(l *reportBuilder) { l.Position = max(l.Position, it.at) })
	there, err := a.inventory(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.live, a.uids = map[key]*tracked{}, map[string]string{}
	a.mu.Unlock()
	a.liveness.clear()
	wanted := map[key]*replay.Object{}
	for _, list := range it.state.lists {
		for _, o := range list.Items {
			wanted[key{list.Resource, o.Namespace(), o.Name()}] = o
		}
	}
	var gone []key
	for k, have := range there {
		if wanted[k] == nil {
			gone = append(gone, k)
		} else if uid := text(have, "metadata", "annotations", AnnotationUID); uid != "" && uid == string(wanted[k].UID()) {
			a.mu.Lock()
			a.uids[uid] = text(have, "metadata", "uid")
			a.mu.Unlock()
		}
	}
	if err := a.inWaves(ctx, gone, func(k key) int { return -rank(k.resource) }, func(ctx context.Context, k key) error {
		err := a.remove(ctx, k, text(there[k], "metadata", "uid"))
		if err != nil && !fatal(ctx, err) {
			a.count(func(l *reportBuilder) { l.skip(k.resource.String(), whyNot(err), k.where()) })
			err = nil
		}
		return err
	}); err != nil {
		return err
	}
	order := orders(wanted)
	return a.inWaves(ctx, slices.Collect(maps.Keys(wanted)), func(k key) int { return order[k] }, func(ctx context.Context, k key) error {
		err := a.put(ctx, k, wanted[k], there[k])
		a.liveness.see(k, wanted[k])
		return err
	})
}

// inventory returns what the cluster has of this tape.
func (a *Applier) inventory(ctx context.Context) (map[key]object, error) {
	there := map[key]object{}
	for _, r := range a.player.Header().Resources {
		if w, err := a.mappingOf(ctx, r); err != nil {
			return nil, err
		} else if w.reason != "" {
			continue
		}
		if err := a.each(ctx, r, a.ours(), func(o object) error {
			o["kind"] = r.Kind // a list's items don't say it
			there[key{r, text(o, "metadata", "namespace"), text(o, "metadata", "name")}] = o
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return there, nil
}

// rank is when objects of a resource can be made, after those they need.
func rank(r timeline.Resource) int {
	switch {
	case r == namespaces:
		return 0
	case r == definitions:
		return 1
	case isNode(r):
		return 2
	case isPod(r):
		return 4
	case isEvent(r):
		return last
	}
	return 3
}

const last = 1000

// orders says in which wave each object of a state is made: after its owners,
// whose UIDs it names.
func orders(state map[key]*replay.Object) map[key]int {
	byUID := map[string]key{}
	for k, o := range state {
		if uid := string(o.UID()); uid != "" {
			byUID[uid] = k
		}
	}
	order := map[key]int{}
	var place func(k key, depth int) int
	place = func(k key, depth int) int {
		if n, ok := order[k]; ok {
			return n
		}
		n := rank(k.resource)
		for ref := range rawjson.Elements(rawjson.Get(state[k].Raw(), "metadata", "ownerReferences")) {
			if owner, ok := byUID[rawjson.Text(ref, "uid")]; ok && owner != k && depth < 16 {
				n = max(n, place(owner, depth+1)+1)
			}
		}
		if depth == 0 {
			order[k] = n
		}
		return n
	}
	for k := range state {
		place(k, 0)
	}
	return order
}

// inWaves does something to many objects, wave after wave; within one several
// at a time, or one after the other where a user reads along.
func (a *Applier) inWaves(ctx context.Context, keys []key, wave func(key) int, do func(context.Context, key) error) error {
	slices.SortFunc(keys, func(x, y key) int {
		return cmp.Or(cmp.Compare(wave(x), wave(y)), cmp.Compare(x.resource.String(), y.resource.String()),
			cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name))
	})
	for len(keys) > 0 {
		n := 0
		for n < len(keys) && wave(keys[n]) == wave(keys[0]) {
			n++
		}
		if err := a.together(ctx, keys[:n], do); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

func (a *Applier) together(ctx context.Context, keys []key, do func(context.Context, key) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := make(chan key)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(a.workers, len(keys)) {
		workers.Go(func() {
			for k := range jobs {
				if err := do(ctx, k); err != nil {
					mu.Lock()
					if failed == nil {
						failed = err // what follows is most likely of the cancelling
					}
					mu.Unlock()
					cancel()
				}
			}
		})
	}
feed:
	for _, k := range keys {
		select {
		case jobs <- k:
		case <-ctx.Done():
			break feed
		}
	}
	close(jobs)
	workers.Wait()
	if failed == nil {
		return ctx.Err()
	}
	return failed
}

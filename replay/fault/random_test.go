package fault_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// tapes is the number of random tapes a test takes: thirty times as many with
// NODESIM_SOAK.
func tapes(n uint64) uint64 {
	if os.Getenv("NODESIM_SOAK") != "" {
		return 30 * n
	}
	return n
}

// chance makes tapes and faults.
type chance struct{ *rand.Rand }

func (c chance) of(words ...string) string { return words[c.IntN(len(words))] }

// tape is a tape of nodes and pods on which anything happens that can.
func (c chance) tape() []timeline.Event {
	events := []timeline.Event{node(0, timeline.Added, "old-a", 10), synced(0, "nodes", 20), pod(0, timeline.Added, "web-1", "old-a", 12), synced(0, "pods", 21)}
	alive := map[string]map[string]bool{"nodes": {"old-a": true}, "pods": {"web-1": true}}
	gap := map[string]bool{}
	at, rv := 0.0, 100
	for range 10 + c.IntN(60) {
		if c.IntN(3) > 0 {
			at += float64(c.IntN(8000)) / 1000
		}
		rv += 1 + c.IntN(3)
		resource := c.of("nodes", "pods")
		if c.IntN(12) == 0 {
			ev := synced(at, resource, rv)
			if !gap[resource] && c.IntN(3) == 0 {
				ev.Type, ev.Reason = timeline.Gap, "410"
				ev.RV = ""
			}
			gap[resource] = ev.Type == timeline.Gap
			events = append(events, ev)
			continue
		}
		name := map[string]string{"nodes": c.of("old-a", "old-b", "new-c", "new-d"), "pods": c.of("web-1", "web-2", "web-3")}[resource]
		typ := timeline.Added
		if alive[resource][name] {
			typ = timeline.Type(c.of("MODIFIED", "MODIFIED", "DELETED"))
		}
		alive[resource][name] = typ != timeline.Deleted
		if resource == "nodes" {
			events = append(events, node(at, typ, name, rv, c.of("", "unready"), c.of("", "cordoned")))
		} else {
			events = append(events, pod(at, typ, name, "old-a", rv))
		}
	}
	for _, r := range []string{"nodes", "pods"} {
		if gap[r] {
			events = append(events, synced(at, r, rv+1))
			rv++
		}
	}
	return append(events, timeline.Event{At: events[len(events)-1].At, Type: timeline.End})
}

// faults asks for one to three faults of the given kinds.
func (c chance) faults(kinds ...string) (specs []string) {
	for range 1 + c.IntN(3) {
		specs = append(specs, c.fault(kinds))
	}
	return specs
}

func (c chance) fault(names []string) string {
	var kind fault.Kind
	name := c.of(names...)
	for _, k := range fault.Kinds() {
		if k.Name == name {
			kind = k
		}
	}
	s := kind.Name + c.of("", ":nodes", ":pods")
	maybe := func(param, value string) {
		if slices.Contains(kind.Params, param) && c.IntN(4) == 0 && !strings.Contains(s, param+"=") {
			s += "," + param + "=" + value
		}
	}
	span := func() string { return (time.Duration(1+c.IntN(30_000)) * time.Millisecond).String() }
	maybe("name", c.of("old-*", "web-1", "*"))
	maybe("type", c.of("ADDED", "MODIFIED", "DELETED", "MODIFIED+DELETED"))
	maybe("at", "T+"+span())
	maybe("for", span())
	maybe("event", fmt.Sprint(1+c.IntN(5)))
	maybe("p", fmt.Sprint(0.1+c.Float64()*0.9))
	maybe("count", fmt.Sprint(1+c.IntN(3)))
	maybe("when", c.of("node:*:cordoned", "node:old-a:notready", "node:*:online"))
	for _, p := range []string{"by", "within", "every"} {
		maybe(p, span())
	}
	if !strings.Contains(s, "type=") {
		maybe("lose", c.of("DELETED", "ADDED+MODIFIED"))
	}
	maybe("in", c.of("open", "stream"))
	return s
}

var (
	// tame are the kinds that don't change how it ends, in streams and requests.
	tame = []string{
		"delay", "duplicate", "coalesce", "reorder", "slow", "bookmarks", "close", "gone", "stall", "stale", "unobserved", "intermediate",
	}
	wild = append(slices.Clone(tame), "drop", "recreate")
)

package tapediff

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A Step is one change on a track.
type Step struct {
	At   time.Duration // position on its tape; not compared
	What string        // what changed, on one line
}

// facts hold what an actor holds about an object: name to value.
type facts map[string]string

// change says what has to be written over old to get now, in the order of the names; "" if nothing.
func change(old, now facts) string {
	var parts []string
	names := slices.Sorted(maps.Keys(now))
	for _, name := range names {
		if was, ok := old[name]; !ok || was != now[name] {
			if now[name] == "" {
				parts = append(parts, name)
			} else {
				parts = append(parts, name+"="+now[name])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, ok := now[name]; !ok {
			parts = append(parts, "no "+name)
		}
	}
	return strings.Join(parts, ", ")
}

// words are the steps without their times.
func words(steps []Step) []string {
	var all []string
	for _, s := range steps {
		all = append(all, s.What)
	}
	return all
}

package tapediff

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// The chapters of a pod. Other objects have one, without a name.
const (
	start = "start"
	run   = "run"
	end   = "end"
)

// A history is all that happened to one object, track by track, by chapter.
type history struct {
	kind, namespace, name, uid string

	there   bool          // from the beginning of the tape
	created time.Time     // metadata.creationTimestamp
	at      time.Duration // first seen
	last    time.Duration // last step

	chapter  string
	chapters map[string]map[string][]Step // chapter, track
	now      map[string]facts             // by track, as last written

	written []string // tracks that the present write has changed

	gone   bool        // deleted
	pod    *podHistory // of a pod
	budget string      // the state of a budget
}

func newHistory(kind, namespace, name, uid string, at time.Duration) *history {
	return &history{
		kind: kind, namespace: namespace, name: name, uid: uid, at: at, last: at,
		chapters: map[string]map[string][]Step{}, now: map[string]facts{},
	}
}

// path is namespace and name, as far as there is one.
func (h *history) path() string {
	if h.namespace == "" {
		return h.name
	}
	return h.namespace + "/" + h.name
}

// write notes the state in which an actor left the object.
func (h *history) write(track string, at time.Duration, now facts) {
	what := change(h.now[track], now)
	h.now[track] = now
	if what != "" {
		h.step(h.chapter, track, at, what)
		h.written = append(h.written, track)
	}
}

// together ends a write. Tracks of two actors never change in one write, and those of one actor may: which do is a
// track of its own.
func (h *history) together(at time.Duration) {
	first := h.there && at == h.at // a state, of many writes
	if len(h.written) > 1 && !first {
		slices.Sort(h.written)
		h.say(h.chapter, "in one write", at, strings.Join(slices.Compact(h.written), " and "))
	}
	h.written = nil
}

// say notes a step that is not a state, and merges repeats.
func (h *history) say(chapter, track string, at time.Duration, what string) {
	steps := h.chapters[chapter][track]
	if len(steps) == 0 || steps[len(steps)-1].What != what {
		h.step(chapter, track, at, what)
	}
}

func (h *history) step(chapter, track string, at time.Duration, what string) {
	if h.chapters[chapter] == nil {
		h.chapters[chapter] = map[string][]Step{}
	}
	h.chapters[chapter][track] = append(h.chapters[chapter][track], Step{At: at, What: what})
	h.last = max(h.last, at)
}

// key is equal for equal chapters.
func (h *history) key(chapter string) string {
	var b strings.Builder
	tracks := h.chapters[chapter]
	for _, track := range slices.Sorted(maps.Keys(tracks)) {
		b.WriteString(track + "\n")
		for _, s := range tracks[track] {
			b.WriteString("\t" + s.What + "\n")
		}
	}
	return b.String()
}

// steps counts those of a chapter.
func (h *history) steps(chapter string) int {
	n := 0
	for _, steps := range h.chapters[chapter] {
		n += len(steps)
	}
	return n
}

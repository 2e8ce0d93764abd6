package tapediff

import (
	"slices"
	"strings"
	"time"
)

// A verdict is the result of comparing two tracks.
type verdict int

const (
	alike   verdict = iota
	cut             // one breaks off where its tape ends
	differs         // they differ
)

// judge compares one track of two objects; ends are those of their tapes. Where one breaks off, what it lacks must be
// the last that happened to the other object, but for the skew of two resources.
func judge(a, b *history, chapter, track string, ends [2]time.Duration, o Options) verdict {
	x, y := a.chapters[chapter][track], b.chapters[chapter][track]
	switch {
	case slices.Equal(words(x), words(y)):
		return alike
	case prefix(x, y) && a.breaksOff(chapter, track, ends[0]-o.Tail) && y[len(x)].At >= shared(b, a, chapter)-o.Skew:
		return cut
	case prefix(y, x) && b.breaksOff(chapter, track, ends[1]-o.Tail) && x[len(y)].At >= shared(a, b, chapter)-o.Skew:
		return cut
	}
	return differs
}

// breaksOff reports whether a track may lack its last steps: the tape ends too soon after what it shows last, or the
// pod's end has cut off its start. What is deleted changes no more; only controllers still speak of it.
func (h *history) breaksOff(chapter, track string, from time.Duration) bool {
	if h.gone && !strings.HasPrefix(track, "events ") {
		return h.cutShort(chapter)
	}
	return h.last >= from || h.cutShort(chapter)
}

// shared is where the last step of h stands that other has, too.
func shared(h, other *history, chapter string) time.Duration {
	var last time.Duration
	for track, steps := range h.chapters[chapter] {
		for i, s := range steps {
			if their := other.chapters[chapter][track]; i < len(their) && their[i].What == s.What {
				last = max(last, s.At)
			}
		}
	}
	return last
}

// cutShort reports whether an early end of the pod has cut off its start.
func (h *history) cutShort(chapter string) bool {
	return chapter == start && h.pod != nil && h.pod.ended && !h.pod.began
}

func prefix(short, long []Step) bool {
	return len(short) < len(long) && slices.Equal(words(short), words(long[:len(short)]))
}

// nearest is the index of the one that differs least, the first of several.
func nearest(h *history, list []*history, chapter string) int {
	best, least := 0, -1
	for i, other := range list {
		n := 0
		for track := range union(h.chapters[chapter], other.chapters[chapter]) {
			for _, row := range align(h.chapters[chapter][track], other.chapters[chapter][track]) {
				if row.mark != same {
					n++
				}
			}
		}
		if least < 0 || n < least {
			best, least = i, n
		}
	}
	return best
}

// union is the set of the tracks of two chapters.
func union(a, b map[string][]Step) map[string]bool {
	all := map[string]bool{}
	for track := range a {
		all[track] = true
	}
	for track := range b {
		all[track] = true
	}
	return all
}

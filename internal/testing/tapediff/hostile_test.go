package tapediff_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// damage puts something else in the place of one member, somewhere inside of an object.
func damage(random *rand.Rand, o map[string]any) {
	names := slices.Sorted(maps.Keys(o))
	name := names[random.IntN(len(names))]
	switch inner := o[name].(type) {
	case map[string]any:
		if len(inner) > 0 && random.IntN(4) > 0 {
			damage(random, inner)
			return
		}
	case []any:
		if len(inner) > 0 && random.IntN(4) > 0 {
			if item, ok := inner[random.IntN(len(inner))].(map[string]any); ok && len(item) > 0 {
				damage(random, item)
				return
			}
		}
	}
	if list, ok := o[name].([]any); ok && random.IntN(2) == 0 {
		o[name] = list[:len(list)/2]
		return
	}
	if _, ok := o[name].(string); ok && random.IntN(2) == 0 {
		o[name] = "odd\n\x1b[31m"
		return
	}
	others := []any{nil, "", "odd\n\x1b[31m", 7.0, -1.5, true, []any{}, []any{nil}, map[string]any{}, "2026-11-21T00:00:00Z"}
	o[name] = others[random.IntN(len(others))]
}

// A tape with anything else inside of one of its objects is compared, or refused in one line; nothing panics.
func TestDamagedObjectsAreReadOrRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	equal, different, refused := 0, 0, 0
	for range 50 {
		left := 1 + random.IntN(48)
		pick := func(ev timeline.Event) []timeline.Event {
			if !ev.Type.Object() || ev.At == 0 {
				return []timeline.Event{ev}
			}
			if left--; left != 0 {
				return []timeline.Event{ev}
			}
			return changed(t, ev.Resource, func(_ timeline.Event, o object) {
				same := maps.Clone(o.at("metadata"))
				if o.at("status")["conditions"] != nil {
					damage(random, o.at("status")) // which is most of what is compared
				} else {
					damage(random, o)
				}
				meta := o.at("metadata")
				for _, name := range []string{"name", "namespace", "uid", "resourceVersion"} {
					if delete(meta, name); same[name] != nil {
						meta[name] = same[name]
					}
				}
			})(ev)
		}
		report, err := tapediff.Compare(tape(t, "spot-vanish"), edited(t, "spot-vanish", pick), tapediff.Options{InOrder: true})
		switch {
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("found an error of several lines: %q", err)
		case err != nil:
			refused++
		case report.Equal():
			equal++
		default:
			different++
			if text := report.String(); strings.Contains(text, "\x1b") {
				t.Errorf("found text that a terminal obeys: %q", text)
			}
		}
	}
	if equal < 3 || different < 3 || refused < 3 {
		t.Errorf("%d equal, %d different, %d refused: the trial says little", equal, different, refused)
	}
}

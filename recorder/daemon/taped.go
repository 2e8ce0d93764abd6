package daemon

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
)

// A tapedRoll is a roll, or a part of one, that has its tape. The history says so, since a daemon that begins again decides anew which
// rolls it holds.
type tapedRoll struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	Part  int    `json:"part"`
	// Began and Last are when the part began, and when something of it was seen last.
	Began time.Time `json:"began"`
	Last  time.Time `json:"last"`

	at time.Time // of the MARK's line
}

func tapedRollOf(r *trigger.Roll, cluster string, at time.Time) tapedRoll {
	return tapedRoll{ID: r.ID(cluster), Group: r.Group, Part: r.Part, Began: r.Began, Last: r.Last, at: at}
}

func (t *tapedRoll) reason() string {
	text, _ := json.Marshal(t) // of strings, a number and times of this century
	return string(text)
}

// parseTaped reads the reason of a MARK at a time. Earlier versions wrote the ID alone.
func parseTaped(reason string, at time.Time) (t tapedRoll) {
	if json.Unmarshal([]byte(reason), &t) != nil {
		t = tapedRoll{ID: reason}
	}
	t.at = at
	return t
}

// hasTape reports whether a roll has its tape already. The pieces with its beginning may be gone by then: the rest looks like a roll of
// the same group that began later, with another trigger. What began after the MARK is none of it, whatever the clock was set to meanwhile.
func hasTape(taped []tapedRoll, r *trigger.Roll, cluster string) bool {
	id := r.ID(cluster)
	return slices.ContainsFunc(taped, func(t tapedRoll) bool {
		return t.ID == id || t.Group == r.Group && r.Part <= t.Part && r.Began.After(t.Began) && !r.Began.After(t.Last) && !r.Began.After(t.at)
	})
}

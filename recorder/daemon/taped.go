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
}

func tapedRollOf(r *trigger.Roll, cluster string) tapedRoll {
	return tapedRoll{ID: r.ID(cluster), Group: r.Group, Part: r.Part, Began: r.Began, Last: r.Last}
}

func (t *tapedRoll) reason() string {
	text, _ := json.Marshal(t) // of strings, a number and times of this century
	return string(text)
}

// parseTaped reads the reason of a MARK. One that can't be read is of no roll.
func parseTaped(reason string) (t tapedRoll) {
	if json.Unmarshal([]byte(reason), &t) != nil {
		return tapedRoll{}
	}
	return t
}

// hasTape reports whether a roll has its tape already. The pieces with its beginning may be gone by then: the rest looks like a roll of
// the same group that began later, with another trigger.
func hasTape(taped []tapedRoll, r *trigger.Roll, cluster string) bool {
	id := r.ID(cluster)
	return slices.ContainsFunc(taped, func(t tapedRoll) bool {
		return t.ID == id || t.Group == r.Group && r.Part <= t.Part && r.Began.After(t.Began) && !r.Began.After(t.Last)
	})
}

package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
)

// A Phase is the current activity of a live run.
type Phase string

// The phases, in their order.
const (
	Preparing Phase = "preparing" // rights, foreign nodes, the record, namespaces and workloads
	Settling  Phase = "settling"  // nodes join and pods start, up to the scenario's 0s
	Playing   Phase = "playing"   // from 0s on
	Leaving   Phase = "leaving"   // what was made is removed
)

// Progress describes how far a live run is.
type Progress struct {
	Phase Phase
	// At is the moment of the scenario: before Playing that at which it begins, 0, or resumes.
	At time.Duration
	// Waiting lists what is still missing, one phrase each; empty where nothing is.
	Waiting []string
	// Adopted says that the live run resumes an earlier one.
	Adopted bool
}

// Report sums a live run up.
type Report struct {
	// Position is the moment of the scenario at which it ended.
	Position time.Duration
	// Adopted says that it resumed an earlier one, Ended that the scenario came to its end.
	Adopted, Ended bool
	// Others says that other processes run shards of it: nothing was removed, and one that waits takes this process's nodes over.
	// Standby says that the live run has ended without this process.
	Others, Standby bool
	// Outcomes say how each roll ended, in that order: empty for one that is
	// complete, else its error.
	Outcomes []string
	// Written counts the writes of the scenario's actors that the server has taken,
	// those of kubelets aside, Retries those that had to be sent again, Refused
	// those that the server didn't take.
	Written, Retries, Refused int
	// Evictions counts those that were granted, Denied those
	// that a budget didn't allow.
	Evictions, Denied int
	// Lost is the wall time for which the scenario was paused: a suspended machine, an API server that didn't answer.
	Lost time.Duration
	// Slowest is the wall time that the slowest write since 0s took, kubelets' included, from its request to its answer. A run at 15 times
	// the speed shows each second of it as 15.
	Slowest time.Duration
	// Removed counts the objects that were deleted in the end, Kinds those of each
	// resource, such as nodes or volumeattachments.storage.k8s.io; Left names what is
	// still there.
	Removed int
	Kinds   map[string]int
	Left    []string
}

// String is the report for people, a line a fact.
func (r Report) String() string {
	var b strings.Builder
	if r.Written+r.Refused > 0 {
		fmt.Fprintf(&b, "%s", phrase.Count(r.Written, "write"))
		if r.Retries > 0 {
			fmt.Fprintf(&b, ", %s", phrase.Count(r.Retries, "repeat"))
		}
		if r.Refused > 0 {
			fmt.Fprintf(&b, ", %d refused", r.Refused)
		}
		if r.Evictions+r.Denied > 0 {
			fmt.Fprintf(&b, "; %s, %d denied by budgets", phrase.Count(r.Evictions, "eviction"), r.Denied)
		}
		b.WriteByte('\n')
	}
	if r.Lost >= time.Second {
		fmt.Fprintf(&b, "the scenario was paused for %s\n", r.Lost.Round(time.Second))
	}
	if r.Others {
		b.WriteString("other processes run this scenario: what this one made stays, and the last of them removes it\n")
	}
	if r.Standby {
		b.WriteString("the live run has ended; this process had none of its nodes\n")
	}
	for _, o := range r.Outcomes {
		if o == "" {
			o = "complete"
		}
		fmt.Fprintf(&b, "roll: %s\n", phrase.Escaped(o))
	}
	if r.Removed > 0 {
		fmt.Fprintf(&b, "%s removed", phrase.Count(r.Removed, "object"))
		for i, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
			fmt.Fprintf(&b, "%s %d %s", [2]string{":", ","}[min(i, 1)], r.Kinds[kind], kind)
		}
		b.WriteByte('\n')
	}
	for _, l := range r.Left {
		fmt.Fprintf(&b, "still there: %s\n", phrase.Escaped(l))
	}
	return b.String()
}

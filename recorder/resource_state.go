package recorder

import (
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// resourceState is the state of one resource: which objects are alive, how far it was read and
// what of it is on the tape.
type resourceState struct {
	key    string // the word on the tape
	res    timeline.Resource
	alive  map[string]*object // by UID
	names  map[string]*object // by namespace/name; nil where a name can't come back unseen
	spaces map[string]string  // the namespaces seen, each once

	read           string        // highest version taken in, held back ones included
	settled        string        // highest version decided: on the tape, or left out
	written        string        // highest version on the tape, SYNC included
	synced         time.Duration // position of the last SYNC
	listed         bool          // the initial list is complete
	gap            bool          // a GAP without its SYNC
	why            string        // of that GAP
	waiting        []arrival     // what waits for a decision, in its order; see scope
	pendingEntries []*object     // what came into scope without an event of its own

	stats ResourceStats
}

// arrival is something that came and is not decided yet: an object's event,
// or, where obj is nil, a bookmark.
type arrival struct {
	typ     timeline.Type
	version string
	raw     []byte
	id      identity
	until   time.Duration // when the waiting ends
}

// ResourceStats counts what was done with one resource's events.
type ResourceStats struct {
	Resource string // the word on the tape
	Objects  int    // alive and on the tape
	Events   int    // lines of objects on the tape
	Gaps     int
	// Repeats were dropped because their version had been seen: what a server
	// sends again after a new connection.
	Repeats int
	// OutOfScope were left out because of the scope.
	OutOfScope int
	// TooLarge are states of objects that no tape can have, each with a MARK too-large on the tape.
	TooLarge int
	// Unknown are deletions of objects that the tape doesn't know.
	Unknown int
	// Last is the position of the last event that arrived, on the tape or not.
	Last time.Duration
	// Connected reports whether the watch is open; Failure, why it is not.
	Connected bool
	Failure   string
	// Retries counts the watches opened again.
	Retries int
}

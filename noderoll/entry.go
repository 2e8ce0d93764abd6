package noderoll

import "time"

// Entry is one line of a Feed.
type Entry struct {
	// At is the time since the start of the recording, or of the live watch.
	At   time.Duration
	Kind EventKind
	// Node is the node's name; empty for gap, mark, complete and failed. Of a roll of
	// pods it is the node that the pod of the entry is on, and empty where it is on
	// none yet.
	Node string
	// Object holds what the entry is about besides the node: "Kind/namespace/name"
	// ("Kind/name" where there is no namespace), or the plural of the resource
	// for a gap.
	Object string
	// Reason is a short word for programs, Message a sentence for people. Both
	// are as found in the cluster, and so not to be trusted; the text and JSON
	// forms neutralise them.
	Reason  string
	Message string
}

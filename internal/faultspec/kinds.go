package faultspec

import (
	"slices"
	"time"
)

// Hits says what a kind of fault is in the way of.
type Hits string

// What faults hit.
const (
	Event   Hits = "event"   // what watches deliver of an event of the tape
	Stream  Hits = "stream"  // open watches
	Request Hits = "request" // what clients ask for
)

// Kind is one kind of fault.
type Kind struct {
	Name string
	Hits Hits
	// Does says what it does, as half a sentence.
	Does string
	// Params are the parameters that it takes, by name.
	Params []string
	// Default holds the parameters that aren't given.
	Default Spec
}

var (
	trigger = []string{"at", "for", "event", "p", "seed", "when", "count"}
	events  = append([]string{"namespace", "name", "selector", "type"}, trigger...)
	asked   = append([]string{"namespace", "name", "verb"}, trigger...)
)

func plus(some []string, more ...string) []string { return append(slices.Clone(some), more...) }

const write, read = "write", "read"

var kinds = []Kind{
	{"drop", Event, "the event never comes", events, Spec{}},
	{"delay", Event, "it comes later, and with it what follows it in the stream", plus(events, "by"), Spec{By: 5 * time.Second}},
	{"duplicate", Event, "it comes more than once", plus(events, "times"), Spec{Times: 2}},
	{"coalesce", Event, "the stream waits, and then gives of each object the last state alone", plus(events, "within"), Spec{Within: 5 * time.Second}},
	{"reorder", Event, "it comes after the next event of another resource", plus(events, "by"), Spec{By: 30 * time.Second}},
	{"slow", Event, "events come one at a time, with a pause between them", plus(events, "every"), Spec{Every: time.Second}},
	{"bookmarks", Event, "bookmarks don't come", plus(trigger, "initial"), Spec{}},
	{"recreate", Event, "in the event's place the object is deleted and made again, under another UID from then on", events, Spec{}},
	{"close", Stream, "open watches end before the event", plus(events, "lose"), Spec{}},
	{"gone", Stream, "open watches end before the event with 410 Expired", plus(events, "in"), Spec{In: "stream"}},
	{"stall", Stream, "open watches deliver nothing more, until the time is over or the client watches anew", events, Spec{}},
	{"stale", Stream, "open watches end with 410; the next list has an older state, and the watch repeats the past", plus(events, "by"), Spec{By: 30 * time.Second}},
	{"unobserved", Stream, "open watches are silent while an object passes through a state, then end with 410", events, Spec{}},
	{"intermediate", Stream, "streams stop in the middle of a change of several objects, and the second of several writes fails", plus(events, "within"), Spec{For: 10 * time.Second, Within: time.Second}},
	{"stale-list", Request, "lists and gets are answered with an older state", plus(asked, "by"), Spec{By: 30 * time.Second, Verbs: "get+list+watch"}},
	{"409", Request, "refused with 409 Conflict, a create with AlreadyExists", asked, Spec{Verbs: write}},
	{"429", Request, "refused with 429 Too Many Requests", plus(asked, "retry-after"), Spec{RetryAfter: time.Second}},
	{"500", Request, "refused with 500 Internal Server Error", asked, Spec{}},
	{"timeout", Request, "refused with 504 Timeout", asked, Spec{}},
}

// Kinds returns the kinds of fault, in the order in which documents show them.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindOf finds a kind by its name.
func KindOf(name string) (Kind, bool) {
	for _, k := range kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

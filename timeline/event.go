package timeline

import (
	"encoding/json"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Type is the type of an event.
type Type string

// The known types. Others survive a round trip and mean nothing to a replay.
const (
	// Added, Modified and Deleted are the events that a watch delivered, and, between a
	// GAP and the next SYNC, what listing again has found.
	Added    Type = "ADDED"
	Modified Type = "MODIFIED"
	Deleted  Type = "DELETED"
	// Sync says that everything of the resource up to RV is above.
	Sync Type = "SYNC"
	// Gap says that events of the resource may be missing here; Reason tells why.
	Gap Type = "GAP"
	// Mark is a named moment; Name is its name. It belongs to no resource.
	Mark Type = "MARK"
	// Refused says that a client asked for the eviction of a pod and that the
	// server refused; Reason is its answer, and ExtraText has "budget" and "by".
	// It changes no object: only a tape made of an audit log has any.
	Refused Type = "REFUSED"
	// End says that the recorder stopped cleanly; Events counts the
	// lines after the header, this one included.
	End Type = "END"
)

// Object reports whether events of this type carry an object.
func (t Type) Object() bool { return t == Added || t == Modified || t == Deleted }

// Event is one event of a tape, with the whole object: how a line says it
// (in full or as a patch) is the Writer's and the Reader's business.
//
// An Event may be copied; the bytes it points to are never written again, so
// they may be kept and shared between goroutines.
type Event struct {
	// At is the position on the tape. It never decreases from event to event.
	At   time.Duration
	Type Type
	// Resource is the word by which the tape names the resource; see
	// [Header.Lookup]. Empty for MARK and END.
	Resource  string
	Namespace string
	// Name of the object, or of a MARK.
	Name string
	// UID of the object. Readers fill it in on every event of an object.
	UID string
	// RV is the resourceVersion of the event: the object's own, or that of a
	// SYNC or GAP. A deletion found by listing again has none.
	RV string
	// Object is the whole object as compact JSON, apiVersion, kind, name,
	// namespace, uid and resourceVersion included. A DELETED event carries
	// the last state. Nil for the other types, and for all from a Reader
	// with [Lines].
	Object json.RawMessage
	// Patch holds what was on the line where that was a patch (RFC 7386, from
	// the object's previous event): it tells a reader in a hurry what changed.
	// Writers ignore it and work out their own, but for types that they don't know.
	Patch json.RawMessage
	// Reason says why there is a GAP, is the answer of a REFUSED, and may explain a MARK or END.
	Reason string
	// Events is END's count of the lines after the header, its own included.
	Events int
	// Extra holds the members that this version doesn't know, in their order.
	Extra []Member
}

// Member is one member of a JSON object, kept as it stood.
type Member struct {
	Name  string
	Value json.RawMessage
}

// ExtraText returns a text among the members of Extra, "" where there is none
// of that name.
func (e *Event) ExtraText(name string) string {
	for _, m := range e.Extra {
		if m.Name == name {
			s, _ := rawjson.Unquote(m.Value)
			return s
		}
	}
	return ""
}

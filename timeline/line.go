package timeline

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/rawjson"
)

// Limits of a tape. A line past them is refused on both sides: a reader's
// memory must not be at the mercy of the tape's author.
const (
	MaxLine   = 4 << 20 // bytes of one event on a line
	MaxBlock  = 1 << 20 // bytes of one event as a block of YAML, and of the header: its tree takes a hundred times that
	MaxNested = rawjson.MaxDepth

	// MaxMembers bounds how long a list or mapping of the header may be: each event
	// may have to be looked up in it.
	MaxMembers = 1000
	// MaxPatched is the number of bytes an object may have that more than a hundred
	// patches in a row have made. A line of eighty bytes hands out the whole object,
	// so that a small tape could otherwise make any amount of work: with this bound
	// at most two hundred times its own bytes, where keyframes allow a hundred.
	MaxPatched = 16 << 10
)

// CheckPatched refuses an object of so many bytes after so many patches in a
// row; its resource and name are in who. Readers of whole objects ask it
// themselves: it is for those that read with [Lines] and apply the patches.
func CheckPatched(who string, patches, bytes int) error {
	if fail := patched(who, patches, bytes); fail != nil {
		return fail
	}
	return nil
}

func patched(who string, patches, bytes int) *Error {
	switch {
	case bytes > MaxLine:
		return fault("at most 4 MiB", "%s grown past that by patches", who)
	case bytes > MaxPatched && patches >= keyframeEvery:
		f := fault("the whole object at least at every hundredth event", "%s of %d KiB after %d patches in a row", who, bytes>>10, patches)
		f.Remedy = "write it whole: only objects of up to 16 KiB can do without"
		return f
	}
	return nil
}

// lineStart is before every event: the mark of a new YAML document.
const lineStart = "--- "

// line is an event as it is on the tape.
type line struct {
	Event // Object and Patch as on the line

	hasObject, hasPatch bool

	object, patch []rawjson.Part // what is in Object and Patch; good until the next line
	types         bool           // of Object, see identity; known to Reader.body
}

// appendLine writes an event with the given body or patch; either may be nil.
func appendLine(dst []byte, ev *Event, uid string, object, patch []byte) []byte {
	dst = append(dst, lineStart...)
	dst = append(dst, `{"at":"`...)
	dst = appendAt(dst, ev.At)
	dst = append(dst, `","type":`...)
	dst = rawjson.AppendString(dst, string(ev.Type))
	text := func(name, value string) {
		if value != "" {
			dst = append(append(append(dst, `,"`...), name...), `":`...)
			dst = rawjson.AppendString(dst, value)
		}
	}
	text("resource", ev.Resource)
	text("namespace", ev.Namespace)
	text("name", ev.Name)
	text("uid", uid)
	text("rv", ev.RV)
	text("reason", ev.Reason)
	if ev.Events != 0 {
		dst = strconv.AppendInt(append(dst, `,"events":`...), int64(ev.Events), 10)
	}
	for _, m := range ev.Extra {
		dst = append(rawjson.AppendString(append(dst, ','), m.Name), ':')
		dst = append(dst, m.Value...)
	}
	if object != nil {
		dst = append(append(dst, `,"object":`...), object...)
	}
	if patch != nil {
		dst = append(append(dst, `,"patch":`...), patch...)
	}
	return append(dst, "}\n"...)
}

// parseLine reads the JSON object of one event, of which r.outline is the outline.
// raw must be canonical; the result's Object and Patch are parts of it.
func (r *Reader) parseLine(raw []byte) (l line, err *Error) {
	if !rawjson.IsObject(raw) {
		return l, fault("a JSON object", "event %.40q", raw)
	}
	seen := member(0)
	for i := range r.outline.Parts {
		p := &r.outline.Parts[i]
		if p.Depth > 1 {
			continue
		}
		m := memberOf(p.Name)
		if m == 0 {
			l.Extra = append(l.Extra, Member{Name: unquoteName(p.Name), Value: p.Value})
			continue
		}
		if seen&m != 0 {
			return l, fault("it once", "member %q twice", p.Name)
		}
		seen |= m
		switch m {
		case mObject:
			l.object = r.outline.Inside(i)
		case mPatch:
			l.patch = r.outline.Inside(i)
		}
		if err := r.member(&l, m, p.Name, p.Value); err != nil {
			return l, err
		}
	}
	return l, l.check(seen)
}

// keep gives what is handed out of a line memory of its own: the line's is used again. Objects are put together anew.
func (l *line) keep() {
	l.Patch = bytes.Clone(l.Patch)
	if !l.Type.Object() {
		l.Object = bytes.Clone(l.Object)
	}
	for i := range l.Extra {
		l.Extra[i].Value = bytes.Clone(l.Extra[i].Value)
	}
}

// member is one of the known members of an event, as a bit.
type member uint16

const (
	mAt member = 1 << iota
	mType
	mResource
	mNamespace
	mName
	mUID
	mRV
	mObject
	mPatch
	mReason
	mEvents
)

// memberOf returns the bit of a member, or 0.
func memberOf[T string | []byte](name T) member {
	switch string(name) {
	case "at":
		return mAt
	case "type":
		return mType
	case "resource":
		return mResource
	case "namespace":
		return mNamespace
	case "name":
		return mName
	case "uid":
		return mUID
	case "rv":
		return mRV
	case "object":
		return mObject
	case "patch":
		return mPatch
	case "reason":
		return mReason
	case "events":
		return mEvents
	}
	return 0
}

func (r *Reader) member(l *line, m member, name, value []byte) *Error {
	switch m {
	case mObject, mPatch:
		if !rawjson.IsObject(value) {
			return fault("an object", "%s %.40q", name, value)
		}
		if m == mObject {
			l.Object, l.hasObject = value, true
		} else {
			l.Patch, l.hasPatch = value, true
		}
		return nil
	case mEvents:
		n, err := strconv.Atoi(string(value))
		if err != nil || n < 1 {
			return fault("the number of lines after the header", "events %.40q", value)
		}
		l.Events = n
		return nil
	}
	var s string
	var ok bool
	if m&(mAt|mRV|mUID|mReason) != 0 { // these differ from line to line
		s, ok = rawjson.Unquote(value)
	} else {
		s, ok = r.words.Text(value)
	}
	if !ok && m == mRV && decimal(string(value)) { // as one writes it by hand
		s, ok = string(value), true
	}
	if !ok {
		return fault("a string", "%s %.40q", name, value)
	}
	switch m {
	case mAt:
		at, err := ParseAt(s)
		if err != nil {
			return fault(`decimal seconds such as "12.5s"`, "at %.40q", s)
		}
		l.At = at
	case mType:
		l.Type = Type(s)
	case mResource:
		l.Resource = s
	case mNamespace:
		l.Namespace = s
	case mName:
		l.Name = s
	case mUID:
		l.UID = s
	case mRV:
		l.RV = s
	case mReason:
		l.Reason = s
	}
	return nil
}

const wantedTypes = "ADDED, MODIFIED, DELETED, SYNC, GAP, MARK, REFUSED or END"

// check says what an event of its type lacks or has too much.
func (l *line) check(seen member) *Error {
	if seen&mAt == 0 {
		return fault(`"at"`, "an event without %q", "at")
	}
	if seen&mType == 0 || l.Type == "" {
		return fault(`"type"`, "an event without %q", "type")
	}
	need := func(members ...member) *Error {
		for _, m := range members {
			if name := l.empty(m, seen); name != "" {
				return fault(strconv.Quote(name), "%s without %q", l.Type, name)
			}
		}
		return nil
	}
	switch l.Type {
	default:
		if known := misspelt(l.Type); known != "" {
			return fault(wantedTypes, "type %.80q", l.Type)
		}
	case Added, Modified, Deleted:
		if err := need(mResource, mName); err != nil {
			return err
		}
		if l.hasObject && l.hasPatch {
			return fault("one of them", "%s with both object and patch", l.Type)
		}
		if l.Type == Added && !l.hasObject {
			return fault(`"object"`, "ADDED without object")
		}
		if l.Type == Modified && !l.hasObject && !l.hasPatch {
			return fault(`"patch" or "object"`, "MODIFIED without either")
		}
		if l.Type != Deleted {
			return need(mRV)
		}
	case Sync:
		return need(mResource, mRV)
	case Gap:
		return need(mResource)
	case Mark:
		return need(mName)
	case Refused:
		return need(mResource, mName)
	case End:
		return need(mEvents)
	}
	return nil
}

// empty returns the name of a member that isn't there or says nothing, else "".
func (l *line) empty(m, seen member) string {
	switch {
	case m == mResource && l.Resource == "":
		return "resource"
	case m == mName && l.Name == "":
		return "name"
	case m == mRV && l.RV == "":
		return "rv"
	case m == mEvents && seen&mEvents == 0:
		return "events"
	}
	return ""
}

// misspelt returns the known type that an unknown one was meant to be, or "".
// Types that a later version may bring look like none of the known.
func misspelt(t Type) Type {
	for _, known := range []Type{Added, Modified, Deleted, Sync, Gap, Mark, Refused, End} {
		if strings.EqualFold(string(t), string(known)) {
			return known
		}
		if len(known) > 4 && phrase.Distance(strings.ToUpper(string(t)), string(known)) <= 2 {
			return known
		}
	}
	return ""
}

func unquoteName(name []byte) string {
	s, _ := rawjson.Unquote(append(append([]byte{'"'}, name...), '"'))
	return s
}

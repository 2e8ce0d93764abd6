package kube

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// writer writes JSON objects. An object that was begun appears only with its
// first member, so that the same code writes a whole object, as what differs
// from nothing, and a merge patch (RFC 7386), as what differs from before.
type writer struct {
	b []byte
	// path are the objects that were begun, the first open of them written.
	path  []string
	open  int
	empty bool // the innermost open object is still empty
	over  bool // see podOver

	seconds [64]second
}

// second is a moment and its text: most times of a moment are alike.
type second struct {
	at   int64
	text [20]byte
}

// reset starts a new object.
func (w *writer) reset() {
	w.b, w.path, w.open, w.empty = append(w.b[:0], '{'), w.path[:0], 0, true
}

// done ends it. An empty one is a patch that changes nothing.
func (w *writer) done() []byte {
	w.b = append(w.b, '}')
	return w.b
}

func (w *writer) nothing() bool { return len(w.b) == len(`{`) }

func (w *writer) begin(name string) { w.path = append(w.path, name) }

func (w *writer) end() {
	if w.open == len(w.path) {
		w.b = append(w.b, '}')
		w.open--
		w.empty = false
	}
	w.path = w.path[:len(w.path)-1]
}

// name starts a member, and the objects around it. Its name, and theirs, need no escape.
func (w *writer) name(name string) {
	w.start()
	w.key(name)
}

// nameAny is name of whatever a user has written.
func (w *writer) nameAny(name string) {
	w.start()
	w.comma()
	w.b = rawjson.AppendString(w.b, name)
	w.b = append(w.b, ':')
}

func (w *writer) start() {
	for ; w.open < len(w.path); w.open++ {
		w.key(w.path[w.open])
		w.b = append(w.b, '{')
		w.empty = true
	}
}

func (w *writer) comma() {
	if !w.empty {
		w.b = append(w.b, ',')
	}
	w.empty = false
}

func (w *writer) key(plain string) {
	w.comma()
	w.b = append(append(append(w.b, '"'), plain...), `":`...)
}

// text writes a string that differs; one that has become empty is gone.
func (w *writer) text(name, old, now string) {
	if old == now {
		return
	}
	w.name(name)
	if now == "" {
		w.b = append(w.b, "null"...)
		return
	}
	w.b = rawjson.AppendString(w.b, now)
}

func (w *writer) number(name string, old, now int64) {
	if old == now {
		return
	}
	w.name(name)
	if now == 0 {
		w.b = append(w.b, "null"...)
		return
	}
	w.b = strconv.AppendInt(w.b, now, 10)
}

// always writes a number even where it is 0.
func (w *writer) always(name string, whole bool, old, now int64) {
	if whole || old != now {
		w.name(name)
		w.b = strconv.AppendInt(w.b, now, 10)
	}
}

func (w *writer) time(name string, old, now Instant) {
	if old == now {
		return
	}
	w.name(name)
	w.stamp(now)
}

// stamp writes a metav1.Time, or null.
func (w *writer) stamp(t Instant) {
	if t == 0 {
		w.b = append(w.b, "null"...)
		return
	}
	sec := int64(t) / int64(time.Second)
	c := &w.seconds[sec&63]
	if c.at != sec {
		c.at = sec
		time.Unix(sec, 0).UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05Z")
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, c.text[:]...)
	w.b = append(w.b, '"')
}

// micro writes a metav1.MicroTime, or null.
func (w *writer) micro(t Instant) {
	if t == 0 {
		w.b = append(w.b, "null"...)
		return
	}
	w.b = append(w.b, '"')
	w.b = t.Time().AppendFormat(w.b, "2006-01-02T15:04:05.000000Z")
	w.b = append(w.b, '"')
}

func (w *writer) flag(name string, old, now bool) {
	if old == now {
		return
	}
	w.name(name)
	if now {
		w.b = append(w.b, "true"...)
	} else {
		w.b = append(w.b, "null"...)
	}
}

// Identical reports whether two states of a list are one list. Most writes leave most lists where they are, which that shows at
// once: no list is changed in place.
func Identical[L ~[]T, T any](a, b L) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// alike compares two states of a list.
func alike[T comparable](a, b []T) bool { return Identical(a, b) || slices.Equal(a, b) }

// object writes a map: what has changed of it.
func (w *writer) object(name string, old, now Pairs) {
	if Identical(old, now) {
		return
	}
	w.begin(name)
	i := 0
	for _, p := range now {
		for i < len(old) && old[i].Key < p.Key {
			w.nullAny(old[i].Key)
			i++
		}
		if i < len(old) && old[i].Key == p.Key {
			if old[i].Value != p.Value {
				w.nameAny(p.Key)
				w.b = rawjson.AppendString(w.b, p.Value)
			}
			i++
			continue
		}
		w.nameAny(p.Key)
		w.b = rawjson.AppendString(w.b, p.Value)
	}
	for ; i < len(old); i++ {
		w.nullAny(old[i].Key)
	}
	w.end()
}

// The items of lists are written whole. item begins one, str and the like write
// its members, where there is something to write.

func (w *writer) list(name string) { w.name(name); w.b = append(w.b, '[') }

func (w *writer) item() {
	if w.b[len(w.b)-1] != '[' {
		w.b = append(w.b, ',')
	}
}

func (w *writer) brace() { w.b = append(w.b, '{') }

func (w *writer) sep() {
	if c := w.b[len(w.b)-1]; c != '{' && c != '[' {
		w.b = append(w.b, ',')
	}
}

// member writes the name of a member in an item; plain must need no escape.
func (w *writer) member(plain string) {
	w.sep()
	w.b = append(append(append(w.b, '"'), plain...), `":`...)
}

func (w *writer) str(plain, value string) {
	if value != "" {
		w.member(plain)
		w.b = rawjson.AppendString(w.b, value)
	}
}

func (w *writer) strAlways(plain, value string) {
	w.member(plain)
	w.b = rawjson.AppendString(w.b, value)
}

func (w *writer) raw(plain, json string) {
	w.member(plain)
	w.b = append(w.b, json...)
}

func (w *writer) int(plain string, value int64) {
	w.member(plain)
	w.b = strconv.AppendInt(w.b, value, 10)
}

func (w *writer) at(plain string, t Instant) {
	w.member(plain)
	w.stamp(t)
}

func (w *writer) close() { w.b = append(w.b, '}') }

func (w *writer) closeList() { w.b = append(w.b, ']') }

// null writes that a member is gone.
func (w *writer) null(name string) {
	w.name(name)
	w.b = append(w.b, "null"...)
}

func (w *writer) nullAny(name string) {
	w.nameAny(name)
	w.b = append(w.b, "null"...)
}

// strings writes a list of strings that differs; one that has become empty is
// gone.
func (w *writer) strings(name string, old, now []string) {
	if alike(old, now) {
		return
	}
	if len(now) == 0 {
		w.null(name)
		return
	}
	w.list(name)
	for _, s := range now {
		w.sep()
		w.b = rawjson.AppendString(w.b, s)
	}
	w.closeList()
}

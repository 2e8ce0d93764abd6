package replay

import (
	"sort"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/watch"
)

// chunkSize is the number of entries trimmed, and checked for laggards, at once.
const chunkSize = 128

// entry is one change of a resource, as all its watchers will see it.
// Once published it never changes, but for the memo gone.
type entry struct {
	kind    watch.EventType // Bookmark represents a SYNC, Error for the end of the log, signalled for a StreamMarker
	version string
	high    string  // the highest version up to here: versions may arrive out of order
	object  *Object // the new state; of a DELETED the last one, with the deletion's version
	prev    *Object // the state before, nil for ADDED
	gone    atomic.Pointer[Object]
	value   any // of a StreamMarker
}

const signalled watch.EventType = "SIGNAL"

// left returns the previous state under the entry's version.
func (e *entry) left() *Object {
	if o := e.gone.Load(); o != nil {
		return o
	}
	e.gone.CompareAndSwap(nil, e.prev.at(e.version))
	return e.gone.Load()
}

// chunk is a run of entries. Chunks form a list: the history holds the newest
// ones, and a watcher that lags holds on to its own until it has read on, so
// that entries exist once, for as long as a watch needs them.
type chunk struct {
	first   int // index of entries[0] in the log
	bytes   int // of the objects in it
	entries [chunkSize]entry
	n       atomic.Int32
	next    atomic.Pointer[chunk]
}

// log is the history of a resource in one run of the tape. One goroutine at a
// time appends (the cluster's lock sees to it); cursors read without a lock.
type log struct {
	chunks []*chunk
	limit  int // entries kept for clients that watch again
	most   int // bytes of their objects; 0 for any number
	bytes  int
	total  int          // entries ever appended
	count  atomic.Int64 // total, for callers that hold no lock
	high   string       // highest version so far
	last   string       // version of the last entry: what a list is stamped with
	floor  string       // older versions are 410; "" before the first list
	// out maps versions that came out of order to the index of their entry, or
	// to ambiguous where more than one entry carries the version.
	out map[string]int
}

const ambiguous = -2 // -1 represents the moment before the first entry

func newLog(limit, most int) *log {
	return &log{chunks: []*chunk{{}}, limit: limit, most: most, out: map[string]int{}}
}

// append publishes an entry. Its high is worked out here.
func (l *log) append(kind watch.EventType, version string, object, prev *Object) {
	l.add(kind, version, object, prev, nil)
}

// signal publishes an entry that changes nothing.
func (l *log) signal(value any) { l.add(signalled, "", nil, nil, value) }

func (l *log) add(kind watch.EventType, version string, object, prev *Object, value any) {
	tail := l.chunks[len(l.chunks)-1]
	n := int(tail.n.Load())
	full := (*chunk)(nil)
	if n == chunkSize {
		full, tail, n = tail, &chunk{first: l.total}, 0
		l.chunks = append(l.chunks, tail)
		l.trim()
	}
	if version != "" {
		l.note(kind, version)
		l.last = version
	}
	e := &tail.entries[n]
	e.kind, e.version, e.high, e.object, e.prev, e.value = kind, version, l.high, object, prev, value
	if object != nil {
		tail.bytes += len(object.raw)
		l.bytes += len(object.raw)
	}
	l.total++
	l.count.Store(int64(l.total))
	tail.n.Store(int32(n + 1))
	if full != nil {
		full.next.Store(tail) // a linked chunk is never empty
	}
}

// note keeps high and out.
func (l *log) note(kind watch.EventType, version string) {
	switch compareVersions(version, l.high) {
	case 1:
		l.high = version
	case 0:
		if kind != watch.Bookmark {
			l.out[version] = ambiguous
		}
	default:
		if _, known := l.out[version]; known || l.exact(version) {
			l.out[version] = ambiguous
		} else {
			l.out[version] = l.total
		}
	}
}

// trim forgets the oldest chunks beyond the limits; the last full one stays.
func (l *log) trim() {
	for len(l.chunks) > 1 && l.total-l.chunks[1].first >= l.limit || len(l.chunks) > 2 && l.most > 0 && l.bytes > l.most {
		c := l.chunks[0]
		l.chunks[0] = nil
		l.chunks = l.chunks[1:]
		l.bytes -= c.bytes
		end := &c.entries[chunkSize-1]
		if compareVersions(end.high, l.floor) > 0 {
			l.floor = end.high
		}
		for v, i := range l.out {
			if i < l.chunks[0].first && (i != ambiguous || compareVersions(v, l.floor) < 0) {
				delete(l.out, v)
			}
		}
	}
}

// cursor is before an entry.
type cursor struct {
	c *chunk
	i int
}

// next returns the entry that the cursor is before and steps over it, or
// nil where there is none yet.
func (p *cursor) next() *entry {
	for p.i == chunkSize {
		c := p.c.next.Load()
		if c == nil {
			return nil
		}
		p.c, p.i = c, 0
	}
	if p.i >= int(p.c.n.Load()) {
		return nil
	}
	p.i++
	return &p.c.entries[p.i-1]
}

// more reports whether next would return an entry.
func (p cursor) more() bool {
	if p.i == chunkSize {
		return p.c.next.Load() != nil
	}
	return p.i < int(p.c.n.Load())
}

func (p cursor) index() int { return p.c.first + p.i }

func (l *log) end() cursor {
	tail := l.chunks[len(l.chunks)-1]
	return cursor{tail, int(tail.n.Load())}
}

// at returns the cursor before the entry with the given index.
func (l *log) at(index int) cursor {
	i := sort.Search(len(l.chunks), func(i int) bool { return l.chunks[i].first > index }) - 1
	return cursor{l.chunks[i], index - l.chunks[i].first}
}

// reach returns the index of the first entry whose high is at least v, or
// total where there is none.
func (l *log) reach(v string) int {
	i := sort.Search(len(l.chunks), func(i int) bool {
		c := l.chunks[i]
		n := int(c.n.Load())
		return n > 0 && compareVersions(c.entries[n-1].high, v) >= 0
	})
	if i == len(l.chunks) {
		return l.total
	}
	c := l.chunks[i]
	return c.first + sort.Search(int(c.n.Load()), func(j int) bool {
		return compareVersions(c.entries[j].high, v) >= 0
	})
}

// exact reports whether an entry has raised high to exactly v.
func (l *log) exact(v string) bool {
	i := l.reach(v)
	if i == l.total {
		return false
	}
	p := l.at(i)
	return p.c.entries[p.i].version == v
}

// after returns the cursor after everything that a client which has seen
// version v has seen; ok is false where that isn't known (any more).
//
// A version that an entry carries represents the moment after it, even where
// it came late: recorders write an object that comes into scope, or an event
// that waited for its object, with its own older version. Any other version
// is before the first entry with a higher one.
func (l *log) after(v string) (p cursor, ok bool) {
	if i, late := l.out[v]; late {
		if i == ambiguous {
			// Harmless where nothing has come after it.
			if l.last == v {
				return l.end(), true
			}
			return p, false
		}
		return l.at(i + 1), true
	}
	if compareVersions(v, l.floor) < 0 {
		return p, false
	}
	i := l.reach(v)
	if i == l.total {
		return l.end(), true
	}
	p = l.at(i)
	if p.c.entries[p.i].version == v {
		p.i++
	}
	// A SYNC that repeats the version changes nothing.
	return p, true
}

package analysis

import (
	"bytes"
	"slices"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// A Fold analyses the events of a tape while they are made, without its text: what Tape makes of the tape with these events, the
// Fold makes of them. It is for one goroutine.
type Fold struct {
	s     *reading
	line  int
	alive map[objectKey]*alive
	whole map[string]bool // by the word for a resource: its objects are put together
	ended bool
}

type objectKey struct{ resource, namespace, name string }

// alive is what later events of an object don't repeat.
type alive struct {
	uid  string
	body []byte // nil where nobody looks at the whole object
}

// NewFold returns a Fold at the beginning of the tape that h heads.
func NewFold(h *timeline.Header, o Options) (*Fold, error) {
	var text lineCount
	if _, err := timeline.NewWriter(&text, *h); err != nil {
		return nil, err
	}
	f := &Fold{s: newReading(h, o), line: int(text), alive: map[objectKey]*alive{}, whole: map[string]bool{}}
	f.s.follower.TrustPatches()
	return f, nil
}

// lineCount is the number of lines that were written.
type lineCount int

func (n *lineCount) Write(p []byte) (int, error) {
	*n += lineCount(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// Add takes the next event, as timeline.Writer.WriteLine does: ADDED has the object, MODIFIED the object or a patch, DELETED a
// patch or nothing. Between GAP and SYNC of a resource it takes objects, and no patches. Its bytes are looked at during the
// call alone.
func (f *Fold) Add(ev timeline.Event) error {
	f.line++
	f.ended = f.ended || ev.Type == timeline.End
	if ev.Type.Object() {
		f.object(&ev)
	}
	return f.s.event(&ev, f.line)
}

// object gives an event what a Reader gives it: the UID, and of the resources of which a feed wants whole objects, those.
func (f *Fold) object(ev *timeline.Event) {
	whole := f.wants(ev.Resource)
	if ev.Type == timeline.Modified && ev.Patch != nil && !whole {
		return // whose object is known by its name
	}
	key := objectKey{ev.Resource, ev.Namespace, ev.Name}
	o := f.alive[key]
	if o == nil || ev.Type == timeline.Added {
		o = &alive{uid: ev.UID}
		f.alive[key] = o
	}
	ev.UID = o.uid
	switch {
	case ev.Type == timeline.Deleted:
		delete(f.alive, key)
	case whole:
		if ev.Object != nil {
			o.body = slices.Clone(ev.Object)
		} else {
			o.body = rawjson.Apply(nil, o.body, ev.Patch)
		}
		ev.Object = o.body
	case ev.Object != nil && ev.Resource == noderoll.Nodes:
		ev.Object = slices.Clone(ev.Object) // which the search for rolls keeps
	}
}

// wants reports whether a feed reads objects of a resource whole, as observe.Follower.ReadPatches has it.
func (f *Fold) wants(key string) bool {
	is, known := f.whole[key]
	if !known {
		res, _ := f.s.header.Lookup(key)
		switch res.Group + "/" + res.Resource {
		case "/events", "events.k8s.io/events", "cluster.x-k8s.io/machines", "karpenter.sh/nodeclaims":
			is = true
		}
		f.whole[key] = is
	}
	return is
}

// Finish ends the tape. Nothing may be added after that. The error is an UnmatchedError.
func (f *Fold) Finish() (*Analysis, error) {
	if err := f.s.unmatched(); err != nil {
		return nil, err
	}
	a := f.s.finish()
	a.Tape.Complete = f.ended
	return a, nil
}

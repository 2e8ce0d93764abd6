package fault

import (
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/faultspec"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// rule is a fault tied to a tape, and how far it has come on it.
type rule struct {
	given     Spec // as it was asked for
	spec      Spec // with its kind's defaults
	kind      Kind
	resources []timeline.Resource
	selector  labels.Selector // nil for everything
	alone     bool            // fires at a moment, no event needed
	bare      bool            // nothing says which events or when: the kind itself finds out
	lasting   bool            // For bounds how long each one lasts, not how long it may fire

	trigger          // asked about the tape's events, or about requests
	requests trigger // of what hits both: asked about requests
	progress
}

// progress holds what a kind remembers from one event to the next.
type progress struct {
	last    time.Duration                // slow: when the last event comes
	groups  map[timeline.Resource]*group // coalesce: what is being gathered
	waiting []*timer                     // reorder: what waits for another resource
	passing passage                      // unobserved: the state that an object passes through
	turned  map[noderoll.EventKind]bool  // stale: the states that nodes have come into
	burst   burst                        // intermediate: events, and writes, close together
	writes  burst
}

// settle works out what follows from the parameters.
func (r *rule) settle() {
	s := &r.spec
	r.lasting = s.Kind == "stall" || s.Kind == "unobserved" || s.Kind == "intermediate"
	picky := s.Namespace+s.Name+s.Selector+s.Types+s.Lose != "" || s.Event > 0 || s.P > 0
	timed := s.Timed || s.When.Of != ""
	r.alone = r.kind.Hits == faultspec.Stream && timed && !picky && (s.For == 0 || r.lasting) && s.Kind != "intermediate"
	r.bare = !timed && !picky
	if s.Kind == "stale" && r.bare && !slices.ContainsFunc(r.resources, isNodes) {
		s.Types = string(timeline.Deleted)
		if s.Count == 0 {
			s.Count = 1 // back to before the first thing that was lost
		}
	}
	if s.Lose != "" {
		s.Types = s.Lose
	}
}

func (r *rule) reset() {
	r.trigger, r.requests = newTrigger(&r.spec, r.lasting), newTrigger(&r.spec, r.lasting)
	r.progress = progress{groups: map[timeline.Resource]*group{}, turned: map[noderoll.EventKind]bool{}}
}

func matches(glob, name string) bool {
	if glob == "" {
		return true
	}
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// oneOf reports whether a word is one of those joined by "+"; any is where there
// are none.
func oneOf(words, word string) bool {
	return words == "" || strings.Contains("+"+words+"+", "+"+word+"+")
}

// about reports whether an event of the tape is one that the rule is about.
func (r *rule) about(e *event) bool {
	s := &r.spec
	if !slices.Contains(r.resources, e.resource) || !matches(s.Namespace, e.Namespace) || !matches(s.Name, e.Name) {
		return false
	}
	if s.Kind == "bookmarks" {
		return e.Type == timeline.Sync
	}
	return e.Type.Object() && oneOf(s.Types, string(e.Type)) && (r.selector == nil || r.selector.Matches(e.labels()))
}

// asks reports whether a request is one that the rule is about.
func (r *rule) asks(q replay.Request) bool {
	s := &r.spec
	if !slices.ContainsFunc(r.resources, func(t timeline.Resource) bool {
		return t.Resource == q.Resource.Resource && t.Group == q.Resource.Group
	}) {
		return false
	}
	group := "write"
	if q.Verb == "get" || q.Verb == "list" || q.Verb == "watch" {
		group = "read"
	}
	return (oneOf(s.Verbs, q.Verb) || oneOf(s.Verbs, group)) && matches(s.Namespace, q.Namespace) && matches(s.Name, q.Name)
}

// event is an event of the tape with what the rules ask about it.
type event struct {
	timeline.Event
	resource timeline.Resource
	live     bool
	version  string // of a list before it
	set      labels.Set
}

func (e *event) labels() labels.Set {
	if e.set == nil {
		e.set = labels.Set{}
		for name, value := range rawjson.Members(rawjson.Get(e.Object, "metadata", "labels")) {
			k, _ := rawjson.Unquote(append(append([]byte{'"'}, name...), '"'))
			e.set[k], _ = rawjson.Unquote(value)
		}
	}
	return e.set
}

// objectKey is an object's name.
type objectKey struct {
	resource        timeline.Resource
	namespace, name string
}

func (e *event) objectKey() objectKey { return objectKey{e.resource, e.Namespace, e.Name} }

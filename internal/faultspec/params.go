package faultspec

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Param is one parameter.
type Param struct {
	Name string
	// Value shows what it takes, Does says what it means.
	Value, Does string

	set func(s *Spec, value string) *Error
	get func(s Spec) string // "" where it wasn't given
}

// Params returns all parameters, in the order in which a Spec is written.
func Params() []Param { return slices.Clone(params) }

var params = []Param{
	{"namespace", "GLOB", "objects, or requests, of these namespaces", glob(func(s *Spec) *string { return &s.Namespace }), func(s Spec) string { return s.Namespace }},
	{"name", "GLOB", "objects of these names", glob(func(s *Spec) *string { return &s.Name }), func(s Spec) string { return s.Name }},
	{"selector", "LABELS", "objects with these labels; in quotes where it has a comma", selector, func(s Spec) string { return s.Selector }},
	{"type", "TYPE+…", "events of these types: ADDED, MODIFIED, DELETED", words(types, func(s *Spec) *string { return &s.Types }), func(s Spec) string { return s.Types }},
	{"verb", "VERB+…", "requests of these verbs: RBAC's, or read, write", words(verbs, func(s *Spec) *string { return &s.Verbs }), func(s Spec) string { return s.Verbs }},
	{"at", "T+30s", "fires at this position, or at the first that matches from there on", position, func(s Spec) string {
		if !s.Timed {
			return ""
		}
		return "T+" + s.At.String()
	}},
	{"for", "10s", "as long as this from at, when or the beginning on; of stall, unobserved and intermediate: how long each lasts", duration(func(s *Spec) *time.Duration { return &s.For }), span(func(s Spec) time.Duration { return s.For })},
	{"event", "3", "at the third that matches", number(1, math.MaxInt32, func(s *Spec) *int { return &s.Event }), count(func(s Spec) int { return s.Event })},
	{"p", "0.2", "with this probability, decided by seed and event alone", chance, func(s Spec) string {
		if s.P == 0 {
			return ""
		}
		return strconv.FormatFloat(s.P, 'g', -1, 64)
	}},
	{"seed", "7", "the seed of p; 0 without", seed, func(s Spec) string {
		if s.Seed == 0 {
			return ""
		}
		return strconv.FormatUint(s.Seed, 10)
	}},
	{"when", "node:GLOB:STATE", "when the feed says so: node:ip-*:cordoned, mark:GLOB, complete, failed", when, func(s Spec) string { return s.When.String() }},
	{"count", "2", "no more often than this", number(1, math.MaxInt32, func(s *Spec) *int { return &s.Count }), count(func(s Spec) int { return s.Count })},
	{"by", "5s", "how much later, or older", duration(func(s *Spec) *time.Duration { return &s.By }), span(func(s Spec) time.Duration { return s.By })},
	{"within", "5s", "how far apart events are that belong together", duration(func(s *Spec) *time.Duration { return &s.Within }), span(func(s Spec) time.Duration { return s.Within })},
	{"every", "1s", "the pause between two events", duration(func(s *Spec) *time.Duration { return &s.Every }), span(func(s Spec) time.Duration { return s.Every })},
	{"times", "2", "how often it comes", number(2, 100, func(s *Spec) *int { return &s.Times }), count(func(s Spec) int { return s.Times })},
	{"lose", "TYPE+…", "closes before events of these types alone, and watching again from before is 410: no client sees them", words(types, func(s *Spec) *string { return &s.Lose }), func(s Spec) string { return s.Lose }},
	{"in", "open", "410 in the stream, as an ERROR, or at open, as the answer to watching again: stream or open", choice([]string{"stream", "open"}, func(s *Spec) *string { return &s.In }), func(s Spec) string { return s.In }},
	{"initial", "true", "the bookmark after the initial events as well", initial, func(s Spec) string {
		if s.Initial {
			return "true"
		}
		return ""
	}},
	{"retry-after", "5s", "when to come again, in whole seconds", duration(func(s *Spec) *time.Duration { return &s.RetryAfter }), span(func(s Spec) time.Duration { return s.RetryAfter })},
}

var (
	types = []string{"ADDED", "MODIFIED", "DELETED"}
	verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", read, write}
	// states are the kinds of a verbose feed that tell of a node.
	states = []string{"joining", "online", "cordoned", "draining", "notready", "terminated", "evicted", "blocked", "unblocked", "pressure", "warning"}
)

// bad says that a value isn't what is wanted; Parse adds the place.
func bad(wanted, near string) *Error { return &Error{Wanted: wanted, Near: near} }

func glob(field func(*Spec) *string) func(*Spec, string) *Error {
	return func(s *Spec, v string) *Error {
		if _, err := path.Match(v, ""); err != nil || v == "" {
			return bad("a name, or a pattern such as ip-10-0-*", "")
		}
		*field(s) = v
		return nil
	}
}

func selector(s *Spec, v string) *Error {
	if sel, err := labels.Parse(v); err != nil || sel.Empty() {
		return bad(`a label selector such as app=web or "app=web,tier!=db"`, "")
	}
	s.Selector = v
	return nil
}

func words(known []string, field func(*Spec) *string) func(*Spec, string) *Error {
	return func(s *Spec, v string) *Error {
		var all []string
		for w := range strings.SplitSeq(v, "+") {
			if !slices.Contains(known, w) {
				e := bad(strings.Join(known, ", ")+`, joined by "+"`, closest(w, known))
				e.Found = strconv.Quote(w)
				return e
			}
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
		*field(s) = strings.Join(all, "+")
		return nil
	}
}

func choice(known []string, field func(*Spec) *string) func(*Spec, string) *Error {
	return func(s *Spec, v string) *Error {
		if !slices.Contains(known, v) {
			return bad(strings.Join(known, " or "), closest(v, known))
		}
		*field(s) = v
		return nil
	}
}

func position(s *Spec, v string) *Error {
	d, err := time.ParseDuration(strings.TrimPrefix(v, "T+"))
	if err != nil || d < 0 {
		return bad("a position on the tape such as T+30s or 1m32.4s", "")
	}
	s.At, s.Timed = d, true
	return nil
}

func duration(field func(*Spec) *time.Duration) func(*Spec, string) *Error {
	return func(s *Spec, v string) *Error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return bad("a time above zero with its unit, such as 5s or 1m30s", "")
		}
		*field(s) = d
		return nil
	}
}

func span(field func(Spec) time.Duration) func(Spec) string {
	return func(s Spec) string {
		if d := field(s); d != 0 {
			return d.String()
		}
		return ""
	}
}

func number(least, most int, field func(*Spec) *int) func(*Spec, string) *Error {
	return func(s *Spec, v string) *Error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return bad(fmt.Sprintf("a whole number from %d to %d", least, most), "")
		}
		*field(s) = n
		return nil
	}
}

func count(field func(Spec) int) func(Spec) string {
	return func(s Spec) string {
		if n := field(s); n != 0 {
			return strconv.Itoa(n)
		}
		return ""
	}
}

func chance(s *Spec, v string) *Error {
	p, err := strconv.ParseFloat(v, 64)
	if err != nil || !(p > 0 && p <= 1) {
		return bad("a probability above 0 and at most 1, such as 0.2", "")
	}
	s.P = p
	return nil
}

func seed(s *Spec, v string) *Error {
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return bad("a whole number of at most 64 bits", "")
	}
	s.Seed = n
	return nil
}

func initial(s *Spec, v string) *Error {
	if v != "true" && v != "false" {
		return bad("true or false", closest(v, []string{"true", "false"}))
	}
	s.Initial = v == "true"
	return nil
}

func when(s *Spec, v string) *Error {
	of, rest, _ := strings.Cut(v, ":")
	switch of {
	case "complete", "failed":
		if v == of {
			s.When = When{Of: "roll", State: of}
			return nil
		}
	case "mark":
		if _, err := path.Match(rest, ""); err == nil && rest != "" {
			s.When = When{Of: "mark", Name: rest, State: "mark"}
			return nil
		}
	case "node":
		i := strings.LastIndexByte(rest, ':')
		if i < 1 {
			break
		}
		name, state := rest[:i], rest[i+1:]
		if _, err := path.Match(name, ""); err != nil {
			break
		}
		if !slices.Contains(states, state) {
			e := bad(strings.Join(states, ", "), closest(state, states))
			e.Found = strconv.Quote(state)
			return e
		}
		s.When = When{Of: "node", Name: name, State: state}
		return nil
	}
	return bad("node:NAME:STATE such as node:ip-10-0-*:draining, mark:NAME, complete or failed", closest(of, []string{"node", "mark", "complete", "failed"}))
}

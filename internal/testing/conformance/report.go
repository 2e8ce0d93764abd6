package conformance

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Equal reports whether nothing is new, and every row was needed.
func (r *Report) Equal() bool { return len(r.New) == 0 && len(r.Stale()) == 0 }

// Stale are the rows that no difference needed.
func (r *Report) Stale() (all []Row) {
	for _, row := range r.Rows {
		if row.Hits == 0 {
			all = append(all, row)
		}
	}
	return all
}

// Summary is the report in one line.
func (r *Report) Summary() string {
	s := fmt.Sprintf("kube-apiserver and serve: %s, %d alike, %d excepted by %s",
		phrase.Count(r.Requests, "request"), r.Alike, r.Excepted, phrase.Count(len(r.Rows), "row"))
	if n := len(r.New); n > 0 {
		s += fmt.Sprintf(", %d new", n)
	}
	return s
}

// element is a named element in a place.
var element = regexp.MustCompile(`\[[^][]*\]`)

// kinds of differences, and examples of each, that String shows.
const (
	mostKinds    = 100
	mostExamples = 3
)

// String is the report for people: what is new, by place, and what is stale.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.Summary() + "\n")
	type group struct {
		count    int
		examples []string
	}
	groups, order := map[string]*group{}, []string(nil)
	note := func(place, example string) {
		g := groups[place]
		if g == nil {
			g = &group{}
			groups[place], order = g, append(order, place)
		}
		if g.count++; len(g.examples) < mostExamples {
			g.examples = append(g.examples, example)
		}
	}
	for _, f := range r.New {
		if f.Failure != nil {
			note(f.Request.Topic+" no answer", f.Failure.Error())
			continue
		}
		once := map[string]bool{}
		for _, d := range f.Differences {
			place := f.Request.Topic + " " + element.ReplaceAllString(d.Place, "[]")
			if d.Place == "status" {
				place += " " + d.Want[:3] + " " + d.Got[:3]
			}
			if !once[place] {
				once[place] = true
				note(place, f.Request.String()+"\n        "+d.String())
			}
		}
	}
	for i, place := range order {
		if i == mostKinds {
			fmt.Fprintf(&b, "and %d more kinds of differences\n", len(order)-i)
			break
		}
		fmt.Fprintf(&b, "%s (%d times)\n", place, groups[place].count)
		for _, e := range groups[place].examples {
			fmt.Fprintf(&b, "    %s\n", e)
		}
	}
	for _, row := range r.Stale() {
		fmt.Fprintf(&b, "stale: nothing differs any more as the row %q %q says (%s)\n", row.Request, row.Difference, row.Reason)
	}
	return b.String()
}

package snapshot

import (
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// remarks are what a file can't say of a cluster, each kind of thing once, however many there are.
type remarks struct {
	list []*remark
	by   map[string]*remark
}

type remark struct {
	what, why string
	count     int
	first     []ref
}

// A ref is an object that a remark names.
type ref struct {
	of              nameOf
	namespace, name string
}

// shown are the names that a remark has at most.
const shown = 3

// add counts one more thing; all of one kind have the same reason.
func (r *remarks) add(what, why string, at ref) {
	if r.by == nil {
		r.by = map[string]*remark{}
	}
	one := r.by[what]
	if one == nil {
		one = &remark{what: what, why: why}
		r.by[what], r.list = one, append(r.list, one)
	}
	if one.count++; len(one.first) < shown {
		one.first = append(one.first, at)
	}
}

// lines are the remarks, one line each, with the names that the file has for things.
func (r *remarks) lines(hidden *pseudonyms) (lines []string) {
	for _, one := range r.list {
		var names []string
		for _, at := range one.first {
			if name := hidden.ref(at); name != "" {
				names = append(names, name)
			}
		}
		if more := one.count - len(names); more > 0 && len(names) > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		line := fmt.Sprintf("%s: %d", one.what, one.count)
		if len(names) > 0 {
			line += " (" + strings.Join(names, ", ") + ")"
		}
		lines = append(lines, oneLine(line+"; "+one.why))
	}
	return lines
}

// oneLine is a line as a file may have it.
func oneLine(s string) string {
	const most = 300
	runes := []rune(phrase.Escaped(s))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return string(runes)
}

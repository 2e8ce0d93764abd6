package snapshot

import (
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// names are those that were given out, each with how often one like it was wanted.
type names map[string]int

// workload is a name for a workload that no other of its namespace has: its own, or one that is like it.
func (n names) workload(namespace, name, kind string) string {
	return n.once(namespace, phrase.LabelLike(name, "workload"), "-"+strings.ToLower(kind))
}

// budget is a name for a budget, which may be that of a workload.
func (n names) budget(namespace, name string) string {
	return n.once("budget "+namespace, phrase.LabelLike(name, "budget"), "-budget")
}

// once is a name that wasn't given out before, with a suffix where need be. However many want the same one, each is a few steps.
func (n names) once(within, name, suffix string) string {
	wanted := within + "/" + name
	out := name
	for n[within+"/"+out] > 0 {
		end := suffix
		if n[wanted] > 1 {
			end += "-" + strconv.Itoa(n[wanted])
		}
		n[wanted]++
		out = strings.TrimRight(name[:min(len(name), 63-len(end))], "-") + end
	}
	n[within+"/"+out]++
	return out
}

package snapshot

import (
	"strconv"
	"strings"
)

// labelLike is a DNS-1123 label like a name, as the scenario file's group of a node is like the provider's ([spec.Observed]).
func labelLike(name, fallback string) string {
	like := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	if like = strings.Trim(like[:min(len(like), 63)], "-"); like == "" {
		return fallback
	}
	return like
}

// names are those that were given out, each with how often one like it was wanted.
type names map[string]int

// workload is a name for a workload that no other of its namespace has: its own, or one that is like it.
func (n names) workload(namespace, name, kind string) string {
	return n.once(namespace, labelLike(name, "workload"), "-"+strings.ToLower(kind))
}

// budget is a name for a budget, which may be that of a workload.
func (n names) budget(namespace, name string) string {
	return n.once("budget "+namespace, labelLike(name, "budget"), "-budget")
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

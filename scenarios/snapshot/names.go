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

// names are those that were given out.
type names map[string]bool

// workload is a name for a workload that no other of its namespace has: its own, or one that is like it.
func (n names) workload(namespace, name, kind string) string {
	like := labelLike(name, "workload")
	return n.once(namespace, like, "-"+strings.ToLower(kind))
}

// budget is a name for a budget, which may be that of a workload.
func (n names) budget(namespace, name string) string {
	return n.once("budget "+namespace, labelLike(name, "budget"), "-budget")
}

// once is a name that wasn't given out before, with a suffix where need be.
func (n names) once(within, name, suffix string) string {
	out := name
	for i := 2; n[within+"/"+out]; i++ {
		end := suffix
		if i > 2 {
			end += "-" + strconv.Itoa(i)
		}
		out = strings.TrimRight(name[:min(len(name), 63-len(end))], "-") + end
	}
	n[within+"/"+out] = true
	return out
}

package phrase

import "strings"

// LabelLike is a DNS-1123 label like a name; what has no letter or digit in it is like the fallback.
func LabelLike(name, fallback string) string {
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

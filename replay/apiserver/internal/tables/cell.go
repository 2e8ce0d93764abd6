package tables

import (
	"fmt"
	"strings"
)

// What stands in a cell for a list that is empty, and for a setting that isn't there.
const (
	none  = "<none>"
	unset = "<unset>"
)

// or is s, or where that is empty the other.
func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// deref is the value of an optional field, or what the API server's defaulting puts there.
func deref[T any](field *T, byDefault T) T {
	if field == nil {
		return byDefault
	}
	return *field
}

// firstFew joins up to most of the words and counts the rest.
func firstFew(words []string, most int, separator string) string {
	if len(words) <= most {
		return strings.Join(words, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(words[:most], separator), len(words)-most)
}

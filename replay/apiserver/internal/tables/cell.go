package tables

import (
	"fmt"
	"strings"
)

// What is in a cell for a list that is empty, and for a setting that isn't there.
const (
	none  = "<none>"
	unset = "<unset>"
)

// firstFew joins up to most of the words and counts the rest.
func firstFew(words []string, most int, separator string) string {
	if len(words) <= most {
		return strings.Join(words, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(words[:most], separator), len(words)-most)
}

package spec

import (
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// An Error says where a scenario file, or a setting, is bad: the place, what
// was found there, what is wanted, and where there is one, the remedy. It
// reads as one line:
//
//	surge.yaml:12: groups[0].nodes: "many": want a whole number from 0 to 100000
type Error struct {
	File   string // the file, or its label
	Line   int    // counted from 1; 0 where it isn't the file that is bad
	Path   string // of the key: groups[0].nodes; or the setting: --set nodes
	Found  string
	Wanted string
	Remedy string
}

func (e *Error) Error() string { return phrase.Place(*e).String() }

// didYouMean is the remedy that names a near word, or "".
func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", near)
}

// list writes the words of a choice as people do: "a, b or c".
func list[T ~string](words []T) string { return joined(words, " or ") }

// all writes words that are there together: "a, b and c".
func all(words []string) string { return joined(words, " and ") }

func joined[T ~string](words []T, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(last)
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return b.String()
}

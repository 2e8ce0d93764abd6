package policy

import "github.com/nodesim/nodesim/internal/phrase"

// An Error says where a policy is bad: the place, what was found there, what is wanted, and the remedy where there is one. It
// reads as one line:
//
//	slow.yaml:9: rules[0].expression: undefined field 'dran': did you mean drain?
type Error struct {
	File   string
	Line   int    // counted from 1; 0 where the file as a whole is bad
	Path   string // of the key: rules[0].over
	Found  string
	Wanted string
	Remedy string
}

func (e *Error) Error() string { return phrase.Place(*e).String() }

// didYouMean is the remedy that names a near word, or "".
func didYouMean(word string, words []string) string {
	if near := phrase.Closest(word, words); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

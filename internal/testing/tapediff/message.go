package tapediff

import (
	"regexp"
	"strings"
)

var digits = regexp.MustCompile(`[0-9]+`)

// class is a message without what differs from run to run: numbers, the names of nodes, and which nodes a pod didn't
// fit on. nodes are the names known so far.
func class(message string, nodes map[string][]*history) string {
	if head, _, found := strings.Cut(message, " nodes are available: "); found {
		message = head + " nodes are available"
	}
	for word := range strings.FieldsSeq(message) {
		if bare := strings.Trim(word, `.,:;"'()[]`); nodes[bare] != nil {
			message = strings.ReplaceAll(message, bare, "NODE")
		}
	}
	return digits.ReplaceAllString(message, "#")
}

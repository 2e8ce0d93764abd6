package tables

import (
	"fmt"

	"k8s.io/client-go/util/jsonpath"
)

// mostPath is the number of bytes of a path read; the parser recurses.
const mostPath = 1 << 10

// readPath reads the path of a column, as in .status.phase.
//
// The API server takes any JSONPath template here. Of those this package refuses what is no plain path and could take
// a replay's memory or time, since a tape is hostile input: several templates in one, loops, and more than one step
// that visits a value more than once (.. and unions), as a chain of them doubles its results with every step. What is
// left keeps no state while it searches, so one path serves many goroutines.
func readPath(of string) (*jsonpath.JSONPath, error) {
	refused := func(found string) error {
		return fmt.Errorf("path %.80q: found %s, want one path such as .status.phase", of, found)
	}
	if len(of) > mostPath {
		return nil, refused(fmt.Sprintf("%d bytes", len(of)))
	}
	template := fmt.Sprintf("{%s}", of)
	parsed, err := jsonpath.Parse("", template)
	if err != nil {
		return nil, refused(err.Error())
	}
	if n := len(parsed.Root.Nodes); n != 1 {
		return nil, refused(fmt.Sprintf("%d templates", n))
	}
	if spreads, loops := count(parsed.Root); loops > 0 {
		return nil, refused("a loop")
	} else if spreads > 1 {
		return nil, refused("several of .. and unions")
	}
	path := jsonpath.New("").AllowMissingKeys(true)
	if err := path.Parse(template); err != nil {
		return nil, refused(err.Error())
	}
	return path, nil
}

// count counts the steps that visit a value more than once, and the keywords, which make loops.
func count(node jsonpath.Node) (spreads, keywords int) {
	var inside []*jsonpath.ListNode
	switch n := node.(type) {
	case *jsonpath.RecursiveNode:
		return 1, 0
	case *jsonpath.IdentifierNode:
		return 0, 1
	case *jsonpath.UnionNode:
		spreads, inside = 1, n.Nodes
	case *jsonpath.FilterNode:
		inside = []*jsonpath.ListNode{n.Left, n.Right}
	case *jsonpath.ListNode:
		for _, next := range n.Nodes {
			s, k := count(next)
			spreads, keywords = spreads+s, keywords+k
		}
	}
	for _, list := range inside {
		if list != nil {
			s, k := count(list)
			spreads, keywords = spreads+s, keywords+k
		}
	}
	return spreads, keywords
}

package observe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/noderoll"
)

// namedGroups bounds how many groups an error lists.
const namedGroups = 12

// Unmatched says why there was nothing to show so far: no node on the tape is one
// of the group or the selector that was asked for, or no pod one of the roll. It
// is nil where something matched, and where all nodes were asked for. The error
// doesn't name the tape.
func (f *Follower) Unmatched() error {
	switch {
	case f.options.Pods.On() && !f.pods:
		return fmt.Errorf("no pod matches %q: want the labels of pods on it, and their namespace where one is given", noderoll.OneLine(f.options.Pods.String()))
	case f.options.Pods.On() || f.feed.Found():
		return nil
	}
	return f.options.NoNode(f.Groups())
}

// NoNode is the error of options that choose nodes, where no node is one of them;
// groups are the names of the groups that there are, "" for nodes that name none,
// as Follower.Groups has them. It is nil where the options choose every node.
func (o *Options) NoNode(groups []string) error {
	if o.Pool == "" && o.Selector == nil {
		return nil
	}
	asked := fmt.Sprintf("no node of group %q", noderoll.OneLine(o.Pool))
	if o.Pool == "" {
		asked = fmt.Sprintf("no node matches selector %q", noderoll.OneLine(o.Selector.String()))
	}
	named := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return g == "" })
	switch {
	case len(groups) == 0:
		return fmt.Errorf("%s: found no nodes at all: want a tape of nodes", asked)
	case len(named) == 0:
		return fmt.Errorf("%s: none of its nodes names a group: want neither --nodegroup nor a scope of nodes in its header", asked)
	case len(named) > namedGroups:
		named = append(named[:namedGroups], fmt.Sprintf("%d more", len(named)-namedGroups))
	}
	return fmt.Errorf("%s: found %s: want one of these as --nodegroup or in the header's scope", asked, noderoll.OneLine(strings.Join(named, ", ")))
}

package shards

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// mapping makes a node of keys and values in turn.
func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	add(n, pairs...)
	return n
}

// add adds keys and values in turn to a mapping.
func add(to *yaml.Node, pairs ...any) {
	for _, v := range pairs {
		to.Content = append(to.Content, nodeOf(v))
	}
}

func list(items ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range items {
		n.Content = append(n.Content, nodeOf(v))
	}
	return n
}

// nodeOf is a value of a manifest: text, a number, a truth value, or what mapping and list have made.
func nodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case *yaml.Node:
		return v
	case string:
		return text(v)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v)}
}

// text is a string, quoted where it needs to be, and as a block where it has lines.
func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
	"gopkg.in/yaml.v3"
)

// What a file may have at most. The deepest that means anything is the value of a pod's preferred anti-affinity, 13; the
// longest key is a label's; the longest list is one of all pods.
const (
	maxDepth = 16
	maxItems = MaxPods // of a list or mapping
	maxKey   = 317     // bytes
	maxRef   = 1000    // bytes of a text with references in it
)

// emptyFile is what was found where there is no document.
const emptyFile = "an empty file"

// A node is a value of a scenario file. It is YAML without everything that means more than it says: anchors, aliases,
// merge keys, tags, duplicate keys, and a second document are refused.
type node struct {
	kind nodeKind
	line int    // counted from 1; of a value in a mapping, its key's
	text string // of a scalar
	ref  string // the references that the text came from, if any

	keys  []string // of a mapping, in the file's order
	items []*node  // of a list, or the values of a mapping
}

// A nodeKind is a value's JSON type, by its form alone.
type nodeKind uint8

const (
	isText nodeKind = iota
	isNumber
	isBool
	isNull
	isList
	isMapping
)

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	for i, k := range n.keys {
		if k == key {
			return n.items[i]
		}
	}
	return nil
}

// String says what was found, for an error.
func (n *node) String() string {
	var s string
	switch n.kind {
	case isNull:
		return "nothing"
	case isList:
		return "a list"
	case isMapping:
		return "a mapping"
	case isText:
		s = fmt.Sprintf("%.80q", n.text)
	default:
		s = n.text
	}
	if n.ref != "" {
		s += " of " + n.ref
	}
	return s
}

// parseTree reads the one document of a file.
func parseTree(file string, data []byte) (*node, *Error) {
	if len(data) > MaxFile {
		return nil, &Error{File: file, Found: fmt.Sprintf("%d bytes", len(data)), Wanted: "at most 64 MiB"}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Error{File: file, Line: 1, Found: emptyFile, Wanted: "a scenario"}
		}
		return nil, yamlError(file, err)
	}
	var second yaml.Node
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, &Error{File: file, Line: second.Line, Found: "a second document", Wanted: "one scenario in a file"}
	case !errors.Is(err, io.EOF):
		return nil, yamlError(file, err)
	}
	t := tree{file: file}
	return t.node(doc.Content[0], doc.Content[0].Line, "", 0)
}

// tree turns what yaml.v3 has parsed into nodes.
type tree struct{ file string }

func (t tree) node(y *yaml.Node, line int, path string, depth int) (*node, *Error) {
	bad := func(found, wanted string) (*node, *Error) {
		return nil, &Error{File: t.file, Line: y.Line, Path: path, Found: found, Wanted: wanted}
	}
	switch {
	case depth > maxDepth:
		return bad("too deep", fmt.Sprintf("at most %d levels", maxDepth))
	case y.Kind == yaml.AliasNode:
		return bad(fmt.Sprintf("the alias *%.80s", y.Value), "the value itself")
	case y.Anchor != "":
		return bad(fmt.Sprintf("the anchor &%.80s", y.Anchor), "no anchors")
	case y.Style&yaml.TaggedStyle != 0:
		return bad(fmt.Sprintf("the tag %.80s", y.Tag), "no tags")
	case y.Kind == yaml.SequenceNode && len(y.Content) > maxItems, y.Kind == yaml.MappingNode && len(y.Content) > 2*maxItems:
		return bad("too long", fmt.Sprintf("at most %d of them", maxItems))
	}
	n := &node{line: line, text: y.Value}
	switch y.Kind {
	case yaml.SequenceNode:
		n.kind = isList
		for i, item := range y.Content {
			child, err := t.node(item, item.Line, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, child)
		}
	case yaml.MappingNode:
		n.kind = isMapping
		return n, t.mapping(n, y, path, depth)
	default:
		n.kind = scalarKind(y)
	}
	return n, nil
}

func (t tree) mapping(n *node, y *yaml.Node, path string, depth int) *Error {
	seen := map[string]int{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		bad := func(path, found, wanted string) *Error {
			return &Error{File: t.file, Line: key.Line, Path: path, Found: found, Wanted: wanted}
		}
		if _, err := t.node(key, key.Line, path, depth+1); err != nil {
			return err
		}
		switch at := under(path, key.Value); {
		case key.Kind != yaml.ScalarNode:
			return bad(path, "a key that isn't a word", "a word")
		case key.Tag == "!!merge":
			return bad(path, "the merge key <<", "the keys themselves")
		case key.Tag == "!!null" || key.Value == "":
			return bad(path, "an empty key", "a word")
		case len(key.Value) > maxKey:
			return bad(path, fmt.Sprintf("the key %.40q…", key.Value), fmt.Sprintf("at most %d bytes", maxKey))
		case strings.Contains(key.Value, "$("):
			return bad(path, fmt.Sprintf("the key %.80q", key.Value), "a parameter in a value, not in a key")
		case seen[key.Value] > 0:
			return bad(at, "here for the second time", fmt.Sprintf("it once; it is on line %d already", seen[key.Value]))
		default:
			child, err := t.node(value, key.Line, at, depth+1)
			if err != nil {
				return err
			}
			seen[key.Value] = key.Line
			n.keys, n.items = append(n.keys, key.Value), append(n.items, child)
		}
	}
	return nil
}

// scalarKind returns a scalar's JSON type. A timestamp is text.
func scalarKind(y *yaml.Node) nodeKind {
	switch y.ShortTag() {
	case "!!int", "!!float":
		return isNumber
	case "!!bool":
		return isBool
	case "!!null":
		return isNull
	}
	return isText
}

// under is the path of a key.
func under(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// yamlError turns an error of yaml.v3 into an Error.
func yamlError(file string, err error) *Error {
	e := Error(phrase.BadYAML(file, err))
	return &e
}

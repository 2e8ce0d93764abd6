package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
	"gopkg.in/yaml.v3"
)

// mapping is a mapping of a policy's file, whose keys are taken one by one: those left over are unknown.
type mapping struct {
	file string
	path string
	line int
	keys []string
	vals map[string]*yaml.Node
	at   map[string]int
}

// document reads the one document of a file.
func document(file string, text []byte) (*yaml.Node, *Error) {
	if len(text) > MaxFile {
		return nil, &Error{File: file, Found: fmt.Sprintf("%d bytes", len(text)), Wanted: fmt.Sprintf("at most %d", MaxFile)}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{File: file, Line: 1, Found: "an empty file", Wanted: "a policy"}
	case err != nil:
		return nil, yamlError(file, err)
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, &Error{File: file, Line: second.Line, Found: "a second document", Wanted: "one policy in a file"}
	case !errors.Is(err, io.EOF):
		return nil, yamlError(file, err)
	}
	return doc.Content[0], nil
}

// yamlError turns an error of yaml.v3 into an Error.
func yamlError(file string, err error) *Error {
	e := Error(phrase.BadYAML(file, err))
	return &e
}

// newMapping takes a node that has to be a mapping of words that are there once.
func newMapping(file, path string, n *yaml.Node) (*mapping, *Error) {
	m := &mapping{file: file, path: path, line: n.Line, vals: map[string]*yaml.Node{}, at: map[string]int{}}
	if err := m.plain(path, n); err != nil {
		return nil, err
	}
	if n.Kind != yaml.MappingNode {
		return nil, &Error{File: file, Line: n.Line, Path: path, Found: kindOf(n), Wanted: "a mapping"}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
			return nil, &Error{File: file, Line: key.Line, Path: path, Found: "a key that isn't a word", Wanted: "a word"}
		}
		if at, twice := m.at[key.Value]; twice {
			return nil, &Error{File: file, Line: key.Line, Path: m.under(key.Value), Found: "here for the second time", Wanted: fmt.Sprintf("it once; it is on line %d already", at)}
		}
		m.keys = append(m.keys, key.Value)
		m.vals[key.Value], m.at[key.Value] = n.Content[i+1], key.Line
	}
	return m, nil
}

// plain refuses YAML that means more than it says.
func (m *mapping) plain(path string, n *yaml.Node) *Error {
	bad := func(found, wanted string) *Error {
		return &Error{File: m.file, Line: n.Line, Path: path, Found: found, Wanted: wanted}
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return bad(fmt.Sprintf("the alias *%.80s", n.Value), "the value itself")
	case n.Anchor != "":
		return bad(fmt.Sprintf("the anchor &%.80s", n.Anchor), "no anchors")
	case n.Style&yaml.TaggedStyle != 0:
		return bad(fmt.Sprintf("the tag %.80s", n.Tag), "no tags")
	}
	return nil
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%.80q", n.Value)
}

func (m *mapping) under(key string) string {
	if m.path == "" {
		return key
	}
	return m.path + "." + key
}

// only refuses keys that aren't among those.
func (m *mapping) only(keys ...string) *Error {
	for _, key := range m.keys {
		known := false
		for _, k := range keys {
			known = known || k == key
		}
		if known {
			continue
		}
		e := &Error{File: m.file, Line: m.at[key], Path: m.under(key), Found: "unknown key", Remedy: didYouMean(key, keys)}
		if e.Remedy == "" {
			e.Wanted = strings.Join(keys, ", ")
		}
		return e
	}
	return nil
}

// text is the text of a key, and the line on which it begins.
func (m *mapping) text(key string, need bool) (string, int, *Error) {
	n := m.vals[key]
	switch {
	case n == nil && need:
		return "", 0, &Error{File: m.file, Line: m.line, Path: m.path, Found: fmt.Sprintf("no %q", key), Wanted: "it"}
	case n == nil:
		return "", m.line, nil
	}
	if err := m.plain(m.under(key), n); err != nil {
		return "", 0, err
	}
	line := n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		line++ // the text begins below the | or >
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || strings.TrimSpace(n.Value) == "" {
		return "", 0, &Error{File: m.file, Line: n.Line, Path: m.under(key), Found: kindOf(n), Wanted: "text"}
	}
	return n.Value, line, nil
}

// word is the text of a key that has to be one of a few words.
func (m *mapping) word(key, fallback string, words ...string) (string, *Error) {
	got, _, err := m.text(key, fallback == "")
	if err != nil {
		return "", err
	}
	if m.vals[key] == nil {
		return fallback, nil
	}
	for _, w := range words {
		if w == got {
			return got, nil
		}
	}
	e := &Error{File: m.file, Line: m.at[key], Path: m.under(key), Found: fmt.Sprintf("%.80q", got), Wanted: strings.Join(words, ", ")}
	e.Remedy = didYouMean(got, words)
	return "", e
}

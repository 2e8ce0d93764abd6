package timeline

import (
	"bytes"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// appendBlock appends canonical JSON as block YAML.
func appendBlock(dst, raw []byte) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(yamlNode(raw)); err != nil {
		return dst, err
	}
	if err := enc.Close(); err != nil {
		return dst, err
	}
	return append(dst, b.Bytes()...), nil
}

// yamlNode makes the tree of a value in canonical JSON. Members keep their
// order and numbers their digits.
func yamlNode(raw []byte) *yaml.Node {
	switch raw[0] {
	case '{':
		n := &yaml.Node{Kind: yaml.MappingNode}
		for name, value := range rawjson.Members(raw) {
			n.Content = append(n.Content, stringNode(unquoteName(name)), yamlNode(value))
		}
		return n
	case '[':
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for e := range rawjson.Elements(raw) {
			n.Content = append(n.Content, yamlNode(e))
		}
		return n
	case '"':
		s, _ := rawjson.Unquote(raw)
		return stringNode(s)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(raw)} // a number, true, false, null
}

// stringNode leaves quotes to the encoder, which knows what needs them, but
// for what other parsers read differently.
func stringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	unfit := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if yaml11[strings.ToLower(s)] || strings.ContainsFunc(s, unfit) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// yaml11 are the words that are booleans to parsers of YAML 1.1.
var yaml11 = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true}

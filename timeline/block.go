package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// parseYAML reads one YAML document as a tree of plain values. Anchors,
// aliases, tags and merge keys are refused: a tape has no use for them, and
// with them a few lines of YAML become gigabytes.
func parseYAML(text []byte) (*yaml.Node, *Error) {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); err != nil {
		return nil, yamlError("YAML", err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fault("one document", "more after its end (...)")
	}
	if len(doc.Content) != 1 {
		return nil, fault("one value", "an empty document")
	}
	return doc.Content[0], plainYAML(doc.Content[0], 0)
}

func plainYAML(n *yaml.Node, depth int) *Error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return yamlFault(n, "neither anchors nor aliases", "an anchor or alias")
	case n.Style&yaml.TaggedStyle != 0:
		return yamlFault(n, "no tags", "tag "+n.Tag)
	case depth > MaxNested:
		return yamlFault(n, "less", "nesting deeper than 100")
	case n.Kind == yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Kind != yaml.ScalarNode {
				return yamlFault(key, "a name", "a list or a mapping as key")
			} else if key.Tag == "!!merge" {
				return yamlFault(key, "no merge keys", "a merge key")
			}
		}
	}
	for _, c := range n.Content {
		if err := plainYAML(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func yamlFault(n *yaml.Node, wanted, found string) *Error {
	e := fault(wanted, "%s", found)
	e.Line = n.Line // within the document; the reader adds the document's own
	return e
}

// appendYAML writes a YAML value as canonical JSON. Scalars are as they are
// in JSON: a number only where JSON has that spelling for it. What YAML would
// turn into something else (0755, 1_000, 0x1F, .inf) is refused, and dates
// stay the text that they are.
func appendYAML(dst []byte, n *yaml.Node) ([]byte, *Error) {
	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if seen[key.Value] {
				return dst, yamlFault(key, "it once", fmt.Sprintf("key %.80q twice", key.Value))
			}
			seen[key.Value] = true
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(dst, key.Value), ':')
			var err *Error
			if dst, err = appendYAML(dst, n.Content[i+1]); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, c := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err *Error
			if dst, err = appendYAML(dst, c); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
	switch n.Tag {
	case "!!null":
		return append(dst, "null"...), nil
	case "!!bool":
		return append(dst, strings.ToLower(n.Value)...), nil
	case "!!int", "!!float":
		if out, err := rawjson.Compact(dst, []byte(n.Value)); err == nil {
			return out, nil
		}
		return dst, yamlFault(n, "a number as JSON writes it, or quotes around it", n.Value)
	}
	return rawjson.AppendString(dst, n.Value), nil
}

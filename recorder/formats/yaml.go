package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/nodesim/nodesim/internal/rawjson"
	"gopkg.in/yaml.v3"
)

// YAMLToJSON turns one document into compact JSON; nil where it is empty. Times stay text, as JSON has
// them. Aliases are refused: a few of them make gigabytes.
func YAMLToJSON(doc []byte) ([]byte, error) {
	var n yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(doc))
	if err := d.Decode(&n); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	switch err := d.Decode(new(yaml.Node)); {
	case err == nil:
		return nil, errors.New("found a second document: want --- alone on the line before it")
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	if len(n.Content) != 1 {
		return nil, fmt.Errorf("found %d values, want one", len(n.Content))
	}
	if n.Content[0].Tag == "!!null" {
		return nil, nil
	}
	out, err := appendNode(nil, n.Content[0], 0)
	if err != nil {
		return nil, err
	}
	return rawjson.Compact(nil, out)
}

func appendNode(dst []byte, n *yaml.Node, depth int) (_ []byte, err error) {
	if depth > 200 {
		return nil, fmt.Errorf("line %d: found values more than 200 deep in each other, want fewer", n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				return nil, fmt.Errorf("line %d: found a key that is no text", key.Line)
			}
			dst = append(rawjson.AppendString(dst, key.Value), ':')
			if dst, err = appendNode(dst, n.Content[i+1], depth+1); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, e := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendNode(dst, e, depth+1); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	case yaml.ScalarNode:
		return appendScalar(dst, n)
	}
	return nil, fmt.Errorf("line %d: found an alias, want the value itself", n.Line)
}

func appendScalar(dst []byte, n *yaml.Node) ([]byte, error) {
	switch n.Tag {
	case "!!int", "!!float", "!!bool", "!!null":
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			break
		}
		text, err := json.Marshal(v)
		return append(dst, text...), err
	}
	return rawjson.AppendString(dst, n.Value), nil
}

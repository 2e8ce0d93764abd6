package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/nodesim/nodesim/internal/rawjson"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// parseHeader reads the text of a header.
func parseHeader(text []byte) (*Header, *Error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, fault("the YAML of a header", "a NUL byte")
	}
	n, fail := parseYAML(text)
	if fail != nil {
		return nil, fail
	}
	if n.Kind != yaml.MappingNode {
		return nil, fault("apiVersion: "+APIVersion, "%.60q", firstLine(text))
	}
	if fail := headerMembers(n); fail != nil {
		return nil, fail
	}
	var probe struct {
		APIVersion yaml.Node `yaml:"apiVersion"`
		Kind       yaml.Node `yaml:"kind"`
	}
	if err := n.Decode(&probe); err != nil {
		return nil, yamlError("the YAML of a header", err)
	}
	switch {
	case probe.APIVersion.Value == "":
		return nil, fault("apiVersion: "+APIVersion, "a header without apiVersion")
	case probe.APIVersion.Value != APIVersion:
		f := fault(APIVersion, "apiVersion %q", probe.APIVersion.Value)
		f.Remedy = "a newer nodesim may read it"
		return nil, f
	case probe.Kind.Value != Kind:
		return nil, fault(Kind, "kind %q", probe.Kind.Value)
	}
	h := new(Header)
	if err := n.Decode(h); err != nil {
		return nil, yamlError("a header as docs/format.md has it", err)
	}
	for i, r := range h.Resources {
		if r.Resource == "" || r.Version == "" || r.Kind == "" {
			return nil, fault("version, kind and resource", "resources[%d] without one of them", i)
		}
		for _, other := range h.Resources[:i] {
			if other.Group == r.Group && other.Resource == r.Resource {
				return nil, fault("it once", "resource %s twice", r)
			}
		}
	}
	if fail := h.Scope.check(); fail != nil {
		return nil, fail
	}
	return h, nil
}

// headerMembers bounds the mappings of a header, and refuses a key that stands twice
// in one, at any depth. yaml.v3 compares each key of a mapping that it decodes
// with all others; and in a member that isn't known it keeps both of a kind,
// and as JSON such a header couldn't be read back.
func headerMembers(n *yaml.Node) *Error {
	count := len(n.Content)
	if n.Kind == yaml.MappingNode {
		count /= 2
	}
	if count > MaxMembers {
		return yamlFault(n, fmt.Sprintf("at most %d", MaxMembers), fmt.Sprintf("a list or mapping of %d", count))
	}
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if seen[key.Value] {
				return yamlFault(key, "it once", fmt.Sprintf("key %.80q twice", key.Value))
			}
			seen[key.Value] = true
		}
	}
	for _, c := range n.Content {
		if fail := headerMembers(c); fail != nil {
			return fail
		}
	}
	return nil
}

// check refuses a scope of pods that names none: a roll would be shown, and
// nothing in it.
func (s *Scope) check() *Error {
	if s.Pods == "" {
		if s.Namespace != "" {
			return fault("scope.pods beside it, a label selector such as app=web", "scope.namespace %q alone", s.Namespace)
		}
		return nil
	}
	if _, err := labels.Parse(s.Pods); err != nil {
		return fault("a label selector such as app=web,tier!=db", "scope.pods %q: %s", s.Pods, oneLine(err))
	}
	if problems := validation.IsDNS1123Label(s.Namespace); s.Namespace != "" && len(problems) > 0 {
		return fault("the name of a namespace, such as shop", "scope.namespace %q: %s", s.Namespace, problems[0])
	}
	return nil
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return line
}

func oneLine(err error) string {
	return string(bytes.Join(bytes.Fields([]byte(err.Error())), []byte(" ")))
}

// MarshalText returns the header as it is on a tape: block style, for
// people, without the "---" that ends it.
func (h *Header) MarshalText() ([]byte, error) {
	full := *h
	full.APIVersion, full.Kind = APIVersion, Kind
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(full); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// jsonLine returns the header as one line of canonical JSON.
func (h *Header) jsonLine() ([]byte, error) {
	text, err := h.MarshalText()
	if err != nil {
		return nil, err
	}
	n, fail := parseYAML(text)
	if fail != nil {
		return nil, fail
	}
	if fail := spellNumbers(n); fail != nil {
		return nil, fail
	}
	b, fail := appendYAML(nil, n)
	if fail != nil {
		return nil, fail
	}
	return append(b, '\n'), nil
}

// spellNumbers writes the numbers below n that YAML spells in ways of its own
// (0755, 1_000, 0x1F, .5) as JSON does. There is none for .inf and .nan.
func spellNumbers(n *yaml.Node) *Error {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode || n.Kind == yaml.DocumentNode {
		for _, c := range n.Content {
			if fail := spellNumbers(c); fail != nil {
				return fail
			}
		}
		return nil
	}
	if n.Tag != "!!int" && n.Tag != "!!float" {
		return nil
	}
	if _, err := rawjson.Compact(nil, []byte(n.Value)); err == nil {
		return nil
	}
	var number any
	err := n.Decode(&number)
	if err == nil {
		var b []byte
		if b, err = json.Marshal(number); err == nil {
			n.Value = string(b)
			return nil
		}
	}
	return fault("a number as JSON writes it, or quotes around it", "a header with %.80s", n.Value)
}

package policy

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/internal/phrase"
)

//go:embed shipped/*.yaml
var shipped embed.FS

// Shipped are the names of the policies that come with nodesim, sorted.
func Shipped() []string {
	var names []string
	entries, _ := fs.ReadDir(shipped, "shipped")
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Find loads a policy: a shipped one by its name, or a file.
func Find(nameOrFile string) (*Policy, error) {
	if slices.Contains(Shipped(), nameOrFile) {
		text, err := Text(nameOrFile)
		if err != nil {
			return nil, err
		}
		return Load(nameOrFile, text)
	}
	f, err := os.Open(nameOrFile)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(nameOrFile, `./\`) {
			wanted := "a file, or " + strings.Join(Shipped(), ", ")
			if near := phrase.Closest(nameOrFile, Shipped()); near != "" {
				wanted += "; did you mean " + near + "?"
			}
			return nil, fmt.Errorf("policy %.80q: found no such file: want %s", nameOrFile, wanted)
		}
		return nil, fmt.Errorf("policy: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("policy %s: %w", nameOrFile, err)
	}
	return Load(nameOrFile, text)
}

// Text is the file of a shipped policy.
func Text(name string) ([]byte, error) { return shipped.ReadFile(path.Join("shipped", name+".yaml")) }

// Load reads a policy: one strict YAML document. name is the file's label in errors, which are of type *[Error]. Every
// expression is checked against the types of an analysis.
func Load(name string, text []byte) (*Policy, error) {
	p, bad := load(name, text)
	if bad != nil {
		return nil, bad
	}
	return p, nil
}

func load(file string, text []byte) (*Policy, *Error) {
	doc, bad := document(file, text)
	if bad != nil {
		return nil, bad
	}
	m, bad := newMapping(file, "", doc)
	if bad != nil {
		return nil, bad
	}
	if bad := m.only("apiVersion", "kind", "metadata", "rules"); bad != nil {
		return nil, bad
	}
	if _, bad := m.word("apiVersion", "", APIVersion); bad != nil {
		return nil, bad
	}
	if _, bad := m.word("kind", "", Kind); bad != nil {
		return nil, bad
	}
	p := &Policy{}
	if bad := p.metadata(m); bad != nil {
		return nil, bad
	}
	rules := m.vals["rules"]
	switch {
	case rules == nil:
		return nil, &Error{File: file, Line: m.line, Found: `no "rules"`, Wanted: "it"}
	case rules.Kind != yaml.SequenceNode || len(rules.Content) == 0:
		return nil, &Error{File: file, Line: m.at["rules"], Path: "rules", Found: kindOf(rules), Wanted: "a list of one rule or more"}
	case len(rules.Content) > MaxRules:
		return nil, &Error{File: file, Line: m.at["rules"], Path: "rules", Found: fmt.Sprintf("%d rules", len(rules.Content)), Wanted: fmt.Sprintf("at most %d", MaxRules)}
	}
	return p, p.rules(file, rules.Content)
}

func (p *Policy) metadata(m *mapping) *Error {
	n := m.vals["metadata"]
	if n == nil {
		return &Error{File: m.file, Line: m.line, Found: `no "metadata"`, Wanted: "it, with a name"}
	}
	meta, bad := newMapping(m.file, "metadata", n)
	if bad != nil {
		return bad
	}
	if bad := meta.only("name", "description"); bad != nil {
		return bad
	}
	if p.Name, bad = meta.name("name"); bad != nil {
		return bad
	}
	p.Description, _, bad = meta.text("description", false)
	return bad
}

// name is one of Kubernetes' objects.
func (m *mapping) name(key string) (string, *Error) {
	name, _, bad := m.text(key, true)
	if bad == nil && len(validation.IsDNS1123Label(name)) > 0 {
		bad = &Error{File: m.file, Line: m.at[key], Path: m.under(key), Found: fmt.Sprintf("%.80q", name), Wanted: "lower-case letters, digits and hyphens, at most 63"}
	}
	return name, bad
}

func (p *Policy) rules(file string, items []*yaml.Node) *Error {
	c := newCompiler(file)
	seen := map[string]int{}
	for i, item := range items {
		m, bad := newMapping(file, fmt.Sprintf("rules[%d]", i), item)
		if bad != nil {
			return bad
		}
		r, bad := c.rule(m)
		if bad != nil {
			return bad
		}
		if at, twice := seen[r.Name]; twice {
			return &Error{File: file, Line: m.at["name"], Path: m.under("name"), Found: fmt.Sprintf("%q", r.Name), Wanted: fmt.Sprintf("a name of its own; it is on line %d already", at)}
		}
		seen[r.Name] = m.at["name"]
		p.Rules = append(p.Rules, *r)
	}
	p.series = c.types.series
	return nil
}

// rule reads one rule and compiles its expressions.
func (c *compiler) rule(m *mapping) (*Rule, *Error) {
	r := &Rule{}
	bad := m.only("name", "over", "where", "expression", "message", "messageExpression", "severity")
	if bad != nil {
		return nil, bad
	}
	if r.Name, bad = m.name("name"); bad != nil {
		return nil, bad
	}
	over, bad := m.word("over", string(OverTape), overs()...)
	if bad != nil {
		return nil, bad
	}
	severity, bad := m.word("severity", string(SeverityError), string(SeverityError), string(SeverityWarning))
	if bad != nil {
		return nil, bad
	}
	r.Over, r.Severity = Over(over), Severity(severity)
	if r.Message, _, bad = m.text("message", false); bad != nil {
		return nil, bad
	}
	if m.vals["message"] != nil && m.vals["messageExpression"] != nil {
		return nil, &Error{File: m.file, Line: m.at["messageExpression"], Path: m.under("messageExpression"), Found: "message as well", Wanted: "one of them"}
	}
	for _, e := range []struct {
		key  string
		need bool
		text *string
		to   **program
		as   resultType
	}{
		{"where", false, &r.Where, &r.where, truth},
		{"expression", true, &r.Expression, &r.test, truth},
		{"messageExpression", false, &r.MessageExpression, &r.message, text},
	} {
		source, line, bad := m.text(e.key, e.need)
		if bad != nil {
			return nil, bad
		}
		if source == "" {
			continue
		}
		*e.text = strings.TrimSpace(source)
		if *e.to, bad = c.compile(r.Over, source, place{m.file, m.under(e.key), line}, e.as); bad != nil {
			return nil, bad
		}
	}
	return r, nil
}

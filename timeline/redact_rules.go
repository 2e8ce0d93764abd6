package timeline

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// rule says what is kept of a value.
type rule struct {
	keeps keeps
	kids  []kid // of keepFields
	other *rule // for the members that kids doesn't have; nil drops them
}

type kid struct {
	name string
	rule *rule
}

// keeps is the form of a rule. The zero value keeps nothing.
type keeps uint8

const (
	keepFields      keeps = iota // objects, by their fields
	keepScalar                   // strings, numbers, true, false and null
	keepName                     // the same, never masked
	keepWhole                    // everything
	keepType                     // objects, without their members
	keepAnnotations              // strings, by the keys of annotationKeeps
	keepUnknown                  // fields of a kind that has no rule: counts and times
)

// fieldsText is the table that redact_fields.txt explains.
//
//go:embed redact_fields.txt
var fieldsText string

// groupResource holds what a rule is found by. Versions of a kind share one.
type groupResource struct{ group, resource string }

// fieldRules reads the table, once.
var fieldRules = sync.OnceValue(func() map[groupResource]*rule {
	p := ruleParser{macros: map[string]string{}}
	rules := map[groupResource]*rule{}
	bodies := map[groupResource]string{}
	for _, line := range joinLines(fieldsText) {
		name, body, ok := strings.Cut(line, ":")
		if !ok {
			panic(fmt.Sprintf("redact_fields.txt: %q: found no colon", line))
		}
		if strings.HasPrefix(name, "$") {
			p.macros[name] = body
			continue
		}
		resource, group, _ := strings.Cut(name, ".")
		bodies[groupResource{group, resource}] = body
	}
	for key, body := range bodies {
		rules[key] = p.object(body)
	}
	rules[groupResource{}] = p.object("status{phase conditions{$condition}}").unknown()
	return rules
})

// joinLines returns the lines of a table without comments, each with those
// that continue with it.
func joinLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		switch {
		case line[0] == '#' || line == "\n":
		case line[0] == ' ':
			lines[len(lines)-1] += line
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// unknown makes of r the rule for kinds that the table doesn't have: their
// counts and times are kept as well, at the top, in spec and in status.
func (r *rule) unknown() *rule {
	loose := &rule{keeps: keepUnknown}
	r.other = loose
	spec := &rule{other: loose}
	for _, k := range r.kids {
		if k.name == "status" {
			k.rule.other = loose
		}
	}
	r.kids = append(r.kids, kid{"spec", spec})
	return r
}

// ruleParser reads the bodies of the table. What is wrong in them is a mistake
// in this package, and a panic.
type ruleParser struct {
	macros map[string]string
	text   string
}

// object returns the rule for a kind with the given fields.
func (p *ruleParser) object(body string) *rule {
	return p.fields("apiVersion! kind! metadata{$metadata} " + body)
}

func (p *ruleParser) fields(body string) *rule {
	outer := p.text
	defer func() { p.text = outer }()
	p.text = body
	r := &rule{}
	p.into(r)
	if p.text = strings.TrimSpace(p.text); p.text != "" {
		panic("redact_fields.txt: found " + p.text)
	}
	return r
}

// into reads fields up to a closing brace.
func (p *ruleParser) into(r *rule) {
	for {
		p.text = strings.TrimLeft(p.text, " \n")
		if p.text == "" || p.text[0] == '}' {
			return
		}
		n := strings.IndexAny(p.text+" ", " \n!*@{}")
		if p.text[0] == '*' {
			n = 1
		}
		name := p.text[:n]
		p.text = p.text[n:]
		switch {
		case name == "*":
			r.other = p.form()
		case strings.HasPrefix(name, "$"):
			body, ok := p.macros[name]
			if !ok {
				panic("redact_fields.txt: found no " + name)
			}
			r.kids = append(r.kids, p.fields(body).kids...)
		default:
			r.kids = append(r.kids, kid{name, p.form()})
		}
	}
}

// form reads what follows a name.
func (p *ruleParser) form() *rule {
	c := byte(' ')
	if p.text != "" {
		c = p.text[0]
	}
	switch c {
	case '!':
		p.text = p.text[1:]
		return &rule{keeps: keepName}
	case '*':
		p.text = p.text[1:]
		return &rule{keeps: keepWhole}
	case '@':
		p.text = p.text[1:]
		return &rule{keeps: keepAnnotations}
	case '{':
		p.text = p.text[1:]
		r := &rule{}
		p.into(r)
		if p.text == "" {
			panic("redact_fields.txt: found no closing brace")
		}
		if p.text = p.text[1:]; len(r.kids) == 0 && r.other == nil {
			r.keeps = keepType
		}
		return r
	}
	return &rule{keeps: keepScalar}
}

// find returns the rule for a member, or nil. hint is the place after the last
// one that was found: members mostly come in the order of their structs.
func (r *rule) find(name []byte, hint *int) *rule {
	for i := *hint; i < len(r.kids); i++ {
		if r.kids[i].name == string(name) {
			*hint = i + 1
			return r.kids[i].rule
		}
	}
	for i := range r.kids[:min(*hint, len(r.kids))] {
		if r.kids[i].name == string(name) {
			*hint = i + 1
			return r.kids[i].rule
		}
	}
	return r.other
}

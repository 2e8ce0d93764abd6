package shell

import (
	"fmt"
	"strings"
)

// A command of a line is words and what has to have happened before it.
type command struct {
	after string // "" or ";", "&&", "||"
	words []word
}

// A word is its parts, side by side: text, and variables in the place of which their values go, never split.
type word []part

type part struct {
	text     string
	variable bool
}

// parse takes a line apart, by the rules of the POSIX shell for quotes, comments, ;, && and ||. Everything else that
// means something to a shell is an error, in a shell's words.
func parse(line string) ([]command, error) {
	p := parser{rest: line}
	var all []command
	after := ""
	for {
		p.skip()
		c := command{after: after}
		for p.rest != "" && !strings.ContainsRune(operators, rune(p.rest[0])) {
			w, err := p.word()
			if err != nil {
				return nil, err
			}
			c.words = append(c.words, w)
			p.skip()
		}
		op := p.operator()
		switch {
		case len(c.words) > 0:
			all = append(all, c)
		case op == "" && (after == "" || after == ";"), op == "\n" && after != "&&" && after != "||":
		default:
			return nil, unexpected(op)
		}
		switch op {
		case "":
			return all, nil
		case "\n":
			after = ";"
		case ";", "&&", "||":
			after = op
		default:
			return nil, unexpected(op)
		}
	}
}

// operators begin something that is no word.
const operators = ";&|<>()\n"

func unexpected(op string) error {
	switch op {
	case "":
		op = "end of file"
	case "\n":
		op = "newline"
	}
	return fmt.Errorf("syntax error: %q unexpected", op)
}

type parser struct{ rest string }

// skip skips blanks and a comment.
func (p *parser) skip() {
	p.rest = strings.TrimLeft(p.rest, " \t\r")
	if strings.HasPrefix(p.rest, "#") {
		if end := strings.IndexByte(p.rest, '\n'); end >= 0 {
			p.rest = p.rest[end:]
		} else {
			p.rest = ""
		}
	}
}

func (p *parser) operator() string {
	if p.rest == "" {
		return ""
	}
	length := 1
	if strings.HasPrefix(p.rest, "&&") || strings.HasPrefix(p.rest, "||") {
		length = 2
	}
	op := p.rest[:length]
	p.rest = p.rest[length:]
	return op
}

// word takes one word, which begins here.
func (p *parser) word() (word, error) {
	w := word{{}} // an empty pair of quotes is a word
	text := func(s string) { w = append(w, part{text: s}) }
	for p.rest != "" && !strings.ContainsRune(" \t\r"+operators, rune(p.rest[0])) {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch c {
		case '\'':
			end := strings.IndexByte(p.rest, '\'')
			if end < 0 {
				return nil, fmt.Errorf("syntax error: unterminated quoted string")
			}
			text(p.rest[:end])
			p.rest = p.rest[end+1:]
		case '"':
			if err := p.quoted(&w); err != nil {
				return nil, err
			}
		case '\\':
			if p.rest != "" {
				text(p.rest[:1])
				p.rest = p.rest[1:]
			}
		case '$':
			w = append(w, p.variable())
		case '`':
			return nil, unexpected("`")
		default:
			text(string([]byte{c}))
		}
	}
	return w, nil
}

// quoted takes the rest of a word up to the second of two double quotes.
func (p *parser) quoted(w *word) error {
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return nil
		case c == '$':
			*w = append(*w, p.variable())
		case c == '`':
			return unexpected("`")
		case c == '\\' && p.rest != "" && strings.ContainsRune("\"\\$`\n", rune(p.rest[0])):
			*w = append(*w, part{text: p.rest[:1]})
			p.rest = p.rest[1:]
		default:
			*w = append(*w, part{text: string([]byte{c})})
		}
	}
	return fmt.Errorf("syntax error: unterminated quoted string")
}

// variable takes a name after a dollar sign, or leaves the sign alone.
func (p *parser) variable() part {
	if strings.HasPrefix(p.rest, "?") {
		p.rest = p.rest[1:]
		return part{text: "?", variable: true}
	}
	if inside, ok := strings.CutPrefix(p.rest, "{"); ok {
		if name := name(inside); name != "" && strings.HasPrefix(inside[len(name):], "}") {
			p.rest = inside[len(name)+1:]
			return part{text: name, variable: true}
		}
	}
	if name := name(p.rest); name != "" {
		p.rest = p.rest[len(name):]
		return part{text: name, variable: true}
	}
	return part{text: "$"}
}

// name is the name that a text begins with.
func name(text string) string {
	for i, c := range text {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return text[:i]
		}
	}
	return text
}

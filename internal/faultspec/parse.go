package faultspec

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Error says where the text of a fault is bad. It reads as one line:
//
//	fault "drop:nodes,tpye=DELETED": character 12: found parameter "tpye", want of drop one of namespace, name, …; did you mean type?
type Error struct {
	Spec   string
	At     int // character, counted from 1; 0 for all of it
	Found  string
	Wanted string
	Near   string // what was probably meant; "" for nothing
}

func (e *Error) Error() string {
	s := "fault " + strconv.Quote(e.Spec) + ": "
	if e.At > 0 {
		s += "character " + strconv.Itoa(e.At) + ": "
	}
	s += "found " + e.Found + ", want " + e.Wanted
	if e.Near != "" {
		s += "; did you mean " + e.Near + "?"
	}
	return phrase.Escaped(s)
}

func closest(word string, known []string) string {
	if word == "" {
		return ""
	}
	return phrase.Closest(word, known)
}

// longest bounds how long the text of a fault may be.
const longest = 4096

// Parse reads a fault. Its error is an *Error.
func Parse(text string) (Spec, error) {
	s, err := parse(text)
	if err != nil {
		err.Spec = text
		return Spec{}, err
	}
	return s, nil
}

func parse(text string) (s Spec, fail *Error) {
	if len(text) > longest {
		return s, &Error{Found: strconv.Itoa(len(text)) + " bytes", Wanted: "at most " + strconv.Itoa(longest)}
	}
	place := func(offset int) int { return utf8.RuneCountInString(text[:offset]) + 1 }
	head, rest, more := strings.Cut(text, ",")
	name, resource, named := strings.Cut(head, ":")
	kind, ok := KindOf(name)
	if !ok {
		var known []string
		for _, k := range kinds {
			known = append(known, k.Name)
		}
		return s, &Error{At: 1, Found: "kind " + strconv.Quote(name), Wanted: strings.Join(known, ", "), Near: closest(name, known)}
	}
	s.Kind, s.Resource = name, resource
	if named && (resource == "" || strings.IndexFunc(resource, notOfResource) >= 0) {
		return s, &Error{At: place(len(name) + 1), Found: "resource " + strconv.Quote(resource), Wanted: "one such as nodes, po, Node or poddisruptionbudgets.policy"}
	}
	for given, offset := []string{}, len(head)+1; more; {
		key, value, quoted, length := next(rest)
		at := place(offset)
		switch {
		case length < 0:
			return s, &Error{At: place(offset + len(key) + 1), Found: "a quoted value without its end", Wanted: `"…" as Go writes strings, then a comma or the end`}
		case !slices.Contains(kind.Params, key):
			return s, &Error{At: at, Found: "parameter " + strconv.Quote(key), Wanted: "of " + kind.Name + " one of " + strings.Join(kind.Params, ", "), Near: closest(key, kind.Params)}
		case !quoted && !strings.Contains(rest[:length], "="):
			return s, &Error{At: at, Found: key + " without a value", Wanted: key + "=" + paramOf(key).Value}
		case slices.Contains(given, key):
			return s, &Error{At: at, Found: key + " twice", Wanted: "it once"}
		}
		given = append(given, key)
		if e := paramOf(key).set(&s, value); e != nil {
			e.At = place(offset + len(key) + 1)
			if e.Found == "" {
				e.Found = strconv.Quote(value)
			}
			e.Found = key + " " + e.Found
			return s, e
		}
		offset += length + 1
		if more = length < len(rest); more {
			rest = rest[length+1:]
		}
	}
	return s, s.whole()
}

// whole checks parameters against each other.
func (s Spec) whole() *Error {
	switch {
	case s.Seed != 0 && s.P == 0:
		return &Error{Found: "seed without p", Wanted: "p as well, such as p=0.2"}
	case s.Lose != "" && s.Types != "":
		return &Error{Found: "lose and type", Wanted: "one of them: lose says which events it closes before"}
	}
	return nil
}

func notOfResource(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-')
}

// next takes the first parameter off a text; length is that of its text, less
// than 0 where a quote isn't closed.
func next(rest string) (key, value string, quoted bool, length int) {
	end := strings.IndexByte(rest, ',')
	if end < 0 {
		end = len(rest)
	}
	eq := strings.IndexByte(rest[:end], '=')
	if eq < 0 {
		return rest[:end], "", false, end
	}
	key = rest[:eq]
	if v := rest[eq+1:]; strings.HasPrefix(v, `"`) {
		q, err := strconv.QuotedPrefix(v)
		if err == nil {
			value, err = strconv.Unquote(q)
		}
		if err != nil || len(q) < len(v) && v[len(q)] != ',' {
			return key, "", true, -1
		}
		return key, value, true, eq + 1 + len(q)
	}
	return key, rest[eq+1 : end], false, end
}

func paramOf(name string) Param {
	for _, p := range params {
		if p.Name == name {
			return p
		}
	}
	return Param{}
}

// String returns the text that Parse reads as this Spec.
func (s Spec) String() string {
	var b strings.Builder
	b.WriteString(s.Kind)
	if s.Resource != "" {
		b.WriteString(":" + s.Resource)
	}
	for _, p := range params {
		v := p.get(s)
		if v == "" {
			continue
		}
		if strings.ContainsFunc(v, func(r rune) bool {
			return r == ',' || r == '"' || r <= ' ' || r == utf8.RuneError || !strconv.IsPrint(r)
		}) {
			v = strconv.Quote(v)
		}
		b.WriteString("," + p.Name + "=" + v)
	}
	return b.String()
}

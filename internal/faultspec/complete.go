package faultspec

import (
	"maps"
	"slices"
	"strings"
)

// Completion is a text that a fault may be continued to.
type Completion struct {
	// Text begins with what was to be completed. Where it isn't a whole fault yet it
	// ends in what comes next: "=" after a parameter, ":" within a value.
	Text string
	// Does says what the last part of it means, in a few words; "" where it says it
	// itself.
	Does string
}

// Complete returns how a text being typed may continue: the kinds,
// the resources after "kind:", the parameters of the kind that aren't given yet, and
// the values of a parameter: all of them where they can be counted, else the example
// of its table. A text that can't become a fault has none. The order is that of the
// tables, of resources that of their names.
func Complete(text string) []Completion {
	head, last := "", text
	if i := lastComma(text); i >= 0 {
		head, last = text[:i+1], text[i+1:]
	}
	if head == "" {
		return completeHead(last)
	}
	name, _, _ := strings.Cut(head[:strings.IndexByte(head, ',')], ":")
	kind, ok := KindOf(name)
	if !ok {
		return nil
	}
	key, value, valued := strings.Cut(last, "=")
	if valued {
		if !slices.Contains(kind.Params, key) {
			return nil
		}
		return paramOf(key).complete(head+key+"=", value)
	}
	var all []Completion
	for _, p := range params {
		if slices.Contains(kind.Params, p.Name) && strings.HasPrefix(p.Name, last) && !strings.Contains(head, ","+p.Name+"=") {
			all = append(all, Completion{head + p.Name + "=", p.Does})
		}
	}
	return all
}

// lastComma is where the last comma outside of quotes stands; -1 for none.
func lastComma(text string) int {
	last, quoted := -1, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			last = i
		}
	}
	return last
}

// completeHead completes kind:resource.
func completeHead(text string) []Completion {
	name, word, named := strings.Cut(text, ":")
	var all []Completion
	if !named {
		for _, k := range kinds {
			if strings.HasPrefix(k.Name, name) {
				all = append(all, Completion{k.Name, k.Does})
			}
		}
		return all
	}
	if _, ok := KindOf(name); !ok {
		return nil
	}
	for _, plural := range slices.Sorted(maps.Values(short)) {
		if strings.HasPrefix(plural, word) {
			all = append(all, Completion{name + ":" + plural, ""})
		}
	}
	return all
}

// complete completes a value after what is before it.
func (p Param) complete(before, value string) (all []Completion) {
	offer := func(word, does string) {
		if strings.HasPrefix(word, value) {
			all = append(all, Completion{before + word, does})
		}
	}
	switch p.Name {
	case "type", "lose":
		return completeWords(types, before, value)
	case "verb":
		return completeWords(verbs, before, value)
	case "in":
		offer("stream", "")
		offer("open", "")
	case "initial":
		offer("true", "")
	case "when":
		offer("complete", "a roll is complete")
		offer("failed", "a roll has failed")
		offer("mark:", "the tape comes to a mark of this name")
		if of := strings.LastIndexByte(value, ':') + 1; of > len("node:") && strings.HasPrefix(value, "node:") {
			before, value = before+value[:of], value[of:]
			for _, s := range states {
				offer(s, "")
			}
			return all
		}
		offer("node:*:", "a node comes into a state")
	case "namespace", "name", "selector": // what is on the tape isn't known here
	default:
		offer(p.Value, p.Does)
	}
	return all
}

// completeWords completes the last of several words that "+" joins, those before it
// left out.
func completeWords(known []string, before, value string) (all []Completion) {
	given := strings.Split(value, "+")
	last := given[len(given)-1]
	given = given[:len(given)-1]
	for _, w := range given {
		if !slices.Contains(known, w) {
			return nil
		}
	}
	before += value[:len(value)-len(last)]
	for _, w := range known {
		if strings.HasPrefix(w, last) && !slices.Contains(given, w) {
			all = append(all, Completion{before + w, ""})
		}
	}
	return all
}

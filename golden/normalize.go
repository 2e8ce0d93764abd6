package golden

import (
	"fmt"
	"regexp"
	"strings"
)

// A Rule says which parts of a text vary from run to run. The zero Rule
// changes nothing.
type Rule struct {
	kind     string
	pattern  *regexp.Regexp
	identity func(string) string // two values with one identity get one number
	rewrite  func(string) string
}

// Replace makes a rule that replaces what the pattern matches by <kind:1>,
// <kind:2> and so on. Where the pattern has a group, the first group that took
// part is replaced and what is around it stays.
func Replace(kind string, pattern *regexp.Regexp) Rule {
	return Rule{kind: kind, pattern: pattern}
}

// Rewrite makes a rule of any function from text to text, which must be pure.
// Such rules run before all others, in the order given.
func Rewrite(f func(text string) string) Rule { return Rule{rewrite: f} }

var (
	uidPattern  = regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
	rvPattern   = regexp.MustCompile(`(?:^|[^\w<])(?:resourceVersion|rv)(?:\\?")?[ \t]*[:=][ \t]*(?:\\?")?([0-9]+)\b`)
	timePattern = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2}\b)`)
)

// UIDs replaces UUIDs, the form of a Kubernetes object's UID (RFC
// 4122), by <uid:1> and so on. Upper and lower case are one value.
func UIDs() Rule { return Rule{kind: "uid", pattern: uidPattern, identity: strings.ToLower} }

// ResourceVersions replaces the numbers after the keys resourceVersion and rv,
// in JSON (quoted JSON as well), YAML and key=value form, by <rv:1> and so on.
func ResourceVersions() Rule { return Replace("rv", rvPattern) }

// Times replaces moments in the form of RFC 3339, with or without a fraction,
// by <time:1> and so on. Durations and positions such as T+12.5s are no wall
// times and stay.
func Times() Rule { return Replace("time", timePattern) }

// Normalize applies the rules to a text and returns it. Rules of one kind
// count together, each kind from 1, in the order of first appearance in the
// text. A later rule sees nothing of what an earlier one replaced.
func Normalize(text string, rules ...Rule) string {
	for _, rule := range rules {
		if rule.rewrite != nil {
			text = rule.rewrite(text)
		}
	}
	pieces := []piece{{text: text}}
	for _, rule := range rules {
		if rule.pattern != nil {
			pieces = rule.split(pieces)
		}
	}
	return join(pieces)
}

// A piece is a part of the text: as it was, or one value that a rule has taken
// out. Placeholders are numbered only when all rules have run, so that the
// numbers follow the text, not the rules.
type piece struct {
	text  string
	kind  string // of the rule that took it, with taken
	taken bool
}

func (r Rule) split(pieces []piece) []piece {
	var out []piece
	for _, p := range pieces {
		if p.taken {
			out = append(out, p)
			continue
		}
		rest := 0
		for _, match := range r.pattern.FindAllStringSubmatchIndex(p.text, -1) {
			from, to := firstGroup(match)
			if from == to {
				continue // An empty match has no value to replace.
			}
			value := p.text[from:to]
			if r.identity != nil {
				value = r.identity(value)
			}
			out = append(out, piece{text: p.text[rest:from]}, piece{text: value, kind: r.kind, taken: true})
			rest = to
		}
		out = append(out, piece{text: p.text[rest:]})
	}
	return out
}

// firstGroup returns the bounds of the first group that took part in a match,
// or those of the whole match where the pattern has no such group.
func firstGroup(match []int) (from, to int) {
	for i := 2; i+1 < len(match); i += 2 {
		if match[i] >= 0 {
			return match[i], match[i+1]
		}
	}
	return match[0], match[1]
}

func join(pieces []piece) string {
	type value struct{ kind, text string }
	numbers := make(map[value]int)
	count := make(map[string]int)
	var b strings.Builder
	for _, p := range pieces {
		if !p.taken {
			b.WriteString(p.text)
			continue
		}
		v := value{p.kind, p.text}
		if numbers[v] == 0 {
			count[p.kind]++
			numbers[v] = count[p.kind]
		}
		fmt.Fprintf(&b, "<%s:%d>", p.kind, numbers[v])
	}
	return b.String()
}

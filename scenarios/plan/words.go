package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// short is a duration for people, in whole seconds: 2h10m, 38m12s, 0s.
func short(d time.Duration) string {
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// String is the duration for people.
func (d Duration) String() string { return short(time.Duration(d)) }

// took is a duration that may be absent.
func took(d *Duration) string {
	if d == nil {
		return "-"
	}
	return d.String()
}

// hours are node hours: 3.2.
func (d Duration) hours() string { return fmt.Sprintf("%.1f", time.Duration(d).Hours()) }

// headline is the answer: how long, and whether it ends.
func (p *Plan) headline() string {
	of := "The roll of " + noderoll.Brief(strings.Join(p.Groups, ", "), 60)
	switch {
	case p.Ends == 0:
		return fmt.Sprintf("%s does not end: none of %s does.", of, phrase.Count(p.Runs, "run"))
	case p.Ends < p.Runs:
		return fmt.Sprintf("%s does not end in %d of %s; else it takes %s.", of, p.Runs-p.Ends, phrase.Count(p.Runs, "run"), p.Duration.text())
	}
	return fmt.Sprintf("%s takes %s.", of, p.Duration.text())
}

// text is the spread in one line.
func (s *Spread) text() string {
	return fmt.Sprintf("%s (P50), %s (P90), %s (P99)", s.P50, s.P90, s.P99)
}

// how says in one line by what settings, and of how many runs.
func (p *Plan) how() string {
	var parts []string
	for _, s := range p.Roll {
		if s.Key == "strategy" {
			parts = append(parts, s.Value)
		} else {
			parts = append(parts, s.Key+"="+s.Value)
		}
	}
	for _, c := range p.WhatIf {
		parts = append(parts, "with "+noderoll.OneLine(c))
	}
	return strings.Join(parts, ", ")
}

// unread reports whether none of a sort of object could be read of the cluster.
func (p *Plan) unread(of string) bool { return spec.Unread(p.LeftOut, of) }

// nothingBlocks says that the runs show nothing that holds up the roll, as far as that tells something of the cluster.
func (p *Plan) nothingBlocks() string {
	switch {
	case p.unread(spec.PodsOfCluster):
		return "What holds up the roll isn't known: no pod was read, so no drain has anything to wait for here."
	case p.unread(spec.BudgetsOfCluster):
		return "Whether a budget holds up the roll isn't known: none was read. Nothing else does for a minute."
	}
	return "Nothing holds up the roll: no budget for ten seconds, nothing else for a minute."
}

// mayBlock says, beside what does hold up the roll, what else may and wasn't read; or nothing.
func (p *Plan) mayBlock() string {
	switch {
	case p.unread(spec.PodsOfCluster):
		return "What else holds up the roll isn't known: no pod was read."
	case p.unread(spec.BudgetsOfCluster):
		return "Whether a budget holds up the roll isn't known: none was read."
	}
	return ""
}

// size says what is rolled, to what, and how often it was tried.
func (p *Plan) size() string {
	to := map[string]bool{}
	var targets []string
	for _, t := range p.To {
		if what := noderoll.OneLine(t.Version + " on " + t.InstanceType); !to[what] {
			to[what] = true
			targets = append(targets, what)
		}
	}
	last := p.Seed + uint64(p.Runs) - 1
	return fmt.Sprintf("%s to %s; %s; seeds %d to %d.", phrase.Count(p.Nodes, "node"), strings.Join(targets, ", "), phrase.Count(p.Pods, "pod"), p.Seed, last)
}

// capacity says how many more nodes there are.
func (p *Plan) capacity() string {
	c := &p.Capacity
	if c.MostPeak == 0 {
		return "No more nodes than before the roll."
	}
	peak := fmt.Sprintf("Up to %s more than before", phrase.Count(c.MostPeak, "node"))
	if c.Peak != c.MostPeak {
		peak += fmt.Sprintf(" (%d in the middle run)", c.Peak)
	}
	return fmt.Sprintf("%s, %s node hours of the roll's %s.", peak, c.ExtraHours.hours(), c.NodeHours.hours())
}

// known says which durations are measured.
func (t *Timings) known() string {
	others := fmt.Sprintf("%d are estimates, %d published (docs/scenarios.md, Timings).", len(t.Estimates), t.Published)
	if len(t.Measured)+len(t.Stated) == 0 {
		return "No duration is measured in this cluster: " + others
	}
	var parts, names []string
	for _, m := range t.Measured {
		name := m.Name
		if m.Samples > 0 {
			name += fmt.Sprintf(" (%s)", phrase.Count(m.Samples, "sample"))
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		parts = append(parts, "Measured: "+strings.Join(names, ", ")+".")
	}
	if len(t.Stated) > 0 {
		parts = append(parts, "The scenario states: "+strings.Join(t.Stated, ", ")+".")
	}
	return strings.Join(append(parts, "Of the others "+others), " ")
}

// Failure says in one line what a plan doesn't hold; "" where it holds.
func (p *Plan) Failure() string {
	var parts []string
	if n := p.Runs - p.Ends; n > 0 {
		parts = append(parts, fmt.Sprintf("the roll does not end by itself in %d of %s", n, phrase.Count(p.Runs, "run")))
	}
	if b := p.broken(); b != nil {
		parts = append(parts, fmt.Sprintf("the policy %s is violated in %d of %s", b.Policy, b.Runs, phrase.Count(p.Runs, "run")))
	}
	return strings.Join(parts, ", and ")
}

// Failure says in one line that none of the variants holds, and speaks of policies where one is violated; "" where a variant holds.
func (c *Comparison) Failure() string {
	if c.Holds() {
		return ""
	}
	none := fmt.Sprintf("none of %s ends by itself in every run", phrase.Count(len(c.Variants), "combination"))
	if slices.ContainsFunc(c.Variants, func(v Variant) bool { return v.Plan.broken() != nil }) {
		return none + " and violates no policy: want one that does both"
	}
	return none + ": want one that does"
}

// wrap breaks a text into lines of at most so many characters, each after an indent.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	line := 0
	for _, word := range strings.Fields(noderoll.OneLine(text)) {
		n := utf8.RuneCountInString(word)
		switch {
		case line == 0:
			b.WriteString(indent)
			line = len(indent)
		case line+1+n > width:
			b.WriteString("\n" + indent)
			line = len(indent)
		default:
			b.WriteString(" ")
			line++
		}
		b.WriteString(word)
		line += n
	}
	return b.String()
}

// named are some of the pods that waited.
func (b *Block) named() string {
	const some = 3
	shown := b.Pods[:min(len(b.Pods), some)]
	text := strings.Join(shown, ", ")
	if more := len(b.Pods) + b.MorePods - len(shown); more > 0 {
		text += fmt.Sprintf(", %d more", more)
	}
	return text
}

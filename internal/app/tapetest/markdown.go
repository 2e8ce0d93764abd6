package tapetest

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the report as a summary for a build service's page: a table of tapes and rules, with what violates
// them, be it only a warning.
func (rep Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### nodesim test: %s\n\n| tape | check | result |\n|---|---|---|\n", rep.Summary())
	for _, r := range rep.Results {
		for _, text := range r.Failures {
			first, _, _ := strings.Cut(text, "\n")
			fmt.Fprintf(&b, "| %s | tape | **failed**: %s |\n", cell(r.Name), cell(first))
		}
		if len(r.Failures)+len(r.Policies) == 0 {
			fmt.Fprintf(&b, "| %s | tape | passed |\n", cell(r.Name))
		}
		for _, p := range r.Policies {
			for _, rule := range p.Rules {
				said := cell(rule.Summary())
				if rule.Failed() {
					said = "**failed**: " + said
				}
				for _, v := range violations(rule) {
					said += "<br>" + cell(v)
				}
				fmt.Fprintf(&b, "| %s | %s/%s | %s |\n", cell(r.Name), p.Policy, rule.Rule, said)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell keeps a text from being Markdown or HTML: every mark that has a meaning there is a reference to itself.
func cell(text string) string {
	var b strings.Builder
	for _, r := range clean(text) {
		if strings.ContainsRune("\\`*_{}[]<>&|~#!$@:", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

package tapetest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/nodesim/nodesim/replay/policy"
)

// JUnit writes the report in the XML that build services read: one suite, one
// case a tape, and one a rule of the policies that it is held against. A rule
// that applied to nothing is skipped, and warnings are a case's output.
func (rep Report) JUnit(w io.Writer) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type skipped struct {
		Message string `xml:"message,attr"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Skipped *skipped `xml:"skipped,omitempty"`
		Out     string   `xml:"system-out,omitempty"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	s := suite{Name: "nodesim test"}
	var total time.Duration
	for _, r := range rep.Results {
		total += r.Took
		c := testcase{Class: "nodesim.tape", Name: valid(r.Name), Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
		if len(r.Failures) > 0 {
			first, _, _ := strings.Cut(r.Failures[0], "\n")
			c.Failure = &failure{Message: valid(first), Text: valid(strings.Join(r.Failures, "\n"))}
		}
		s.Cases = append(s.Cases, c)
		for _, p := range r.Policies {
			for _, rule := range p.Rules {
				c := testcase{Class: "nodesim.policy." + p.Policy, Name: valid(r.Name) + ": " + rule.Rule, Time: "0.000"}
				switch said := valid(strings.Join(violations(rule), "\n")); {
				case rule.Failed():
					c.Failure = &failure{Message: rule.Summary(), Text: said}
				case rule.Applied == 0:
					c.Skipped = &skipped{rule.Summary()}
				case said != "":
					c.Out = rule.Summary() + "\n" + said
				}
				s.Cases = append(s.Cases, c)
			}
		}
	}
	for _, c := range s.Cases {
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Skipped != nil {
			s.Skipped++
		}
	}
	s.Time = fmt.Sprintf("%.3f", total.Seconds())
	text, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func violations(rule policy.RuleResult) (all []string) {
	for i := range rule.Violations {
		all = append(all, rule.Violations[i].String())
	}
	if rule.MoreViolations > 0 {
		all = append(all, fmt.Sprintf("and %d more", rule.MoreViolations))
	}
	return all
}

// valid drops what XML 1.0 can't hold.
func valid(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

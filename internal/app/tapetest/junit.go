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
// case a tape, and one a rule of the policies that it is held against.
func (rep Report) JUnit(w io.Writer) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure,omitempty"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
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
				if rule.Failed() {
					c.Failure = &failure{Message: rule.Summary(), Text: valid(strings.Join(violations(rule), "\n"))}
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

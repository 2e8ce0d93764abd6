package tapetest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// JUnit writes the report in the XML that build services read: one suite, one
// case a tape.
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
	s := suite{Name: "nodesim test", Tests: len(rep.Results), Failures: rep.Failed}
	var total time.Duration
	for _, r := range rep.Results {
		total += r.Took
		c := testcase{Class: "nodesim.tape", Name: valid(r.Name), Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
		if !r.Passed() {
			first, _, _ := strings.Cut(r.Failures[0], "\n")
			c.Failure = &failure{Message: valid(first), Text: valid(strings.Join(r.Failures, "\n"))}
		}
		s.Cases = append(s.Cases, c)
	}
	s.Time = fmt.Sprintf("%.3f", total.Seconds())
	text, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
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

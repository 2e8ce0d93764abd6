package calibrate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
)

// Text writes the result for people.
func (r *Result) Text(w io.Writer) error {
	var b strings.Builder
	provider := ""
	if r.Provider != "" {
		provider = " of " + noderoll.OneLine(r.Provider)
	}
	fmt.Fprintf(&b, "%s%s:", phrase.Count(len(r.Tapes), "tape"), provider)
	for i, t := range r.Tapes {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s (%s)", noderoll.OneLine(t.Name), strings.Join(t.about(), ", "))
	}
	b.WriteByte('\n')
	r.measured(&b)
	r.estimates(&b)
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// about is what of a tape bears on its samples.
func (t *Tape) about() []string {
	all := []string{short(t.Duration)}
	if t.Gaps > 0 {
		all = append(all, phrase.Count(t.Gaps, "gap"))
	}
	if t.Whole {
		all = append(all, "whole seconds")
	}
	if !t.Complete {
		all = append(all, "not complete")
	}
	return all
}

func (r *Result) measured(b *strings.Builder) {
	if len(r.Measured) == 0 {
		b.WriteString("\nmeasured: nothing\n")
		return
	}
	b.WriteString("\nmeasured\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  TIMING\tSAMPLES\tTAPES\tMEDIAN\tP95\tIN A SIMULATION\tESTIMATE\t")
	for i := range r.Measured {
		m := &r.Measured[i]
		fmt.Fprintf(w, "  %s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Samples, len(m.Tapes), short(m.Found.Median), short(m.Found.P95), m.Takes, m.Estimate, strings.Join(m.remarks(), "; "))
	}
	_ = w.Flush() // into a strings.Builder
}

// remarks are what there is to say of a timing besides its figures.
func (m *Measured) remarks() (all []string) {
	if rule := m.Rule(); rule != "" {
		all = append(all, rule)
	}
	if m.Unfinished > 0 {
		all = append(all, fmt.Sprintf("%d more had not ended", m.Unfinished))
	}
	switch {
	case m.extrapolated:
		all = append(all, "less than 95 % had ended: the p95 is extrapolated")
	case m.Beyond:
		all = append(all, "less than 95 % had ended: the p95 is the longest that is known")
	}
	if n := len(m.Apart); n > 0 {
		all = append(all, fmt.Sprintf("%d far out, up to %s, not counted", n, short(m.Apart[n-1])))
	}
	return all
}

func (r *Result) estimates(b *strings.Builder) {
	b.WriteString("\nstill estimates\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, e := range r.Estimates {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", e.Name, e.Takes, e.Why)
	}
	_ = w.Flush() // into a strings.Builder
	fmt.Fprintf(b, "  and %s that no tape tells of, or that are settings: docs/scenarios.md lists them\n", phrase.Count(r.Others, "timing"))
}

// String is a pair of figures in a table.
func (q Quantiles) String() string { return short(q.Median) + " (p95 " + short(q.P95) + ")" }

// short is a duration with three digits or four.
func short(d time.Duration) string { return rounded(d).String() }

// JSON is the result for programs, on one line. Durations are decimal seconds: "92.412s".
func (r *Result) JSON() []byte {
	type quantiles struct {
		Median string `json:"median"`
		P95    string `json:"p95"`
	}
	figures := func(q Quantiles) quantiles { return quantiles{seconds(q.Median), seconds(q.P95)} }
	type tape struct {
		Name         string `json:"name"`
		Events       int    `json:"events"`
		Duration     string `json:"duration"`
		Gaps         int    `json:"gaps"`
		WholeSeconds bool   `json:"wholeSeconds"`
		Complete     bool   `json:"complete"`
	}
	type measured struct {
		Name       string    `json:"name"`
		From       string    `json:"from"`
		Until      string    `json:"until,omitempty"`
		Samples    int       `json:"samples"`
		Unfinished int       `json:"unfinished"`
		Apart      []string  `json:"apart"`
		Found      quantiles `json:"found"`
		Takes      quantiles `json:"takes"`
		Estimate   quantiles `json:"estimate"`
		Tapes      []string  `json:"tapes"`
	}
	type estimate struct {
		Name  string `json:"name"`
		Takes string `json:"takes"`
		Why   string `json:"why"`
	}
	out := struct {
		Provider  string     `json:"provider"`
		Tapes     []tape     `json:"tapes"`
		Measured  []measured `json:"measured"`
		Estimates []estimate `json:"estimates"`
		Others    int        `json:"others"`
	}{Provider: r.Provider, Tapes: []tape{}, Measured: []measured{}, Estimates: []estimate{}, Others: r.Others}
	for _, t := range r.Tapes {
		out.Tapes = append(out.Tapes, tape{t.Name, t.Events, seconds(t.Duration), t.Gaps, t.Whole, t.Complete})
	}
	for _, m := range r.Measured {
		apart := []string{}
		for _, d := range m.Apart {
			apart = append(apart, seconds(d))
		}
		out.Measured = append(out.Measured, measured{
			m.Name, m.From, m.Until, m.Samples, m.Unfinished, apart, figures(m.Found), figures(m.Takes), figures(m.Estimate), m.Tapes,
		})
	}
	for _, e := range r.Estimates {
		out.Estimates = append(out.Estimates, estimate{e.Name, e.Takes.String(), e.Why})
	}
	text, _ := json.Marshal(out) // of texts and numbers alone
	return append(text, '\n')
}

func seconds(d time.Duration) string { return string(noderoll.AppendSeconds(nil, d)) }

package diff

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
)

// mostRows of a scope are shown to people; JSON has them all.
const mostRows = 20

// Text writes the comparison for people: the largest change of a roll and what explains it in the first line, then a table for
// each scope.
func (d *Diff) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(d.Headline() + "\n\n")
	for _, s := range []struct {
		name string
		Side
	}{{"A", d.A}, {"B", d.B}} {
		fmt.Fprintf(&b, "%s: %s, %s in %s", s.name, cmp.Or(s.Tape, "(no name)"), phrase.Count(s.Rolls, "roll"), people(s.Duration))
		if !s.Complete {
			b.WriteString(", the tape is cut off")
		}
		if s.Gaps > 0 {
			b.WriteString(", " + phrase.Count(s.Gaps, "gap"))
		}
		b.WriteByte('\n')
	}
	for _, scope := range Scopes() {
		d.table(&b, scope)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func (d *Diff) table(b *strings.Builder, scope Scope) {
	var rows []Row
	for _, r := range d.Rows {
		if r.Scope == scope {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\t\tA\tB\tCHANGE\tWHY\n", strings.ToUpper(string(scope)))
	for _, r := range rows[:min(len(rows), mostRows)] {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Object, r.Measure, r.A, r.B, r.Change(), r.Because())
	}
	t.Flush()
	if more := len(rows) - mostRows; more > 0 {
		fmt.Fprintf(b, "and %d more\n", more)
	}
}

// Headline is the largest change of a roll, in one sentence with the first of what explains it.
func (d *Diff) Headline() string {
	if len(d.Rows) == 0 {
		return "no difference"
	}
	outcome := ""
	for _, r := range d.Rows {
		if r.Scope != ScopeRoll || r.Measure != "outcome" && r.Measure != "duration" {
			continue
		}
		said := r.ofRoll()
		switch {
		case said == "":
		case len(r.Why) > 0 && r.A != nil && r.B != nil:
			return r.Why[0].sentence() + ": " + said
		case r.Measure == "duration":
			return cmp.Or(outcome, said)
		}
		outcome = cmp.Or(outcome, said)
	}
	if outcome != "" {
		return outcome
	}
	first := d.Rows[0]
	return fmt.Sprintf("no roll took longer or shorter; %s: %s is %s in A and %s in B", first.Object, first.Measure, first.A, first.B)
}

// ofRoll says how the duration or outcome of a roll differs. A roll that only one side has is told of by its duration.
func (r Row) ofRoll() string {
	delta, timed := r.Delta()
	switch {
	case timed:
		return fmt.Sprintf("the roll of %s is %s in B", r.Object, longer(delta.Duration))
	case r.A != nil && r.B != nil:
		return fmt.Sprintf("the roll of %s is %s in A and %s in B", r.Object, r.A, r.B)
	case r.Measure == "outcome":
		return ""
	case r.A == nil:
		return fmt.Sprintf("the roll of %s is only in B, and took %s", r.Object, r.B)
	}
	return fmt.Sprintf("the roll of %s is only in A, and took %s", r.Object, r.A)
}

func longer(d time.Duration) string {
	if d < 0 {
		return people(-d) + " shorter"
	}
	return people(d) + " longer"
}

// sentence says what a reason was on both sides.
func (r Reason) sentence() string {
	of := r.Kind
	if r.Object != "" {
		of = r.Object + " (" + r.Kind + ")"
	}
	switch {
	case r.A == 0:
		return fmt.Sprintf("%s cost %s in B, and nothing in A", of, people(r.B))
	case r.B == 0:
		return fmt.Sprintf("%s cost %s in A, and nothing in B", of, people(r.A))
	}
	return fmt.Sprintf("%s cost %s in A, and %s in B", of, people(r.A), people(r.B))
}

// Because is Why for people: each wait with by how much it changed.
func (r Row) Because() string {
	var all []string
	for _, w := range r.Why {
		all = append(all, fmt.Sprintf("%s %s", strings.TrimSpace(w.Kind+" "+w.Object), signed(w.Delta())))
	}
	return strings.Join(all, "; ")
}

// Change is Delta for people, with its sign.
func (r Row) Change() string {
	delta, ok := r.Delta()
	switch {
	case !ok:
		return ""
	case delta.Unit == UnitCount:
		return fmt.Sprintf("%+d", delta.Count)
	}
	return signed(delta.Duration)
}

// String is a value for people.
func (v *Value) String() string {
	switch {
	case v == nil:
		return "-"
	case v.Unit == UnitDuration:
		return people(v.Duration)
	case v.Unit == UnitCount:
		return fmt.Sprint(v.Count)
	}
	return phrase.Escaped(v.Word)
}

func signed(d time.Duration) string {
	if d < 0 {
		return people(d)
	}
	return "+" + people(d)
}

// people is a duration as people want it: seconds matter in minutes, and milliseconds in seconds.
func people(d time.Duration) string {
	if d.Abs() < time.Minute {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

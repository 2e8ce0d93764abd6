package inspect

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// Text writes the report for people.
func (rep *Report) Text(w io.Writer) error {
	var b strings.Builder
	rep.summary(&b)
	rep.table(&b)
	rep.incidents(&b)
	rep.rollsText(&b)
	rep.violationsText(&b)
	for i := range rep.Policies {
		b.WriteByte('\n')
		_ = rep.Policies[i].Text(&b) // a Builder takes all
	}
	for line := range strings.Lines(b.String()) {
		// A table pads what is before an empty last cell.
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// summary says in three lines what the tape is.
func (rep *Report) summary(b *strings.Builder) {
	h := rep.Header
	fmt.Fprintf(b, "%s: %s", noderoll.OneLine(cmp.Or(h.Metadata.Name, "(no name)")), noderoll.OneLine(cmp.Or(string(h.Source.Kind), "tape")))
	if h.Source.Program != "" {
		fmt.Fprintf(b, ", written by %s", noderoll.OneLine(h.Source.Program))
	}
	if h.Source.Server != "" {
		fmt.Fprintf(b, ", API server %s", noderoll.OneLine(h.Source.Server))
	}
	if !h.Metadata.Start.IsZero() {
		fmt.Fprintf(b, ", started %s", h.Metadata.Start.Format("2006-01-02 15:04:05 MST"))
	}
	if h.Source.Times == timeline.TimesDerived {
		b.WriteString(", times derived from the objects")
	}
	b.WriteByte('\n')
	switch s := h.Scope; {
	case s.Pods != "" && s.Namespace != "":
		fmt.Fprintf(b, "pods of namespace %s that match %s", noderoll.OneLine(s.Namespace), noderoll.OneLine(s.Pods))
	case s.Pods != "":
		fmt.Fprintf(b, "pods that match %s", noderoll.OneLine(s.Pods))
	case s.Nodegroup != "":
		fmt.Fprintf(b, "node group %s", noderoll.OneLine(s.Nodegroup))
	case s.Selector != "":
		fmt.Fprintf(b, "nodes that match %s", noderoll.OneLine(s.Selector))
	default:
		b.WriteString("all nodes")
	}
	if h.Scope.Provider != "" {
		fmt.Fprintf(b, " (%s)", noderoll.OneLine(h.Scope.Provider))
	}
	fmt.Fprintf(b, "\n%s in %s, %s", phrase.Count(rep.Events, "event"), rep.Duration.Round(time.Millisecond), gaps(len(rep.Gaps)))
	switch {
	case rep.Complete:
		b.WriteString(", complete\n")
	case rep.Torn != "":
		fmt.Fprintf(b, ", not complete: %s\n", noderoll.OneLine(rep.Torn))
	default:
		b.WriteString(", not complete: it ends without END\n")
	}
}

// table counts the lines of each resource by type.
func (rep *Report) table(b *strings.Builder) {
	types := []timeline.Type{timeline.Added, timeline.Modified, timeline.Deleted, timeline.Sync, timeline.Gap}
	for _, counts := range rep.Resources {
		for _, typ := range slices.Sorted(maps.Keys(counts)) {
			if !slices.Contains(types, typ) {
				types = append(types, typ)
			}
		}
	}
	slices.Sort(types[5:])
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "RESOURCE")
	for _, typ := range types {
		fmt.Fprintf(t, "\t%s", noderoll.OneLine(string(typ)))
	}
	fmt.Fprintln(t)
	for _, key := range slices.Sorted(maps.Keys(rep.Resources)) {
		fmt.Fprint(t, noderoll.OneLine(key))
		for _, typ := range types {
			fmt.Fprintf(t, "\t%d", rep.Resources[key][typ])
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// incidents are the gaps and marks.
func (rep *Report) incidents(b *strings.Builder) {
	if len(rep.Gaps)+len(rep.Marks) == 0 {
		return
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, g := range rep.Gaps {
		fmt.Fprintf(t, "%s\tgap\t%s\t%s\n", noderoll.AppendStamp(nil, g.At), noderoll.OneLine(g.Resource), noderoll.OneLine(g.Reason))
	}
	for _, m := range rep.Marks {
		fmt.Fprintf(t, "%s\tmark\t%s\t%s\n", noderoll.AppendStamp(nil, m.At), noderoll.OneLine(m.Name), noderoll.OneLine(m.Reason))
	}
	t.Flush()
}

func (rep *Report) rollsText(b *strings.Builder) {
	for _, r := range rep.Rolls {
		if r.Pods != nil {
			fmt.Fprintf(b, "\nroll of pods %s: %s, %s\n", noderoll.OneLine(r.Pods.Scope), r.Pods, r.Outcome)
		} else {
			fmt.Fprintf(b, "\nroll of %s: %s replaced, %d joined, %s\n",
				noderoll.OneLine(cmp.Or(r.Nodegroup, "(unnamed group)")), phrase.Count(r.Replaced, "node"), r.Joined, r.Outcome)
		}
		t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		for _, m := range r.Milestones {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", noderoll.AppendStamp(nil, m.At), m.Name, noderoll.OneLine(cmp.Or(m.Pod, m.Node)))
		}
		t.Flush()
	}
	if len(rep.Rolls) == 0 {
		b.WriteString("\nno roll found\n")
	}
}

// violationsText is one line for each place where the tape breaks an invariant.
func (rep *Report) violationsText(b *strings.Builder) {
	if !rep.Checked {
		return
	}
	n := len(rep.Violations) + rep.MoreViolations
	if n == 0 {
		b.WriteString("\nevery invariant holds\n")
		return
	}
	fmt.Fprintf(b, "\n%s of invariants:\n", phrase.Count(n, "violation"))
	for _, v := range rep.Violations {
		fmt.Fprintln(b, v)
	}
	if rep.MoreViolations > 0 {
		fmt.Fprintf(b, "and %d more\n", rep.MoreViolations)
	}
}

func gaps(n int) string {
	if n == 0 {
		return "no gaps"
	}
	return phrase.Count(n, "gap")
}

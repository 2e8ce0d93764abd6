package analysis

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
)

// Text writes the analysis for people: what was found, each roll with its critical path, and tables of nodes, workloads and
// budgets. Every string of the tape passes through noderoll.OneLine.
func (a *Analysis) Text(w io.Writer) error {
	var b strings.Builder
	a.findingsText(&b)
	for i := range a.Rolls {
		a.Rolls[i].text(&b)
	}
	if len(a.Rolls) == 0 {
		b.WriteString("\nno roll found\n")
	}
	a.nodesText(&b)
	a.workloadsText(&b)
	a.budgetsText(&b)
	for line := range strings.Lines(b.String()) {
		// A table pads what is before an empty last cell.
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// The most that the text shows of each list; the JSON has all of it.
const (
	shownFindings = 20
	shownSteps    = 40
	shownRows     = 60
)

func (a *Analysis) findingsText(b *strings.Builder) {
	for i, f := range a.Findings {
		if i == shownFindings {
			fmt.Fprintf(b, "and %s, which -o json has\n", phrase.Count(len(a.Findings)-i, "more finding"))
			break
		}
		fmt.Fprintln(b, noderoll.OneLine(f.Text))
		if i == 0 || f.Delays {
			if f.Remedy != "" {
				fmt.Fprintf(b, "  remedy: %s\n", noderoll.OneLine(f.Remedy))
			}
		}
		how := "lasted " + short(f.Cost)
		if f.Delays {
			how = "made the roll " + short(f.Cost) + " longer"
		}
		if f.Cost > 0 {
			how += ", "
		} else {
			how = ""
		}
		fmt.Fprintf(b, "  %s%s\n", how, lines(f.Lines))
	}
	if len(a.Findings) == 0 {
		b.WriteString("nothing was in the way\n")
	}
	t := &a.Tape
	fmt.Fprintf(b, "\n%s: %s in %s, %s\n", noderoll.OneLine(cmp.Or(t.Name, "(no name)")), phrase.Count(t.Events, "event"), short(t.Duration), phrase.Count(len(t.Gaps), "gap"))
}

// lines names the lines of the tape that prove something.
func lines(all []int) string {
	text := make([]string, 0, len(all))
	for _, n := range all[:min(len(all), 8)] {
		text = append(text, fmt.Sprint(n))
	}
	if more := len(all) - len(text); more > 0 {
		text = append(text, fmt.Sprintf("%d more", more))
	}
	if len(text) == 1 {
		return "line " + text[0]
	}
	return "lines " + strings.Join(text, ", ")
}

func (r *Roll) text(b *strings.Builder) {
	of := "roll of " + noderoll.OneLine(cmp.Or(r.Group, "(unnamed group)"))
	if r.Pods != "" {
		of = "roll of pods " + noderoll.OneLine(r.Pods)
	}
	fmt.Fprintf(b, "\n%s: %s, %s from %s to %s", of, r.Outcome, short(r.Duration), noderoll.AppendStamp(nil, r.Start.At), noderoll.AppendStamp(nil, r.End.At))
	if r.Pods == "" {
		fmt.Fprintf(b, ", %s replaced, %d joined, %d left", phrase.Count(r.Replaced, "node"), r.Joined, r.Left)
	}
	b.WriteString("\n")
	if len(r.Path) > 0 {
		b.WriteString("critical path:\n")
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	shown := slices.Clone(r.Path)
	hidden := 0
	if len(shown) > shownSteps { // the longest ones
		byCost(shown, func(s *Step) time.Duration { return s.Duration }, func(*Step) string { return "" })
		hidden = len(shown) - shownSteps
		shown = shown[:shownSteps]
		slices.SortFunc(shown, func(x, y Step) int { return cmp.Or(cmp.Compare(x.From.At, y.From.At), cmp.Compare(x.To.At, y.To.At)) })
	}
	for _, s := range shown {
		fmt.Fprintf(t, "%s\t%s\t  %s\n", noderoll.AppendStamp(nil, s.From.At), short(s.Duration), noderoll.OneLine(s.Text))
	}
	t.Flush()
	if hidden > 0 {
		fmt.Fprintf(b, "and %s\n", phrase.Count(hidden, "shorter step"))
	}
	for i, s := range r.Savings {
		if i == 5 || s.Saves < time.Second {
			break
		}
		fmt.Fprintln(b, noderoll.OneLine(s.Text))
	}
}

// rows writes a table of at most so many rows, and counts the others.
func rows(b *strings.Builder, title string, n int, row func(t io.Writer, i int)) {
	if n == 0 {
		return
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, title)
	for i := range min(n, shownRows) {
		row(t, i)
	}
	t.Flush()
	if n > shownRows {
		fmt.Fprintf(b, "and %d more, which -o json has\n", n-shownRows)
	}
}

func took(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return short(*d)
}

func (a *Analysis) nodesText(b *strings.Builder) {
	rows(b, "NODE\tROLE\tJOIN\tCORDON\tDRAIN\tTERMINATION\tPODS\tWAITED LONGEST FOR", len(a.Nodes), func(t io.Writer, i int) {
		n := &a.Nodes[i]
		longest := ""
		var most time.Duration
		for _, w := range n.Waits {
			if w.Duration > most {
				most = w.Duration
				longest = string(w.Kind) + " " + short(w.Duration)
				if w.Object != "" && w.Object != "Node/"+n.Name {
					longest += " " + w.Object
				}
			}
		}
		drain := took(n.Drain)
		if n.DrainUnfinished {
			drain += "+"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", noderoll.OneLine(n.Name), n.Role, took(n.Join), took(n.Cordon), drain, took(n.Termination), n.PodsToEvict, noderoll.OneLine(longest))
	})
}

func (a *Analysis) workloadsText(b *strings.Builder) {
	rows(b, "WORKLOAD\tAVAILABLE\tLEAST\tBELOW\tEVICTED\tDELETED\tLOST\tRESTARTS\tPENDING", len(a.Workloads), func(t io.Writer, i int) {
		w := &a.Workloads[i]
		restarts := strconv.Itoa(w.Restarts)
		if w.Updates > 0 {
			restarts += ", " + phrase.Count(w.Updates, "update")
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%d\t%d\t%d\t%s\t%s\n", noderoll.OneLine(w.path()), w.Replicas, w.LeastAvailable, short(w.BelowReplicas), w.Evicted, w.Deleted, w.Lost, restarts, short(w.Pending))
	})
}

func (a *Analysis) budgetsText(b *strings.Builder) {
	rows(b, "BUDGET\tAT ZERO\tHELD UP DRAINS\tNODES\tPODS", len(a.Budgets), func(t io.Writer, i int) {
		d := &a.Budgets[i]
		fmt.Fprintf(t, "%s/%s\t%s\t%s\t%d\t%d\n", noderoll.OneLine(d.Namespace), noderoll.OneLine(d.Name), short(d.AtZero), short(d.Held), len(d.HeldNodes), len(d.Pods)+d.MorePods)
	})
}

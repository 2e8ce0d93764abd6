package plan

import (
	"fmt"
	"io"
	"strings"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Markdown writes the plan for a pull request: the answer, tables of what blocks, of pods that don't run and of availability, and
// the rest folded away.
func (p *Plan) Markdown(w io.Writer) error {
	m := &markdown{}
	fmt.Fprintf(m, "### %s\n\n", escaped(p.headline()))
	for _, e := range p.Endless {
		fmt.Fprintf(m, "- %d of %d: %s\n", e.Runs, p.Runs, escaped(e.Why))
	}
	if len(p.Endless) > 0 {
		m.WriteString("\n")
	}
	fmt.Fprintf(m, "%s. %s\n", code(p.how()), escaped(p.size()))
	if len(p.Blocks) > 0 {
		m.table([]string{"blocks", "runs", "P50", "longest", "stops", "pods", "remedy"}, len(p.Blocks), func(i int) []string {
			b := &p.Blocks[i]
			return []string{code(b.Object), escaped(share(b.Runs, p.Runs)), b.Held.P50.String(), b.Held.Longest.String(), escaped(share(b.Stops, p.Runs)), escaped(b.named()), escaped(b.Remedy)}
		})
		if more := p.mayBlock(); more != "" {
			fmt.Fprintf(m, "\n%s\n", escaped(more))
		}
	} else if p.unread(spec.PodsOfCluster) || p.unread(spec.BudgetsOfCluster) { // the tables that aren't there would say that all is well
		fmt.Fprintf(m, "\n%s\n", escaped(p.nothingBlocks()))
	}
	if len(p.WontRun) > 0 {
		m.table([]string{"won't run", "runs", "pods", "why"}, len(p.WontRun), func(i int) []string {
			u := &p.WontRun[i]
			return []string{code(u.Workload), escaped(share(u.Runs, p.Runs)), fmt.Sprint(u.Pods), escaped(u.why())}
		})
	}
	if hit := p.hit(); len(hit) > 0 {
		m.table([]string{"availability", "least", "usually", "below (P50)", "longest"}, len(hit), func(i int) []string {
			a := hit[i]
			return []string{code(a.Workload), fmt.Sprintf("%d of %d", a.Least, a.Replicas), fmt.Sprint(a.Usual), a.Below.P50.String(), a.Below.Longest.String()}
		})
	}
	if len(p.Policies) > 0 {
		m.table([]string{"policy", "rule", "severity", "runs", "first violation"}, len(p.Policies), func(i int) []string {
			b := &p.Policies[i]
			return []string{code(b.Policy), code(b.Rule), string(b.Severity), escaped(share(b.Runs, p.Runs)), escaped(b.Text)}
		})
	}
	fmt.Fprintf(m, "\n%s\n", escaped(p.capacity()))
	if len(p.Order) > 0 {
		fmt.Fprint(m, "\n<details><summary>Nodes</summary>\n")
		names := p.called()
		m.table([]string{"node", "begins", "takes", "drain", "done"}, len(p.Order), func(i int) []string {
			n := &p.Order[i]
			return []string{escaped(names[i]), n.From.String(), took(n.Takes), took(n.Drain), fmt.Sprintf("%d of %d", n.Done, p.Runs)}
		})
		fmt.Fprint(m, "\n</details>\n")
	}
	fmt.Fprintf(m, "\n%s\n", escaped(p.Timings.known()))
	m.live(p.Live)
	m.leftOut(p.LeftOut)
	_, err := io.WriteString(w, m.String())
	return err
}

// Markdown writes the comparison for a pull request.
func (c *Comparison) Markdown(w io.Writer) error {
	m := &markdown{}
	fmt.Fprintf(m, "### Settings for the roll of %s\n", escaped(strings.Join(c.Variants[0].Plan.Groups, ", ")))
	m.table([]string{"with", "ends", "P50", "P90", "extra nodes", "extra node hours", "node hours", "least available", "blocked"}, len(c.Variants), func(i int) []string {
		cells := c.Variants[i].cells()
		cells[0] = code(cells[0])
		for i := 1; i < len(cells); i++ {
			cells[i] = escaped(cells[i])
		}
		return cells
	})
	for i, line := range c.broken() {
		if i == 0 {
			fmt.Fprint(m, "\nPolicies that are broken:\n\n")
		}
		fmt.Fprintf(m, "- %s\n", escaped(line))
	}
	m.leftOut(c.Variants[0].Plan.LeftOut)
	_, err := io.WriteString(w, m.String())
	return err
}

type markdown struct{ strings.Builder }

func (m *markdown) leftOut(lines []string) {
	for i, line := range lines {
		if i == 0 {
			fmt.Fprint(m, "\nLeft out:\n\n")
		}
		fmt.Fprintf(m, "- %s\n", escaped(line))
	}
}

func (m *markdown) table(title []string, n int, row func(i int) []string) {
	fmt.Fprintf(m, "\n| %s |\n|%s\n", strings.Join(title, " | "), strings.Repeat("---|", len(title)))
	for i := range n {
		fmt.Fprintf(m, "| %s |\n", strings.Join(row(i), " | "))
	}
}

// escaped is text that Markdown shows as it is.
func escaped(s string) string {
	return markdownWords.Replace(noderoll.OneLine(s))
}

var markdownWords = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`, "#", `\#`, "@", "&#64;",
	"~", "&#126;", "$", "&#36;", "://", "&#58;//", "www.", "www&#46;", // links and mathematics of GitHub
)

// code is text in the type of code, which a cell of a table may hold.
func code(s string) string {
	s = strings.NewReplacer("`", "'", "|", `\|`).Replace(noderoll.OneLine(s))
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

package plan

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Width is that of a terminal which shows a plan, in columns.
const Width = 80

// shownRows is the most that the text shows of each list; the JSON has all of it.
const shownRows = 12

// Text writes the plan for people, the answer first, in lines of at most Width columns where names allow. Every string of the
// cluster passes through noderoll.OneLine.
func (p *Plan) Text(w io.Writer) error {
	t := &text{}
	t.say("", p.headline())
	for _, e := range p.Endless {
		t.say("  ", fmt.Sprintf("%d of %d: %s", e.Runs, p.Runs, e.Why))
	}
	t.say("", p.how())
	t.say("", p.size())
	t.blocks(p)
	t.wontRun(p)
	t.workloads(p)
	t.section("CAPACITY")
	t.say("", p.capacity())
	t.order(p)
	t.policies(p)
	t.section("DURATIONS")
	t.say("", p.Timings.known())
	t.live(p.Live)
	t.leftOut(p.LeftOut)
	_, err := io.WriteString(w, t.String())
	return err
}

// text is the text as far as it is written.
type text struct{ strings.Builder }

func (t *text) say(indent, line string) { t.WriteString(wrap(line, indent, Width) + "\n") }

func (t *text) section(title string) { t.WriteString("\n" + title + "\n") }

// more says how much of a list isn't shown.
func (t *text) more(n int) {
	if n > shownRows {
		fmt.Fprintf(t, "and %d more, which -o json has\n", n-shownRows)
	}
}

// leftOut says what the file can't say of the cluster that was read.
func (t *text) leftOut(lines []string) {
	if len(lines) == 0 {
		return
	}
	t.section("LEFT OUT")
	for _, line := range lines[:min(len(lines), shownRows)] {
		if text := wrap(line, "  ", Width); text != "" { // a file may have a blank line there
			t.WriteString("-" + text[1:] + "\n")
		}
	}
	t.more(len(lines))
}

// table writes rows below a title, each with what is to be said below it.
func (t *text) table(title string, n int, row func(i int) (cells, below string)) {
	t.WriteString("\n")
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, title)
	n = min(n, shownRows)
	below := make([]string, n)
	for i := range n {
		var cells string
		cells, below[i] = row(i)
		fmt.Fprintln(tw, cells)
	}
	_ = tw.Flush() // a Builder takes all
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		t.WriteString(strings.TrimRight(line, " ") + "\n")
		if i > 0 {
			t.WriteString(below[i-1])
		}
	}
}

func (t *text) blocks(p *Plan) {
	if len(p.Blocks) == 0 {
		t.section("BLOCKS")
		t.say("", p.nothingBlocks())
		return
	}
	t.table("BLOCKS\tRUNS\tP50\tLONGEST\tSTOPS", len(p.Blocks), func(i int) (string, string) {
		b := &p.Blocks[i]
		stops := "no"
		if b.Stops > 0 {
			stops = fmt.Sprintf("%d of %d", b.Stops, p.Runs)
		}
		below := wrap(b.Text, "  ", Width) + "\n"
		if b.Remedy != "" {
			below += wrap("remedy: "+b.Remedy, "  ", Width) + "\n"
		}
		return fmt.Sprintf("%s\t%d of %d\t%s\t%s\t%s", noderoll.OneLine(b.Object), b.Runs, p.Runs, b.Held.P50, b.Held.Longest, stops), below
	})
	t.more(len(p.Blocks))
	if more := p.mayBlock(); more != "" {
		t.say("", more)
	}
}

func (t *text) wontRun(p *Plan) {
	if len(p.WontRun) == 0 {
		t.section("WON'T RUN")
		if p.unread(spec.PodsOfCluster) {
			t.say("", "Whether every pod runs again isn't known: no pod was read.")
			return
		}
		if p.bare > 0 {
			t.say("", "Every pod that has a controller runs again; one without is gone for good once it is evicted.")
			return
		}
		t.say("", "Every pod runs again.")
		return
	}
	t.table("WON'T RUN\tRUNS\tPODS", len(p.WontRun), func(i int) (string, string) {
		w := &p.WontRun[i]
		return fmt.Sprintf("%s\t%d of %d\t%d", noderoll.OneLine(w.Workload), w.Runs, p.Runs, w.Pods), wrap(w.why(), "  ", Width) + "\n"
	})
	t.more(len(p.WontRun))
}

// why is the reason, with the scheduler's message.
func (w *WontRun) why() string {
	why := w.Reason
	if w.Message != "" {
		why += ": " + w.Message
	}
	if w.Before {
		why += " (as before the roll)"
	}
	return why
}

// hit are the workloads that ever have fewer pods than they want.
func (p *Plan) hit() (all []*Workload) {
	for i := range p.Workloads {
		if w := &p.Workloads[i]; w.Least < w.Replicas {
			all = append(all, w)
		}
	}
	return all
}

func (t *text) workloads(p *Plan) {
	hit := p.hit()
	if len(hit) == 0 {
		t.section("AVAILABILITY")
		if p.unread(spec.PodsOfCluster) {
			t.say("", "Whether workloads keep their pods available isn't known: no pod was read.")
			return
		}
		if len(p.WontRun) > 0 { // pods that don't run again, or never did, aren't counted here
			t.say("", "Every other workload keeps all of its pods available.")
			return
		}
		t.say("", "Every workload keeps all of its pods available.")
		return
	}
	t.table("AVAILABILITY\tLEAST\tUSUALLY\tBELOW (P50)\tLONGEST", len(hit), func(i int) (string, string) {
		w := hit[i]
		below := ""
		if w.BelowWanted > 0 {
			below = wrap(fmt.Sprintf("fewer than the %d that its budget wants in %d of %s", w.Wanted, w.BelowWanted, phrase.Count(p.Runs, "run")), "  ", Width) + "\n"
		}
		return fmt.Sprintf("%s\t%d of %d\t%d\t%s\t%s", noderoll.OneLine(w.Workload), w.Least, w.Replicas, w.Usual, w.Below.P50, w.Below.Longest), below
	})
	t.more(len(hit))
	if n := len(p.Workloads) - len(hit); n > 0 {
		t.say("", phrase.Count(n, "other workload")+": no pod missing at any time")
	}
}

func (t *text) order(p *Plan) {
	if len(p.Order) == 0 {
		return
	}
	names := p.called()
	t.table("NODES\tBEGINS\tTAKES\tDRAIN\tDONE", len(p.Order), func(i int) (string, string) {
		n := &p.Order[i]
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%d of %d", noderoll.OneLine(names[i]), n.From, took(n.Takes), took(n.Drain), n.Done, p.Runs), ""
	})
	t.more(len(p.Order))
}

// called are the names of the nodes up to their first dots: whole where that is part of an address, or doesn't tell two nodes apart, and
// the place in the order where a node has none.
func (p *Plan) called() []string {
	names, seen := make([]string, len(p.Order)), map[string]int{}
	for i := range p.Order {
		names[i], _, _ = strings.Cut(p.Order[i].Name, ".")
		seen[names[i]]++
	}
	for i := range p.Order {
		n := &p.Order[i]
		_, err := netip.ParseAddr(n.Name)
		switch isAddress := err == nil; {
		case n.Name == "":
			names[i] = fmt.Sprintf("%d. of %s", i+1, n.Group)
		case isAddress || seen[names[i]] > 1:
			names[i] = n.Name
		}
	}
	return names
}

func (t *text) policies(p *Plan) {
	if len(p.Policies) == 0 {
		return
	}
	t.table("POLICY\tRULE\tSEVERITY\tRUNS", len(p.Policies), func(i int) (string, string) {
		b := &p.Policies[i]
		return fmt.Sprintf("%s\t%s\t%s\t%d of %d", b.Policy, b.Rule, b.Severity, b.Runs, p.Runs), wrap(b.Text, "  ", Width) + "\n"
	})
	t.more(len(p.Policies))
}

// Text writes the comparison for people, a row for each variant.
func (c *Comparison) Text(w io.Writer) error {
	t := &text{}
	first := c.Variants[0].Plan
	t.say("", fmt.Sprintf("The roll of %s, %s each, with the same seeds.", strings.Join(first.Groups, ", "), phrase.Count(first.Runs, "run")))
	t.WriteString("\n")
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "WITH\tENDS\tP50\tP90\tEXTRA\tEXTRA HOURS\tHOURS\tLEAST\tBLOCKED")
	for i := range c.Variants {
		fmt.Fprintln(tw, strings.Join(c.Variants[i].cells(), "\t"))
	}
	_ = tw.Flush() // a Builder takes all
	for line := range strings.Lines(b.String()) {
		t.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	if broken := c.broken(); len(broken) > 0 {
		t.section("POLICY")
		for _, line := range broken[:min(len(broken), shownRows)] {
			t.WriteString("-" + wrap(line, "  ", Width)[1:] + "\n")
		}
		t.more(len(broken))
	}
	t.leftOut(first.LeftOut) // of all variants: they are of one file
	_, err := io.WriteString(w, t.String())
	return err
}

// broken are the rules that the variants break, a line for each.
func (c *Comparison) broken() (all []string) {
	for i := range c.Variants {
		v := &c.Variants[i]
		for j := range v.Plan.Policies {
			b := &v.Plan.Policies[j]
			all = append(all, fmt.Sprintf("%s: %s of %s (%s) in %d of %s: %s", strings.Join(v.Of, " "), b.Rule, b.Policy, b.Severity, b.Runs, phrase.Count(v.Plan.Runs, "run"), b.Text))
		}
	}
	return all
}

// cells are a row of a comparison: what differs, the share of runs that end, how long they take, the most nodes above the number
// before, and their hours, the least share of a workload's pods that is available, and the share of runs that something blocks.
func (v *Variant) cells() []string {
	p := v.Plan
	p50, p90 := "-", "-"
	if p.Duration != nil {
		p50, p90 = p.Duration.P50.String(), p.Duration.P90.String()
	}
	least, blocked := 100, share(p.blocked, p.Runs)
	for i := range p.Workloads {
		if w := &p.Workloads[i]; w.Replicas > 0 {
			least = min(least, 100*w.Least/w.Replicas)
		}
	}
	available := fmt.Sprintf("%d%%", least)
	if p.unread(spec.PodsOfCluster) {
		available = unknown
	}
	if (p.unread(spec.PodsOfCluster) || p.unread(spec.BudgetsOfCluster)) && p.blocked < p.Runs {
		blocked = unknown
	}
	return []string{
		noderoll.OneLine(strings.Join(v.Of, " ")), percent(p.Ends, p.Runs), p50, p90, fmt.Sprint(p.Capacity.MostPeak), p.Capacity.ExtraHours.hours(),
		p.Capacity.NodeHours.hours(),
		available, blocked,
	}
}

// unknown stands for what can't be said of a cluster that wasn't read whole.
const unknown = "?"

// percent is a share, rounded down: 100% is all.
func percent(n, of int) string { return fmt.Sprintf("%d%%", 100*n/of) }

// share is percent for what must not look as if it never happened.
func share(n, of int) string {
	if n > 0 && 100*n < of {
		return "<1%"
	}
	return percent(n, of)
}

package tapediff

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// A Report says what was compared and where two tapes differ.
type Report struct {
	NameA, NameB string

	Pairs []Pair // of nodes, by role

	// How much was compared: pairs of nodes, pods of both tapes, budgets and other objects, and the steps of both
	// tapes that are alike.
	Nodes, Pods, Budgets, Others, Alike int
	// What was not: steps that an exclusion took out, steps after the end of the other tape, Events of the initial
	// lists, Events about pods and nodes that a tape doesn't show.
	Excluded, Cut, Before, Aside int

	Used        map[Exclusion]int // how many facts each row took out
	Differences []Difference
}

// A Difference is one track on which two tapes differ.
type Difference struct {
	Subject  string // "node old-2"
	Track    string // "taints NoSchedule"
	InA, InB string // names of the objects that are shown
	A, B     []Step
}

// Equal says that the tapes tell the same.
func (r Report) Equal() bool { return len(r.Differences) == 0 }

// Summary is the report in one line.
func (r Report) Summary() string {
	text := fmt.Sprintf("%s and %s: compared %d nodes, %d pods, %d budgets and %d other objects: %d steps are alike",
		r.NameA, r.NameB, r.Nodes, r.Pods, r.Budgets, r.Others, r.Alike)
	text += fmt.Sprintf("; not compared: %d excluded by %d rows, %d after a tape's end, %d Events from before",
		r.Excluded, len(r.Used), r.Cut, r.Before)
	if r.Aside > 0 {
		text += fmt.Sprintf(", %d Events about objects that aren't there", r.Aside)
	}
	switch n := len(r.Differences); n {
	case 0:
		return text + "; no difference"
	case 1:
		return text + "; 1 difference"
	default:
		return text + fmt.Sprintf("; %d differences", n)
	}
}

// String is the whole report: the summary, who became whom, what was excluded, and every difference with both tracks aligned:
//
//	node old-2 (ip-10-0-1-11 in A, ip-10-0-1-11 in B): taints NoSchedule
//	       A 24.278s  B 25.002s  node.kubernetes.io/unschedulable:NoSchedule=timeAdded
//	     -             B 60.1s    no node.kubernetes.io/unschedulable:NoSchedule
//
// A row with a sign is on one of the tapes only: - on the first, + on the second.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString(r.Summary() + "\n")
	for _, p := range r.Pairs {
		b.WriteString(noderoll.OneLine(p.Role+": "+cmp.Or(p.A, "none")+" is "+cmp.Or(p.B, "none")) + "\n")
	}
	rows := make([]Exclusion, 0, len(r.Used))
	for row := range r.Used {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(x, y Exclusion) int { return cmp.Compare(x.String(), y.String()) })
	for _, row := range rows {
		fmt.Fprintf(&b, "excluded %d times: %s: %s\n", r.Used[row], row, row.Source)
	}
	for _, d := range r.Differences {
		r.write(&b, d)
	}
	return b.String()
}

func (r Report) write(w io.Writer, d Difference) {
	where := ""
	if d.InA != "" || d.InB != "" {
		where = fmt.Sprintf(" (%s in %s, %s in %s)", d.InA, r.NameA, d.InB, r.NameB)
	}
	fmt.Fprintf(w, "\n%s\n", noderoll.OneLine(d.Subject+where+": "+d.Track))
	for _, row := range align(d.A, d.B) {
		what, a, b := row.a.What, stamp(row.a), stamp(row.b)
		switch row.mark {
		case onlyA:
			b = ""
		case onlyB:
			what, a = row.b.What, ""
		}
		fmt.Fprintf(w, "  %c %14s %14s  %s\n", row.mark, a, b, noderoll.OneLine(what))
	}
}

// stamp is a step's position on its tape; a count has none.
func stamp(s Step) string {
	if s.At < 0 {
		return ""
	}
	return s.At.Round(time.Millisecond).String()
}

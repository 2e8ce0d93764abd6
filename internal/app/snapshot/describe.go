package snapshot

import (
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Describe writes for people what is in a file that was read, how old it is, and what it leaves out.
func Describe(w io.Writer, name string, f *spec.File, now time.Time) {
	fmt.Fprintln(w, Line(name, f, now))
	for _, line := range f.LeftOut {
		fmt.Fprintf(w, "left out: %s\n", line)
	}
}

// Line says what is in a file that was read, and how old it is.
func Line(name string, f *spec.File, now time.Time) string {
	pods, waiting := 0, 0
	for i := range f.Workloads {
		for _, p := range f.Workloads[i].Pods {
			if pods++; p.Node == "" {
				waiting++
			}
		}
	}
	line := fmt.Sprintf("%s: %s in %s, %s of %s", name, phrase.Count(f.Nodes(), "node"), phrase.Count(len(f.Groups), "group"), phrase.Count(pods, "pod"),
		phrase.Count(len(f.Workloads), "workload"))
	if waiting > 0 {
		line += fmt.Sprintf(", %d of them without a node", waiting)
	}
	when := "at a time that isn't known"
	if snapshot.Dated(f) {
		when = ago(now.Sub(f.Start))
	}
	return line + fmt.Sprintf(", %s; as it was %s", phrase.Count(len(f.Budgets), "budget"), when)
}

// ago says how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < -time.Minute:
		return "in the future of this machine's clock"
	case d < time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

package clusters

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/nodesim/nodesim/internal/localcluster"
)

// WriteList writes a table of clusters for people, with their ages at a time.
func WriteList(w io.Writer, list []Record, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATE\tAGE\tSERVER\tKUBECONFIG")
	for _, r := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.State, r.age(now), cmp.Or(r.Server, "-"), cmp.Or(r.Kubeconfig, "-"))
	}
	return table.Flush()
}

// Write writes everything about a cluster for people, with its age at a time.
func (r Record) Write(w io.Writer, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "cluster\t%s, %s for %s\n", r.Name, r.State, r.age(now))
	for _, line := range [][2]string{
		{"server", r.Server}, {"kubeconfig", r.Kubeconfig}, {"audit log", r.AuditLog}, {"folder", r.Folder},
	} {
		if line[1] != "" {
			fmt.Fprintf(table, "%s\t%s\n", line[0], line[1])
		}
	}
	if r.Speed != 1 {
		pace := localcluster.PaceAt(r.Speed)
		fmt.Fprintf(table, "speed\t%sx: a silent node is Unknown after %s, its pods go %d s later\n",
			strconv.FormatFloat(r.Speed, 'g', -1, 64), pace.NodeGrace, pace.Toleration)
	}
	fmt.Fprintf(table, "kept by\tprocess %d\n", r.Keeper)
	for _, name := range localcluster.Components() {
		if pid, runs := r.Processes[name]; runs {
			fmt.Fprintf(table, "%s\tprocess %d\n", name, pid)
		}
	}
	return table.Flush()
}

func (r Record) age(now time.Time) string { return duration.HumanDuration(now.Sub(r.Started)) }

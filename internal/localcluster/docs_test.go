package localcluster

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The manual's table of delays equals what PaceAt says.
func TestTheManualsDelays(t *testing.T) {
	text, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	column := func(speed float64) []string {
		p := PaceAt(speed)
		return []string{
			p.NodeMonitor.String(), p.NodeGrace.String(), p.NodeStartup.String(), fmt.Sprintf("%ds", p.Toleration),
			number(p.EvictionRate), number(p.SlowEvictionRate), fmt.Sprintf("%ds", p.Backoff), p.Flush.String(),
		}
	}
	_, table, _ := strings.Cut(string(text), "\n|---|---|---|---|\n")
	table, _, found := strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	real, fast, shortest := column(1), column(20), column(fastest)
	shortest[4], shortest[5] = "", ""
	if !found || len(rows) != len(real) {
		t.Fatalf("found %d rows, want %d", len(rows), len(real))
	}
	for i, row := range rows {
		cells := strings.Split(row, "|")
		got := fmt.Sprint(strings.TrimSpace(cells[2]), " ", strings.TrimSpace(cells[3]), " ", strings.TrimSpace(cells[4]))
		if want := real[i] + " " + fast[i] + " " + shortest[i]; got != want {
			t.Errorf("%s: found %s, want %s", cells[1], got, want)
		}
	}
}

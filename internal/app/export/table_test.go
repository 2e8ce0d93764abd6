package export_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
)

// A table has the same cells as CSV and as Parquet, and a row for each thing of the analysis.
func TestTablesHoldTheAnalysis(t *testing.T) {
	for seed := range uint64(20) {
		holdsTables(t, made(seed, int(seed)))
	}
}

func holdsTables(t *testing.T, a *analysis.Analysis) {
	t.Helper()
	waits := 0
	for _, n := range a.Nodes {
		waits += len(n.Waits)
	}
	for rows, want := range map[export.Rows]int{export.Nodes: len(a.Nodes), export.Pods: len(a.Pods), export.Waits: waits} {
		lines := readCSV(t, write(t, a, export.CSV, rows))
		file := readParquet(t, write(t, a, export.Parquet, rows))
		if len(lines) != want+1 || len(file) != want+1 {
			t.Fatalf("%s: found %d rows as CSV and %d as Parquet, want %d", rows, len(lines)-1, len(file)-1, want)
		}
		for i := range lines {
			if strings.Join(lines[i], "\x00") != strings.Join(file[i], "\x00") {
				t.Fatalf("%s, row %d: found as CSV %q, as Parquet %q", rows, i, lines[i], file[i])
			}
		}
		for i, line := range lines[1:] {
			id := map[export.Rows]func() string{
				export.Nodes: func() string { return a.Nodes[i].UID }, export.Pods: func() string { return a.Pods[i].UID },
				export.Waits: func() string { return line[3] },
			}[rows]()
			if line[3] != id && rows == export.Nodes || rows == export.Pods && line[4] != id {
				t.Errorf("%s, row %d: found %q, want the one of %s", rows, i, line, id)
			}
		}
	}
}

// readCSV reads a table and takes the apostrophes before its text away.
func readCSV(t *testing.T, text []byte) [][]string {
	t.Helper()
	if bytes.Count(text, []byte("\n")) != bytes.Count(text, []byte("\r\n")) {
		t.Error("a line doesn't end in CR LF")
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		for i, cell := range line {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@") {
				t.Errorf("cell %q is a formula", cell)
			}
			line[i] = strings.TrimPrefix(cell, "'")
		}
	}
	return lines
}

// readParquet reads a table with another library, and gives its cells as CSV has them.
func readParquet(t *testing.T, text []byte) (out [][]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	columns := f.Schema().Columns()
	for _, path := range columns {
		names = append(names, strings.Join(path, "."))
	}
	out = append(out, names)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				line := make([]string, len(columns))
				for _, v := range row {
					line[v.Column()] = plain(v, names[v.Column()])
				}
				out = append(out, line)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if f.NumRows() != int64(len(out)-1) {
		t.Errorf("the file says that it has %d rows, and has %d", f.NumRows(), len(out)-1)
	}
	return out
}

func plain(v parquet.Value, column string) string {
	switch {
	case v.IsNull():
		return ""
	case column == "start":
		return time.UnixMicro(v.Int64()).UTC().Format(time.RFC3339Nano)
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'f', -1, 64)
	case v.Kind() == parquet.ByteArray:
		return string(v.ByteArray())
	}
	return fmt.Sprint(v)
}

// A spreadsheet takes nothing for a formula, and who takes one apostrophe away has the text again.
func TestCSVHasNoFormulas(t *testing.T) {
	for _, name := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "＝1", "'quoted", "plain", "\t=1", "\r=1", "a,\"b\"", hostile} {
		a := made(1, 1)
		a.Nodes[0].Name = name
		text := write(t, a, export.CSV, export.Nodes)
		line := readCSV(t, text)[1]
		if want := noderoll.OneLine(name); line[2] != want {
			t.Errorf("%q: found %q", want, line[2])
		}
		if bytes.Count(text, []byte("\n")) != 2 || bytes.ContainsRune(text, '\x1b') {
			t.Errorf("%q: found %q, want two lines without control characters", name, text)
		}
	}
}

// More rows than a row group has.
func TestParquetOfManyRows(t *testing.T) {
	a := made(1, 1)
	a.Pods = nil
	for i := range 70_000 {
		p := analysis.Pod{Namespace: "shop", Name: strconv.Itoa(i), UID: strconv.Itoa(i), Evicted: i%3 == 0}
		if i%5 == 0 {
			p.Created = &analysis.Moment{At: time.Duration(i) * time.Millisecond}
		}
		a.Pods = append(a.Pods, p)
	}
	text := write(t, a, export.Parquet, export.Pods)
	rows := readParquet(t, text)
	if got := rows[70_000]; got[3] != "69999" || got[12] != "true" || got[7] != "" {
		t.Errorf("found %q as the last row", got)
	}
	if got := rows[69_996]; got[7] != "69.995" {
		t.Errorf("found %q, want it created at 69.995", got)
	}
}

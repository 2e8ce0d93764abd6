package writescripts

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Known are the differences that are known, each with a reason. Its methods may be called from any goroutine.
type Known struct {
	mu   sync.Mutex
	rows []*row
}

type row struct {
	line                                  int
	text                                  string
	script, object, path, live, simulated *regexp.Regexp
	minors                                minors
	used                                  bool
}

//go:embed known.tsv
var known string

// ReadKnown returns what known.tsv lists. Its columns are script, object, path, the real cluster's value, the simulated one's, the
// minors of Kubernetes that show it, and the reason; in the first five, * stands for any text.
func ReadKnown() (*Known, error) { return readKnown(known) }

// unexplained is in place of the reason in what [Rows] returns.
const unexplained = "(why?)"

func readKnown(text string) (*Known, error) {
	k := &Known{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parseRow(line)
		if err != nil {
			return nil, fmt.Errorf("known.tsv: line %d: %w", i+1, err)
		}
		r.line = i + 1
		k.rows = append(k.rows, r)
	}
	return k, nil
}

func parseRow(line string) (*row, error) {
	columns := strings.Split(line, "\t")
	if len(columns) != 7 {
		return nil, fmt.Errorf("found %d columns: want script, object, path, live, simulated, minors, reason", len(columns))
	}
	if why := columns[6]; why == "" || why == unexplained {
		return nil, fmt.Errorf("found the reason %q: want why the clusters differ", why)
	}
	r := &row{text: line}
	for i, to := range []**regexp.Regexp{&r.script, &r.object, &r.path, &r.live, &r.simulated} {
		*to = regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(columns[i]), `\*`, ".*") + "$")
	}
	var err error
	r.minors, err = parseMinors(columns[5])
	return r, err
}

// Of returns the rows for a minor, none of them needed yet. What only other minors show isn't known of it.
func (k *Known) Of(m Minor) *Known {
	only := &Known{}
	for _, r := range k.rows {
		if r.minors.has(m) {
			same := *r
			same.used = false
			only.rows = append(only.rows, &same)
		}
	}
	return only
}

func (k *Known) has(d Difference) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.rows {
		if r.script.MatchString(d.Script) && r.object.MatchString(d.Object) && r.path.MatchString(d.Path) && r.live.MatchString(d.A) && r.simulated.MatchString(d.B) {
			r.used = true
			return true
		}
	}
	return false
}

// Unused returns the rows that no comparison has needed.
func (k *Known) Unused() (all []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.rows {
		if !r.used {
			all = append(all, fmt.Sprintf("known.tsv:%d: %s", r.line, r.text))
		}
	}
	return all
}

// Rows are the differences that a control plane of a minor shows, as rows of known.tsv without their reasons. What objects of a kind
// have alike is one row, and so is what scripts of a template have alike.
func Rows(m Minor, all []Difference) (rows []string) {
	alike := func(d Difference) Difference {
		d.After = ""
		d.Script, _, _ = strings.Cut(d.Script, "/")
		if kind, _, _ := strings.Cut(d.Object, " "); kind != "Event" && kind != "Answer" {
			d.Object = kind + " *"
		}
		return d
	}
	scripts := map[Difference][]string{}
	var order []Difference
	for _, d := range all {
		is := alike(d)
		if scripts[is] == nil {
			order = append(order, is)
		}
		if !slices.Contains(scripts[is], d.Script) {
			scripts[is] = append(scripts[is], d.Script)
		}
	}
	// A value may have what ends a column or a row.
	column := strings.NewReplacer("\t", "*", "\n", "*")
	for _, d := range order {
		script := d.Script + "/*"
		if len(scripts[d]) == 1 {
			script = scripts[d][0]
		}
		columns := []string{script, d.Object, d.Path, d.A, d.B, m.String(), unexplained}
		for i := range columns {
			columns[i] = column.Replace(columns[i])
		}
		rows = append(rows, strings.Join(columns, "\t"))
	}
	return rows
}

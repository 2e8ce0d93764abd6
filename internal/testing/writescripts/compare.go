package writescripts

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Difference is a field that two clusters have differently.
type Difference struct {
	Script, After, Object, Path string
	A, B                        string
}

// absent is the value of a field that isn't there.
const absent = "(absent)"

// String is the difference on one line, tabs between its parts.
func (d Difference) String() string {
	return strings.Join([]string{d.Script, "after " + d.After, d.Object, d.Path, d.A, d.B}, "\t")
}

// Compare returns what a script saw differently on two clusters, but for what is known.
func Compare(script, after string, a, b Rest, known *Known) (all []Difference) {
	fields := maps.Clone(a.Fields)
	maps.Copy(fields, b.Fields)
	inA, inB := a.objects(), b.objects()
	missing := map[string]bool{}
	for _, at := range slices.Sorted(maps.Keys(fields)) {
		va, vb := a.value(at), b.value(at)
		if va == vb {
			continue
		}
		object, path := split(at)
		if inA[object] != inB[object] { // once for all of its fields
			if missing[object] {
				continue
			}
			missing[object] = true
			path, va, vb = "", presence[inA[object]], presence[inB[object]]
		}
		d := Difference{script, after, object, path, va, vb}
		if !known.has(d) {
			all = append(all, d)
		}
	}
	return all
}

var presence = map[bool]string{true: "(there)", false: absent}

// split parts where a field is into its object and its path.
func split(at string) (object, path string) {
	kind, rest, _ := strings.Cut(at, " ")
	if kind == "Event" {
		return at, ""
	}
	name, path, _ := strings.Cut(rest, " ")
	return kind + " " + name, path
}

// objects are those of which there are fields.
func (r Rest) objects() map[string]bool {
	all := map[string]bool{}
	for at := range r.Fields {
		object, _ := split(at)
		all[object] = true
	}
	return all
}

func (r Rest) value(at string) string {
	if v, ok := r.Fields[at]; ok {
		return v
	}
	return absent
}

// Known are the differences that are known, each with a reason. Its methods may be called from any goroutine.
type Known struct {
	mu   sync.Mutex
	rows []*row
}

type row struct {
	line                                  int
	text                                  string
	script, object, path, live, simulated *regexp.Regexp
	used                                  bool
}

//go:embed known.tsv
var known string

// ReadKnown returns what known.tsv lists. Its columns are script, object, path, the real cluster's value, the simulated one's, and the
// reason; in all but the last, * stands for any text.
func ReadKnown() (*Known, error) {
	k := &Known{}
	for i, line := range strings.Split(known, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 6 || columns[5] == "" {
			return nil, fmt.Errorf("known.tsv: line %d: found %d columns: want script, object, path, live, simulated, reason", i+1, len(columns))
		}
		r := &row{line: i + 1, text: line}
		for k, to := range []**regexp.Regexp{&r.script, &r.object, &r.path, &r.live, &r.simulated} {
			*to = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(columns[k]), `\*`, ".*") + "$")
		}
		k.rows = append(k.rows, r)
	}
	return k, nil
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
	for _, r := range k.rows {
		if !r.used {
			all = append(all, fmt.Sprintf("known.tsv:%d: %s", r.line, r.text))
		}
	}
	return all
}

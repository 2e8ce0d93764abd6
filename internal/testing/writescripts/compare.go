package writescripts

import (
	"maps"
	"slices"
	"strings"
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

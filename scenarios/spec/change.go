package spec

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A Change gives a key of an object of a file another value, once the file has been resolved. It is written
// OBJECT:KEY=VALUE:
//
//	budget/shop/web:maxUnavailable=2      also minAvailable, unhealthyPodEvictionPolicy
//	workload/shop/web:replicas=4          also grace, finalizerHeld, doNotDisrupt
//	group/workers:instanceType=m5.xlarge  of the nodes that the roll makes; also version, image, max
//	zone/eu-central-1a:lost=10m           at that time, for good
//	node/ip-10-0-1-10:lost=10m            at that time
//
// A namespace may be left out where only one object has the name.
type Change struct{ Object, Key, Value string }

// String is the change as ParseChange takes it.
func (c Change) String() string { return c.Object + ":" + c.Key + "=" + c.Value }

// changeable are the keys of each kind of object that a Change may set.
var changeable = []struct {
	kind string
	keys []string
}{
	{"budget", []string{"maxUnavailable", "minAvailable", "unhealthyPodEvictionPolicy"}},
	{"workload", []string{"replicas", "grace", "finalizerHeld", "doNotDisrupt"}},
	{"group", []string{"instanceType", "version", "image", "max"}},
	{"zone", []string{keyLost}},
	{"node", []string{keyLost}},
}

// keyLost is the key of what a zone or a node has of its own: the time at which it is lost.
const keyLost = "lost"

// ParseChange reads OBJECT:KEY=VALUE.
func ParseChange(text string) (Change, error) {
	object, rest, keyed := strings.Cut(text, ":")
	key, value, valued := strings.Cut(rest, "=")
	kind, name, named := strings.Cut(object, "/")
	if !keyed || !valued || !named || name == "" {
		return Change{}, &Error{File: text, Found: "no change", Wanted: "OBJECT:KEY=VALUE, such as budget/shop/web:maxUnavailable=2"}
	}
	var kinds []string
	for _, k := range changeable {
		kinds = append(kinds, k.kind)
		if k.kind != kind {
			continue
		}
		if !slices.Contains(k.keys, key) {
			return Change{}, unknownWord(text, fmt.Sprintf("no key %q of a %s that can be changed", key, kind), key, k.keys)
		}
		return Change{Object: object, Key: key, Value: value}, nil
	}
	return Change{}, unknownWord(text, fmt.Sprintf("no kind of object %q", kind), kind, kinds)
}

// unknownWord is the error of a word in a change that names nothing.
func unknownWord(text, found, word string, known []string) *Error {
	e := &Error{File: text, Found: found, Wanted: list(known[:min(len(known), 20)])}
	if len(known) > 20 {
		e.Wanted = strings.Join(known[:20], ", ") + fmt.Sprintf(" or one of %d more", len(known)-20)
	}
	if e.Remedy = didYouMean(phrase.Closest(word, known)); e.Remedy != "" {
		e.Wanted = ""
	}
	return e
}

// Changeable lists what a Change of this file may begin with, OBJECT:KEY= of each object.
func (f *File) Changeable() (all []string) {
	for _, k := range changeable {
		for _, name := range slices.Sorted(maps.Keys(f.objects(k.kind))) {
			for _, key := range k.keys {
				all = append(all, k.kind+"/"+name+":"+key+"=")
			}
		}
	}
	return all
}

// objects are the names of what the file has of a kind, each with its index there.
func (f *File) objects(kind string) map[string]int {
	all := map[string]int{}
	switch kind {
	case "budget":
		for i := range f.Budgets {
			all[f.Budgets[i].Namespace+"/"+f.Budgets[i].Name] = i
		}
	case "workload":
		for i := range f.Workloads {
			all[f.Workloads[i].Key().String()] = i
		}
	case "group":
		for i := range f.Groups {
			all[f.Groups[i].Name] = i
		}
	case "zone":
		for i, z := range f.Cluster.Zones {
			all[z] = i
		}
	case "node":
		for i := range f.Groups {
			for k := range f.Groups[i].Members {
				all[f.Groups[i].Members[k].Name] = k
			}
		}
	}
	return all
}

// object finds what a change is about: by the whole name, or by the name without a namespace where that is one object's.
func (f *File) object(c Change) (kind, name string, index int, bad *Error) {
	kind, name, _ = strings.Cut(c.Object, "/")
	all := f.objects(kind)
	if i, ok := all[name]; ok {
		return kind, name, i, nil
	}
	known := slices.Sorted(maps.Keys(all))
	var meant []string
	for _, n := range known {
		if strings.HasSuffix(n, "/"+name) {
			meant = append(meant, n)
		}
	}
	switch {
	case len(meant) == 1:
		return kind, meant[0], all[meant[0]], nil
	case len(meant) > 1:
		return "", "", 0, &Error{File: c.String(), Found: fmt.Sprintf("%q, which is in %d namespaces", name, len(meant)), Wanted: list(meant)}
	case len(known) == 0:
		return "", "", 0, &Error{File: c.String(), Found: fmt.Sprintf("no %s %q", kind, name), Wanted: fmt.Sprintf("none: the file names no %s", kind)}
	}
	return "", "", 0, unknownWord(c.String(), fmt.Sprintf("no %s %q", kind, name), name, known)
}

// With returns the file with all of the changes, checked like one that was read. The receiver stays as it is. Errors are of type
// *[Error], and name the change in place of a file: the first one after which the file can't be.
func (f *File) With(changes ...Change) (*File, error) {
	out := *f
	out.Groups, out.Workloads, out.Budgets, out.Faults = slices.Clone(f.Groups), slices.Clone(f.Workloads), slices.Clone(f.Budgets), slices.Clone(f.Faults)
	var first *Error // a later change may mend what this one breaks
	for i, c := range changes {
		path, bad := out.change(c)
		if bad != nil {
			return nil, c.says(bad, path)
		}
		check := &checker{file: c.String(), lines: map[string]int{}, f: &out}
		bad = check.sound()
		switch {
		case bad == nil:
			first = nil
		case first == nil:
			first = c.says(bad, path)
		}
		if first != nil && i == len(changes)-1 {
			return nil, first
		}
	}
	return &out, nil
}

// says is an error about the object of a change.
func (c Change) says(bad *Error, path string) *Error {
	bad.File, bad.Line, bad.Path = c.String(), 0, strings.TrimPrefix(strings.TrimPrefix(bad.Path, path), ".")
	return bad
}

// change makes one change, in slices that are the file's own. path is where the object is.
func (f *File) change(c Change) (path string, bad *Error) {
	kind, name, i, bad := f.object(c)
	if bad != nil {
		return "", bad
	}
	d := newDecoder(c.String())
	switch kind {
	case "budget":
		b := &f.Budgets[i]
		path = fmt.Sprintf("budgets[%d]", i)
		bad = d.setText(reflect.ValueOf(b).Elem(), path, c.Key, c.Value)
		switch c.Key {
		case "maxUnavailable":
			b.MinAvailable = nil
		case "minAvailable":
			b.MaxUnavailable = nil
		}
	case "workload":
		w := &f.Workloads[i]
		path = fmt.Sprintf("workloads[%d]", i)
		bad = d.setText(reflect.ValueOf(w).Elem(), path, c.Key, c.Value)
		if w.PodSpec != nil && c.Key == "grace" && bad == nil { // which the simulation takes from there
			own, seconds := PodSpec{*w.PodSpec.DeepCopy()}, int64(w.Grace/time.Second)
			own.TerminationGracePeriodSeconds = &seconds
			w.PodSpec = &own
		}
		if w.Replicas < len(w.Pods) && w.Kind != KindDaemonSet {
			w.Pods = w.Pods[:w.Replicas]
		}
	case "group":
		path = fmt.Sprintf("groups[%d]", i)
		bad = (&checker{f: f, lines: map[string]int{}}).changeGroup(d, &f.Groups[i], path, c)
	default:
		bad = f.lose(d, kind, name, c.Value)
	}
	return path, bad
}

// changeGroup changes what the nodes of a group become.
func (c *checker) changeGroup(d *decoder, g *Group, path string, change Change) *Error {
	of := reflect.ValueOf(&g.To).Elem()
	switch change.Key {
	case "max":
		return d.setText(reflect.ValueOf(g).Elem(), path, "max", change.Value)
	case "version":
		g.To.Image, g.To.Release = "", ""
		if rest, is := strings.CutPrefix(change.Value, "1."); is && !strings.Contains(rest, ".") && !forms["minor"].fits(change.Value) {
			return c.bad(path+".to.version", fmt.Sprintf("%q", change.Value), forms["minor"].wanted+", or "+forms["version"].wanted)
		}
		if minor := minorOf(change.Value); change.Value == fmt.Sprintf("1.%d", minor) && minor >= oldestMinor && minor <= newestMinor {
			// The latest patch release of a minor version, as a file has it that names none.
			v := model.Version{Minor: uint16(minor), Patch: patches[minor-oldestMinor]}
			change.Value = model.ImageOf(c.f.Cluster.Provider, g.OS, v, c.f.Machine(g.To.InstanceType).Arch, dayTo).Kubelet
			if has := g.newestOf(minor); has != "" && g.otherVersion() != "" {
				change.Value = has
			}
		}
	case "image":
		g.To.Release, g.To.Version = "", g.From.Version
	}
	if bad := d.setText(of, path+".to", change.Key, change.Value); bad != nil {
		return bad
	}
	if other := g.otherVersion(); change.Key == "version" && g.To.Version == g.From.Version && other != "" {
		// The roll has begun: these nodes are what others become.
		g.To.Image, g.To.Release = g.From.Image, g.From.Release
		g.From = NodeImage{Version: other, InstanceType: g.From.InstanceType}
		c.fillImage(&g.From, g, 1, dayFrom)
	}
	c.fillImage(&g.To, g, 0, dayTo)
	return nil
}

// newestOf is the newest version of a minor one that nodes of the group have, "" where none has one.
func (g *Group) newestOf(minor int) (newest string) {
	for i := range g.Members {
		if v := g.Members[i].Version; minorOf(v) == minor && (newest == "" || NewerVersion(v, newest)) {
			newest = v
		}
	}
	return newest
}

// NewerVersion reports whether a kubelet's version is newer than another: by minor version, then by patch release, then by the build of
// the provider, which names its patches in an order of its own, so that the later text counts as the newer. One that can't be read is
// never newer.
func NewerVersion(version, than string) bool {
	if _, err := model.ParseVersion(version); err != nil {
		return false
	}
	return NewerPatch(version, than) || !NewerPatch(than, version) && version > than
}

// NewerPatch reports whether a kubelet's version is newer than another by its minor version or its patch release. One that can't be read
// is never newer, and older than all that can.
func NewerPatch(version, than string) bool {
	a, err := model.ParseVersion(version)
	if err != nil {
		return false
	}
	b, err := model.ParseVersion(than)
	return err != nil || cmp.Or(cmp.Compare(a.Minor, b.Minor), cmp.Compare(a.Patch, b.Patch)) > 0
}

// otherVersion is the version that most of the members have which haven't the group's, "" where all have that.
func (g *Group) otherVersion() (other string) {
	count := map[string]int{}
	for i := range g.Members {
		if v := g.Members[i].Version; v != g.From.Version {
			if count[v]++; other == "" || count[v] > count[other] {
				other = v
			}
		}
	}
	return other
}

// lose adds the fault that takes a zone or a node away.
func (f *File) lose(d *decoder, kind, name, at string) *Error {
	var when time.Duration
	if bad := d.decode(scalar(at), reflect.ValueOf(&when).Elem(), keyLost, rules{max: "240h"}); bad != nil {
		return bad
	}
	fault := Fault{At: &when}
	if kind == "zone" {
		fault.ZoneOutage = &ZoneOutage{Zone: name}
	} else {
		fault.Vanish = &Vanish{Victims: Victims{Node: name, Nodes: 1, Which: WhichAny}, Terminated: true}
	}
	f.Faults = append(f.Faults, fault)
	return nil
}

// setText gives a key of a struct the value that a text stands for.
func (d *decoder) setText(v reflect.Value, path, key, text string) *Error {
	for _, field := range fieldsOf(v.Type()) {
		if field.key != key {
			continue
		}
		at := v.FieldByIndex(field.index)
		at.SetZero()
		n := scalar(text)
		if at.Kind() == reflect.String {
			n.kind = isText // 1.35 is a version
		}
		return d.decode(n, at, under(path, key), field.rules)
	}
	return &Error{File: d.file, Path: under(path, key), Found: "unknown key", Wanted: "another one"}
}

// scalar is a text as a value of a file.
func scalar(text string) *node {
	n, bad := parseTree("", []byte(text))
	if bad != nil || n.kind == isList || n.kind == isMapping || n.kind == isNull {
		n = &node{kind: isText, text: text}
	}
	n.line = 1
	return n
}

package spec

import (
	"fmt"
	"slices"
)

// TimingsKind begins a file of timings alone.
const TimingsKind = "Timings"

// Measured is a file of kind Timings: what nodesim calibrate has measured on tapes, to be laid over a scenario's own timings.
type Measured struct {
	// Name of the file.
	Name string
	// Timings in the file's order.
	Timings Timings
	// Samples is on how many samples each timing was measured, by its name; 0 where the file doesn't say.
	Samples map[string]int

	dists map[string]*node
}

// ParseTimings reads a file of kind Timings: one strict YAML document as [Parse] reads it. Errors are of type *[Error].
func ParseTimings(name string, data []byte) (*Measured, error) {
	m, bad := parseTimings(name, data)
	if bad != nil {
		return nil, bad
	}
	return m, nil
}

func parseTimings(name string, data []byte) (*Measured, *Error) {
	keys := []string{"apiVersion", "kind", "timings", "samples"}
	root, err := parseTree(name, data)
	switch {
	case err != nil && err.Found == emptyFile:
		err.Wanted = all(keys[:3])
		return nil, err
	case err != nil:
		return nil, err
	case root.kind != isMapping:
		return nil, &Error{File: name, Line: root.line, Found: root.String(), Wanted: all(keys[:3])}
	}
	in := newDecoder(name)
	for i, key := range root.keys {
		if !slices.Contains(keys, key) {
			return nil, in.at(root.items[i], key, "unknown key", list(keys))
		}
	}
	for _, word := range [][2]string{{"apiVersion", APIVersion}, {"kind", TimingsKind}} {
		switch n := root.get(word[0]); {
		case n == nil:
			return nil, in.at(root, "", fmt.Sprintf("no %q", word[0]), word[1])
		case n.kind != isText || n.text != word[1]:
			return nil, in.at(n, word[0], n.String(), word[1])
		}
	}
	m := &Measured{Name: name, Samples: map[string]int{}, dists: map[string]*node{}}
	timings := root.get("timings")
	if timings == nil {
		return nil, in.at(root, "", `no "timings"`, "it")
	}
	in.lines["timings"] = timings.line
	if err := in.timings(timings, &m.Timings, "timings"); err != nil {
		return nil, err
	}
	for i, key := range timings.keys {
		m.dists[key] = timings.items[i]
	}
	if err := m.counts(in, root.get("samples")); err != nil {
		return nil, err
	}
	c := &checker{file: name, lines: in.lines, f: &File{Timings: m.Timings}}
	if err := c.timings(); err != nil {
		return nil, err
	}
	return m, nil
}

// counts reads how many samples there are of each timing.
func (m *Measured) counts(in *decoder, samples *node) *Error {
	if samples == nil {
		return nil
	}
	if samples.kind != isMapping {
		return in.at(samples, "samples", samples.String(), "a mapping of timings")
	}
	for i, key := range samples.keys {
		path := under("samples", key)
		if m.dists[key] == nil {
			return in.at(samples.items[i], path, "no such key below timings", "a timing of this file")
		}
		n, wanted := parseInt(samples.items[i], rules{})
		if wanted != "" {
			return in.at(samples.items[i], path, samples.items[i].String(), wanted)
		}
		m.Samples[key] = n
	}
	return nil
}

// With returns the document with measured timings in the place of its own, and of the times in which its workloads' containers
// become ready and stop where it doesn't state them; d stays as it is. Its files have the measurements as [File.Measured].
func (d *Document) With(m *Measured) *Document {
	with := *d
	with.measured = m
	root := d.root.copied()
	own := root.get("timings")
	if own == nil || own.kind != isMapping {
		own = &node{kind: isMapping, line: root.line}
	}
	own = own.copied()
	for _, t := range m.Timings {
		own.set(t.Name, m.dists[t.Name])
	}
	root.set("timings", own)
	if workloads := root.get("workloads"); workloads != nil {
		root.set("workloads", m.programs(workloads))
	}
	with.root = root
	return &with
}

// programs is a list of workloads, or of a workload's containers, with what was measured.
func (m *Measured) programs(all *node) *node {
	all = all.copied()
	for i, one := range all.items {
		one = one.copied()
		for _, key := range [][2]string{{"stop", "appStop"}, {"ready", "containerReady"}} {
			if dist := m.dists[key[1]]; dist != nil && one.get(key[0]) == nil {
				one.set(key[0], dist)
			}
		}
		if containers := one.get("containers"); containers != nil {
			one.set("containers", m.programs(containers))
		}
		all.items[i] = one
	}
	return all
}

// copied is a node whose keys and items may be replaced.
func (n *node) copied() *node {
	c := *n
	c.keys, c.items = slices.Clone(n.keys), slices.Clone(n.items)
	return &c
}

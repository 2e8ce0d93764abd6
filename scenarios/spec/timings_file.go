package spec

import (
	"fmt"
	"reflect"
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
	m := &Measured{Name: name, Samples: map[string]int{}}
	timings := root.get("timings")
	if timings == nil {
		return nil, in.at(root, "", `no "timings"`, "it")
	}
	in.lines["timings"] = timings.line
	if err := in.timings(timings, &m.Timings, "timings"); err != nil {
		return nil, err
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
		if _, is := m.Timings.Get(key); !is {
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

// Calibrated returns the file with measured timings in the place of its own, and of the times in which its workloads' containers
// become ready and stop where those are the defaults; f stays as it is. The result has the measurements as [File.Measured].
func (f *File) Calibrated(m *Measured) *File {
	c := *f
	c.Measured = m
	c.Timings = slices.DeleteFunc(slices.Clone(f.Timings), func(t Timing) bool {
		_, measured := m.Timings.Get(t.Name)
		return measured
	})
	c.Timings = append(c.Timings, m.Timings...)
	c.Workloads = slices.Clone(f.Workloads)
	usual := usualContainer()
	for i := range c.Workloads {
		w := &c.Workloads[i]
		m.program(&w.Stop, &w.Ready, usual)
		w.Containers = slices.Clone(w.Containers)
		for j := range w.Containers {
			m.program(&w.Containers[j].Stop, &w.Containers[j].Ready, usual)
		}
	}
	return &c
}

// program sets how long a container takes to stop and to become ready, if nothing is known of it.
func (m *Measured) program(stop, ready *Dist, usual Container) {
	if d, measured := m.Timings.Get("appStop"); measured && *stop == usual.Stop {
		*stop = d
	}
	if d, measured := m.Timings.Get("containerReady"); measured && *ready == usual.Ready {
		*ready = d
	}
}

// usualContainer is a container of which a file says nothing. That of a workload takes as long.
func usualContainer() (c Container) {
	nothing := &node{kind: isMapping, keys: []string{"name"}, items: []*node{{kind: isText, text: "usual"}}}
	_ = newDecoder("").mapping(nothing, reflect.ValueOf(&c).Elem(), "") // defaults alone
	return c
}

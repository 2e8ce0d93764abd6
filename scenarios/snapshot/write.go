package snapshot

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Write writes a file as YAML that reads as the same file: what has its default is left out, members and pods are one line each, and what
// was left out of the cluster is a comment at the top as well. Parameters are written as the values that they have.
func Write(w io.Writer, f *spec.File) error {
	lean := *f
	lean.Cluster = leanCluster(f)
	lean.Groups = make([]spec.Group, len(f.Groups))
	for i := range f.Groups {
		lean.Groups[i] = leanGroup(f, &f.Groups[i])
	}
	lean.Workloads = make([]spec.Workload, len(f.Workloads))
	for i := range f.Workloads {
		lean.Workloads[i] = leanWorkload(&f.Workloads[i])
	}
	return write(w, &lean, false)
}

// write writes a file, or a draft of one, where zero is a key that isn't there.
func write(w io.Writer, f *spec.File, draft bool) error {
	if err := comment(w, f); err != nil {
		return err
	}
	root, err := encoder{draft: draft}.mapping(reflect.ValueOf(f).Elem())
	if err != nil {
		return err
	}
	root.Style = 0
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return err
	}
	return e.Close()
}

// comment says what the file is, to people.
func comment(w io.Writer, f *spec.File) error {
	if len(f.LeftOut) == 0 {
		return nil
	}
	text := "# What this file doesn't say of the cluster:\n"
	for _, line := range f.LeftOut {
		text += "# - " + oneLine(strings.TrimSpace(line)) + "\n"
	}
	_, err := fmt.Fprint(w, text)
	return err
}

// leanCluster is the cluster without what a file's checks fill in again.
func leanCluster(f *spec.File) spec.Cluster {
	out := f.Cluster
	for _, key := range []struct {
		field   func(*spec.Cluster) any
		without func(*spec.Cluster)
	}{
		{func(c *spec.Cluster) any { return c.Handler }, func(c *spec.Cluster) { c.Handler = "" }},
		{func(c *spec.Cluster) any { return c.Region }, func(c *spec.Cluster) { c.Region = "" }},
		{func(c *spec.Cluster) any { return c.Zones }, func(c *spec.Cluster) { c.Zones = nil }},
	} {
		less := out
		less.InstanceTypes = nil
		key.without(&less)
		made, err := spec.Bare(spec.Metadata{Name: "cluster", Title: "a cluster"}, less, []spec.Group{{Name: "group"}})
		if err == nil && reflect.DeepEqual(key.field(&made.Cluster), key.field(&f.Cluster)) {
			key.without(&out)
		}
	}
	out.InstanceTypes = nil
	for _, t := range f.Cluster.InstanceTypes {
		if slices.Equal(t.Zones, f.Cluster.Zones) {
			t.Zones = nil
		}
		known, is := model.FindMachine(t.Name)
		if t.Arch == spec.ArchAMD64 && (!is || known.Arch == string(t.Arch)) {
			t.Arch = ""
		}
		if is && t.CPU == known.CPU && t.Memory.Value() == known.MemoryMi<<20 && t.GPUs == known.GPUs {
			t.CPU, t.Memory, t.GPUs = 0, resource.Quantity{}, 0
		}
		out.InstanceTypes = append(out.InstanceTypes, t)
	}
	return out
}

// leanGroup is a group without what a file's checks fill in again.
func leanGroup(f *spec.File, g *spec.Group) spec.Group {
	out := *g
	out.Members = nil
	drop := func(field func(*spec.Group) any, without func(*spec.Group)) {
		less := out
		without(&less)
		made, err := spec.Bare(spec.Metadata{Name: "group", Title: "a group"}, f.Cluster, []spec.Group{less})
		if err == nil && reflect.DeepEqual(field(&made.Groups[0]), field(g)) {
			out = less
		}
	}
	if len(g.Members) == 0 {
		drop(func(g *spec.Group) any { return g.Zones }, func(g *spec.Group) { g.Zones = nil })
	} else if slices.Equal(g.Zones, spec.ZonesOf(g.Members, f.Cluster.Zones)) {
		out.Zones = nil
	}
	drop(func(g *spec.Group) any { return g.InstanceType }, func(g *spec.Group) { g.InstanceType = "" })
	drop(func(g *spec.Group) any { return g.OS }, func(g *spec.Group) { g.OS = "" })
	for _, image := range []func(*spec.Group) *spec.NodeImage{
		func(g *spec.Group) *spec.NodeImage { return &g.From }, func(g *spec.Group) *spec.NodeImage { return &g.To },
	} {
		drop(func(g *spec.Group) any { return image(g).InstanceType }, func(g *spec.Group) { image(g).InstanceType = "" })
		drop(func(g *spec.Group) any { return image(g).Version }, func(g *spec.Group) { image(g).Version = "" })
		drop(func(g *spec.Group) any { return image(g).Image }, func(g *spec.Group) { image(g).Image = "" })
		drop(func(g *spec.Group) any { return image(g).Release }, func(g *spec.Group) { image(g).Release = "" })
	}
	inTurn := out.Zones != nil && len(g.Members) > 0 && len(g.Zones) > len(g.Members) // no file may say so many
	if inTurn {
		out.Zones = nil
	}
	for k, m := range g.Members {
		if inTurn && m.Zone == g.Zones[k%len(g.Zones)] {
			m.Zone = ""
		}
		if m.InstanceType == g.From.InstanceType {
			m.InstanceType = ""
		}
		if m.Version == g.From.Version {
			m.Version = ""
		}
		if m.Image == g.From.Image {
			m.Image = ""
		}
		out.Members = append(out.Members, m)
	}
	return out
}

// leanWorkload is a workload without what a file's checks fill in again.
func leanWorkload(w *spec.Workload) spec.Workload {
	out := *w
	if out.Image == "registry.example/"+w.Name+":1.0.0" {
		out.Image = ""
	}
	if w.PodSpec == nil {
		return out
	}
	its := spec.PodSpec{PodSpec: *w.PodSpec.DeepCopy()}
	for i := range its.Containers {
		if c := &its.Containers[i]; c.Image == "registry.example/"+c.Name+":1.0.0" {
			c.Image = ""
		}
	}
	out.PodSpec = &its
	return out
}

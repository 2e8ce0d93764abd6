package spec

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Key identifies a workload in its cluster.
func (w *Workload) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
}

// Labels are those of a workload's pods: what the file says, or app with the workload's name.
func (w *Workload) Labels() map[string]string {
	if w.PodLabels != nil {
		return w.PodLabels
	}
	return map[string]string{"app": w.Name}
}

// LabelsIn is the number of a workload's labels, all of which are among others; -1 where one isn't.
func (w *Workload) LabelsIn(others func(key string) (value string, there bool)) int {
	if w.PodLabels == nil {
		if value, _ := others("app"); value != w.Name {
			return -1
		}
		return 1
	}
	for key, value := range w.PodLabels {
		if is, there := others(key); !there || is != value {
			return -1
		}
	}
	return len(w.PodLabels)
}

// workloadsNamed returns what a reference may mean: web, which is one or several workloads of that name, or shop/web.
func (f *File) workloadsNamed(ref string) (all []*Workload) {
	namespace, name, qualified := strings.Cut(ref, "/")
	if !qualified {
		name = ref
	}
	for i := range f.Workloads {
		if w := &f.Workloads[i]; w.Name == name && (!qualified || w.Namespace == namespace) {
			all = append(all, w)
		}
	}
	return all
}

// Workload returns what a reference means, or nil. Of several of a name, which a file may not mean, it is the first.
func (f *File) Workload(ref string) *Workload {
	if all := f.workloadsNamed(ref); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Covers returns the workload that a budget names, nil where it has a selector or names none.
func (f *File) Covers(b *Budget) *Workload {
	if b.Selector != nil || b.Workload == "" {
		return nil
	}
	return f.Workload(f.Meant(b))
}

// Meant returns the reference to a budget's workload: its namespace says which of several is meant.
func (f *File) Meant(b *Budget) string {
	if qualified := b.Namespace + "/" + b.Workload; f.Workload(qualified) != nil {
		return qualified
	}
	return b.Workload
}

// workloadNamed refuses a reference to no workload, or to more than one. An empty one is none.
func (c *checker) workloadNamed(path, ref string) *Error {
	all := c.f.workloadsNamed(ref)
	if ref == "" || len(all) == 1 {
		return nil
	}
	if len(all) > 1 {
		var refs []string
		for _, w := range all {
			refs = append(refs, w.Key().String())
		}
		return c.bad(path, fmt.Sprintf("%q, which is in %d namespaces", ref, len(all)), list(refs))
	}
	var known []string
	for i := range c.f.Workloads {
		w := &c.f.Workloads[i]
		if name := w.Name; len(c.f.workloadsNamed(name)) == 1 && !strings.Contains(ref, "/") {
			known = append(known, name)
		} else {
			known = append(known, w.Key().String())
		}
	}
	return c.unknown(path, "workload", ref, known)
}

package objects

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// asks reads what quotas ask about of the specs of pods. Pods that were read one after the other share it where they are alike.
type asks struct{ scratch, last []byte }

// asked reports whether a field of a pod's spec is one that quotas ask about.
func asked(field []byte) bool {
	switch string(field) {
	case "containers", "initContainers", "resources", "activeDeadlineSeconds", "priorityClassName", "affinity":
		return true
	}
	return false
}

// of is a spec with these fields alone, and of its containers names, resources and restart policies.
func (a *asks) of(spec []byte) []byte {
	b := append(a.scratch[:0], '{')
	for name, value := range rawjson.Members(spec) {
		if !asked(name) {
			continue
		}
		b = member(b, name)
		if string(name) != "containers" && string(name) != "initContainers" {
			b = append(b, value...)
			continue
		}
		b = append(b, '[')
		for c := range rawjson.Elements(value) {
			if b[len(b)-1] != '[' {
				b = append(b, ',')
			}
			b = append(b, '{')
			for name, value := range rawjson.Members(c) {
				switch string(name) {
				case "name", "resources", "restartPolicy":
					b = append(member(b, name), value...)
				}
			}
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	a.scratch = append(b, '}')
	if !bytes.Equal(a.scratch, a.last) {
		a.last = bytes.Clone(a.scratch)
	}
	return a.last
}

// member begins a member of an object.
func member(b, name []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), name...), `":`...)
}

// patched is what a pod asks for after a merge patch of its spec; the same bytes say that it asks for the same.
func (a *asks) patched(was, spec []byte) []byte {
	for name := range rawjson.Members(spec) {
		if asked(name) {
			return a.of(rawjson.Apply(nil, was, spec))
		}
	}
	return was
}

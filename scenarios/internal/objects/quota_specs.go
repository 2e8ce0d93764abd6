package objects

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// quotaSpecs reduces the specs of pods to what quotas look at. Pods whose specs come one after the other and are alike in that
// share the bytes.
type quotaSpecs struct{ scratch, last []byte }

// inQuotaSpec reports whether quotas look at a field of a pod's spec.
func inQuotaSpec(field []byte) bool {
	switch string(field) {
	case "containers", "initContainers", "resources", "activeDeadlineSeconds", "priorityClassName", "affinity":
		return true
	}
	return false
}

// reduce is a spec with these fields alone, and of its containers names, resources and restart policies.
func (a *quotaSpecs) reduce(spec []byte) []byte {
	b := append(a.scratch[:0], '{')
	for name, value := range rawjson.Members(spec) {
		if !inQuotaSpec(name) {
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

// patched is a reduced spec after a merge patch of the whole one; it is the same slice where quotas see no change.
func (a *quotaSpecs) patched(was, spec []byte) []byte {
	for name := range rawjson.Members(spec) {
		if inQuotaSpec(name) {
			return a.reduce(rawjson.Apply(nil, was, spec))
		}
	}
	return was
}

package timeline

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Redactor drops from whole objects what a tape must not hold. It works on
// what an object says, not on its kind, so that a pod template in a custom
// resource is treated as a pod is. A Redactor may be used by many goroutines.
type Redactor struct {
	full bool
}

// DefaultRedaction keeps what a roll shows and drops the rest:
//
//   - metadata.managedFields, everywhere;
//   - annotations, but for those that nodes and drains are steered by
//     (kubectl's last-applied-configuration is a copy of the whole object);
//   - env, environment, args, command, userData, password, token and their
//     like, at any depth, and the data of ConfigMaps;
//   - of pod specs, in pods and in templates, all but scheduling, tolerations,
//     grace, priority, the names, images and resources of containers, and
//     the names and types of volumes (with the claim of a claim);
//   - of statuses, the messages of terminated containers: a program may write
//     anything there.
//
// Messages of Events and conditions are kept: they are what a roll shows.
func DefaultRedaction() *Redactor { return &Redactor{} }

// FullRedaction keeps whole objects but for metadata.managedFields.
func FullRedaction() *Redactor { return &Redactor{full: true} }

// Paths says for the header what was dropped. "**" stands for any depth.
func (r *Redactor) Paths() []string {
	paths := []string{"**.metadata.managedFields"}
	if r.full {
		return paths
	}
	paths = append(paths, "**.metadata.annotations (all but known keys)")
	for _, k := range slices.Sorted(slices.Values(anywhere)) {
		paths = append(paths, "**."+k)
	}
	return append(paths, "**.state.terminated.message",
		"**.spec (of pods: all but scheduling)", "**.containers (all but name, image, resources)",
		"**.volumes (contents)", "configmaps.data", "configmaps.binaryData")
}

// anywhere lists the members that are dropped wherever they stand.
// Most are of core/v1; extraArgs, extraEnv and the like are what Cluster API,
// kubeadm and charts call the same thing in resources of their own.
var anywhere = []string{
	"args", "command", "customData", "env", "envFrom", "envVars", "environment",
	"extraArgs", "extraEnv", "kubeletExtraArgs", "password", "token", "userData",
}

var isAnywhere = set(anywhere...)

// ErrSecret is returned for objects that no tape may hold.
var ErrSecret = fmt.Errorf("secrets are never recorded")

// Refuses reports whether objects of a resource are refused altogether.
func (r *Redactor) Refuses(res Resource) bool {
	return res.Group == "" && (res.Resource == "secrets" || res.Kind == "Secret")
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// Redact returns what may be kept of an object, as canonical JSON in memory
// of its own. An object that isn't JSON gives an error, a Secret ErrSecret.
func (r *Redactor) Redact(res Resource, object []byte) ([]byte, error) {
	if r.Refuses(res) {
		return nil, ErrSecret
	}
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	raw, err := rawjson.Compact((*buf)[:0], object)
	if err != nil {
		return nil, fmt.Errorf("%s object: %w", res, err)
	}
	*buf = raw
	if rawjson.Text(raw, "kind") == "Secret" && rawjson.Text(raw, "apiVersion") == "v1" {
		return nil, ErrSecret
	}
	p := pruner{full: r.full, core: res.Group == "", configMap: res.Group == "" && res.Resource == "configmaps"}
	return p.object(make([]byte, 0, len(raw)/2), raw, asObject), nil
}

// Events returns the events of a tape with their objects redacted, and the
// header that says so.
func (r *Redactor) Events(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
	out := *h
	out.Redaction = slices.Compact(slices.Sorted(slices.Values(append(r.Paths(), h.Redaction...))))
	return &out, func(yield func(Event, error) bool) {
		for ev, err := range events {
			if err == nil && ev.Type.Object() {
				res, ok := h.Lookup(ev.Resource)
				if !ok {
					err = fmt.Errorf("redact %s: not in the header's resources", ev.Resource)
				} else {
					ev.Object, err = r.Redact(res, ev.Object)
					ev.Patch = nil
				}
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// place is what an object is, by where it stands.
type place int

const (
	asObject    place = iota
	asMetadata        // metadata
	asPodSpec         // spec, with containers in it
	asContainer       // an element of containers
	asVolume          // an element of volumes
	asState           // terminated
)

// pruner copies what may be kept.
type pruner struct{ full, core, configMap bool }

func (p pruner) object(dst, raw []byte, where place) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for c := rawjson.Object(raw); ; {
		name, value, ok := c.Next()
		if !ok {
			return append(dst, '}')
		}
		if p.drops(where, name, value) {
			continue
		}
		dst = appendMember(dst, first, name, nil)
		dst = p.value(dst, name, value, where)
	}
}

// drops decides about one member.
func (p pruner) drops(where place, name, value []byte) bool {
	if where == asMetadata && string(name) == "managedFields" {
		return true
	}
	if p.full {
		return false
	}
	switch where {
	case asPodSpec:
		return !podSpecKeeps[string(name)]
	case asContainer:
		return !containerKeeps[string(name)]
	case asState:
		return string(name) == "message"
	}
	if string(name) == "data" || string(name) == "binaryData" {
		return p.configMap
	}
	return isAnywhere[string(name)]
}

// value copies the value of a member, pruned by what the member's name says.
func (p pruner) value(dst, name, value []byte, where place) []byte {
	if len(value) == 0 || value[0] != '{' && value[0] != '[' {
		return append(dst, value...)
	}
	if p.full {
		if string(name) == "metadata" {
			return p.nested(dst, value, asMetadata)
		}
		return p.nested(dst, value, asObject)
	}
	switch string(name) {
	case "metadata":
		return p.nested(dst, value, asMetadata)
	case "annotations":
		return p.annotations(dst, value)
	case "labels", "matchLabels", "nodeSelector", "selector":
		if texts(value) {
			return append(dst, value...) // a label may well be called env
		}
	case "capacity", "allocatable", "conditions", "addresses", "images", "nodeInfo", "taints", "tolerations", "ownerReferences":
		if p.core {
			return append(dst, value...) // nothing to drop, and much of it; elsewhere these may be anything
		}
	case "spec":
		if c := rawjson.Get(value, "containers"); len(c) > 0 && c[0] == '[' {
			return p.nested(dst, value, asPodSpec)
		}
	case "containers", "initContainers", "ephemeralContainers":
		return p.nested(dst, value, asContainer)
	case "volumes":
		return p.nested(dst, value, asVolume)
	case "terminated":
		return p.nested(dst, value, asState)
	}
	if where == asVolume && string(name) != "persistentVolumeClaim" {
		return append(dst, "{}"...) // its type, without its contents
	}
	return p.nested(dst, value, asObject)
}

// nested copies an object, or an array of them.
func (p pruner) nested(dst, value []byte, where place) []byte {
	if rawjson.IsObject(value) {
		return p.object(dst, value, where)
	}
	if len(value) == 0 || value[0] != '[' {
		return append(dst, value...)
	}
	dst = append(dst, '[')
	n := len(dst)
	for e := range rawjson.Elements(value) {
		if len(dst) > n {
			dst = append(dst, ',')
		}
		dst = p.nested(dst, e, where)
	}
	return append(dst, ']')
}

func (p pruner) annotations(dst, value []byte) []byte {
	if !rawjson.IsObject(value) {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	first := len(dst)
	for name, v := range rawjson.Members(value) {
		if len(v) > 0 && v[0] == '"' && annotationKept(name) {
			dst = appendMember(dst, first, name, v)
		}
	}
	return append(dst, '}')
}

// texts reports whether an object holds strings only, as labels do.
func texts(value []byte) bool {
	if !rawjson.IsObject(value) {
		return false
	}
	for _, v := range rawjson.Members(value) {
		if len(v) == 0 || v[0] != '"' {
			return false
		}
	}
	return true
}

func annotationKept(name []byte) bool {
	for _, p := range annotationPrefixes {
		if bytes.HasPrefix(name, p) {
			return true
		}
	}
	return annotationKeeps[string(name)]
}

package replay

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/nodesim/nodesim/internal/rawjson"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Object is one version of one object. It never changes, may be kept, and is
// shared by everyone who lists or watches: one copy of its bytes, one decoding.
type Object struct {
	namespace, name, key string
	uid                  types.UID
	version              string
	raw                  json.RawMessage

	labels atomic.Pointer[labels.Set]
	fields atomic.Pointer[[]fieldValue]

	mu   sync.Mutex
	memo []memo
}

type fieldValue struct{ name, value string }

type memo struct {
	key, value any
	err        error
}

// NewObject makes an object that isn't in any cluster of its compact JSON, which
// must not be written to afterwards.
func NewObject(raw json.RawMessage) *Object {
	o := &Object{namespace: rawjson.Text(raw, "metadata", "namespace"), name: rawjson.Text(raw, "metadata", "name"), raw: raw}
	o.key = o.namespace + "/" + o.name
	o.identify()
	return o
}

// identify reads the UID and the version, where there are any.
func (o *Object) identify() {
	if uid := rawjson.Text(o.raw, "metadata", "uid"); uid != "" {
		o.uid = types.UID(uid)
	}
	if v, ok := parseVersion(rawjson.Text(o.raw, "metadata", "resourceVersion")); ok {
		o.version = v
	}
}

// Raw returns the object as compact JSON, its resourceVersion as a client
// sees it. The bytes must not be written to.
func (o *Object) Raw() json.RawMessage { return o.raw }

// Namespace returns the namespace, or "" for what has none.
func (o *Object) Namespace() string { return o.namespace }

// Name returns the name.
func (o *Object) Name() string { return o.name }

// UID returns the UID, or "" where the tape has none.
func (o *Object) UID() types.UID { return o.uid }

// ResourceVersion returns the version as a client sees it, a decimal integer.
func (o *Object) ResourceVersion() string { return o.version }

// Labels returns the labels, parsed once. The set must not be written to.
func (o *Object) Labels() labels.Set {
	if l := o.labels.Load(); l != nil {
		return *l
	}
	set := labels.Set{}
	for name, value := range rawjson.Members(rawjson.Get(o.raw, "metadata", "labels")) {
		k, _ := rawjson.Unquote(quoted(name))
		v, _ := rawjson.Unquote(value)
		set[k] = v
	}
	o.labels.Store(&set)
	return set
}

// quoted returns a member's name with the quotes that stand around it in the
// document.
func quoted(name []byte) []byte {
	return append(append([]byte{'"'}, name...), '"')
}

// field returns what a selectable field holds, extracted once.
func (o *Object) field(name string, get func(*Object) string) string {
	known := o.fields.Load()
	if known != nil {
		for _, f := range *known {
			if f.name == name {
				return f.value
			}
		}
	}
	f := fieldValue{name, get(o)}
	all := []fieldValue{f}
	if known != nil {
		all = append(all, *known...)
	}
	o.fields.Store(&all)
	return f.value
}

// Memo returns what build makes of the object, calling it once for each key
// however many watchers ask: the place for a decoded object, an encoding, a
// table row. Callers share the value and must not change it. The key is
// compared with ==; a type of the caller's own keeps packages apart.
func (o *Object) Memo(key any, build func(*Object) (any, error)) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.memo {
		if m.key == key {
			return m.value, m.err
		}
	}
	value, err := build(o)
	o.memo = append(o.memo, memo{key, value, err})
	return value, err
}

// at returns the same state under another version: what the API server's
// watch cache sends as DELETED when an object leaves a selector
// (k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go, convertToWatchEvent).
func (o *Object) at(version string) *Object {
	if o.version == version {
		return o
	}
	return &Object{
		namespace: o.namespace, name: o.name, key: o.key, uid: o.uid,
		version: version, raw: stamp(o.raw, version),
	}
}

// stamp returns the object raw with another resourceVersion.
func stamp(raw json.RawMessage, version string) json.RawMessage {
	patch := make([]byte, 0, 64)
	patch = append(patch, `{"metadata":{"resourceVersion":`...)
	patch = rawjson.AppendString(patch, version)
	patch = append(patch, `}}`...)
	return rawjson.Apply(make([]byte, 0, len(raw)+len(version)+24), raw, patch)
}

// stamped reports whether raw carries the version. The first member of that
// name is the metadata's in all but odd objects, and no other has its value.
func stamped(raw json.RawMessage, version string) bool {
	if i := bytes.Index(raw, versionMember); i >= 0 {
		v := raw[i+len(versionMember):]
		if len(v) > len(version) && string(v[:len(version)]) == version && v[len(version)] == '"' {
			return true
		}
	}
	v := rawjson.Get(raw, "metadata", "resourceVersion")
	return len(v) == len(version)+2 && string(v[1:len(v)-1]) == version
}

var versionMember = []byte(`"resourceVersion":"`)

// With returns the object changed by a merge patch (RFC 7386), its version and
// identity read from it again.
func (o *Object) With(patch []byte) *Object {
	raw := rawjson.Apply(make([]byte, 0, len(o.raw)+len(patch)), o.raw, patch)
	n := &Object{namespace: o.namespace, name: o.name, key: o.key, uid: o.uid, version: o.version, raw: raw}
	n.identify()
	return n
}

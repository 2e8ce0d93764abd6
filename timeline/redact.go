package timeline

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/nodesim/nodesim/internal/mask"
	"github.com/nodesim/nodesim/internal/rawjson"
)

// Redactor drops from whole objects what a tape must not hold. A Redactor may
// be used by many goroutines.
type Redactor struct {
	full bool
}

// DefaultRedaction keeps what a roll needs and drops the rest:
//
//   - of the kinds in redact_fields.txt, the fields that are there;
//   - of other kinds identity, labels, owners, conditions, counts and times;
//   - annotations by their whole keys, those that nodes and drains are steered by;
//   - in every string that is kept, but for the names and UIDs that objects are
//     found by, credentials of known shapes are masked.
//
// Messages of Events and conditions are kept, masked: they show what a roll
// does.
func DefaultRedaction() *Redactor { return &Redactor{} }

// FullRedaction keeps whole objects but for metadata.managedFields and what
// Secrets inside of other objects hold. Credentials of known shapes are masked.
func FullRedaction() *Redactor { return &Redactor{full: true} }

// Paths says for the header what was done to the objects.
func (r *Redactor) Paths() []string {
	if r.full {
		return []string{
			"fields: all but **.metadata.managedFields and what Secrets inside of other objects hold",
			maskedStrings,
		}
	}
	return []string{
		"fields: of known kinds those that a roll needs, of others identity, labels, owners, conditions, counts and times",
		"annotations: known keys only",
		maskedStrings,
	}
}

// maskedStrings says what internal/mask does.
const maskedStrings = `strings: userinfo of URLs, PEM blocks, and tokens and keys of known shapes read "` + mask.Word + `"`

// ErrSecret is returned for objects that no tape may hold.
var ErrSecret = fmt.Errorf("secrets are never recorded")

// Refuses reports whether objects of a resource are refused altogether.
func (r *Redactor) Refuses(res Resource) bool {
	return res.Group == "" && (res.Resource == "secrets" || res.Kind == "Secret")
}

// buffers hold what Redact works in: the canonical text, and what is kept.
type buffers struct{ canonical, kept []byte }

var scratch = sync.Pool{New: func() any { return new(buffers) }}

// Redact returns what may be kept of an object, as canonical JSON in memory
// of its own, of just that size. An object that isn't JSON gives an error, a
// Secret ErrSecret.
func (r *Redactor) Redact(res Resource, object []byte) ([]byte, error) {
	if r.Refuses(res) {
		return nil, ErrSecret
	}
	buf := scratch.Get().(*buffers)
	defer scratch.Put(buf)
	raw, err := rawjson.Compact(buf.canonical[:0], object)
	if err != nil {
		return nil, fmt.Errorf("%s object: %w", res, err)
	}
	buf.canonical = raw
	if isSecret(raw) {
		return nil, ErrSecret
	}
	c := copier{src: raw, dst: buf.kept[:0], full: r.full}
	c.copyTo(c.top(r.rule(res)))
	buf.kept = c.dst
	return bytes.Clone(c.dst), nil
}

// rule returns what is kept of a resource's objects.
func (r *Redactor) rule(res Resource) *rule {
	if r.full {
		return &wholeRule
	}
	rules := fieldRules()
	if known, ok := rules[groupResource{res.Group, res.Resource}]; ok {
		return known
	}
	return rules[groupResource{}]
}

var wholeRule = rule{keeps: keepWhole}

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

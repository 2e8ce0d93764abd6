package timeline

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/mask"
	"github.com/nodesim/nodesim/internal/rawjson"
)

// copier copies what rules keep of a canonical text, in one pass: what is kept
// is looked at once, and copied in runs that end where something is dropped.
type copier struct {
	src, dst []byte
	from     int  // src[from:] is neither copied nor dropped
	full     bool // what keepWhole is for: drops managedFields, and what Secrets hold
}

// top copies the whole text and returns where it ends. What is no object is
// nothing that a rule admits: an empty object represents it.
func (c *copier) top(r *rule) (end int) {
	end, keep := c.value(0, r)
	if !keep {
		c.put(0, end, "{}")
	}
	return end
}

func (c *copier) copyTo(i int) {
	c.dst = append(c.dst, c.src[c.from:i]...)
	c.from = i
}

// put replaces src[i:end].
func (c *copier) put(i, end int, text string) {
	c.copyTo(i)
	c.dst = append(c.dst, text...)
	c.from = end
}

// list is an object or an array that is being copied: what is between its
// commas may be left out.
type list struct {
	begin int  // of the element under way
	some  bool // an element before it is kept
}

// next closes the element that ends at i and returns where the one after it
// begins; more is false where there is none.
func (c *copier) next(l *list, i int, keep bool) (at int, more bool) {
	comma := i < len(c.src) && c.src[i] == ','
	switch {
	case keep:
		l.some = true
	case comma:
		c.put(l.begin, i+1, "")
	default:
		c.copyTo(l.begin)
		if l.some {
			c.dst = c.dst[:len(c.dst)-1] // the comma before it
		}
		c.from = i
	}
	l.begin = i + 1
	return i + 1, comma
}

// value copies the value at i by a rule and returns where it ends. keep is
// false where the rule doesn't admit it.
func (c *copier) value(i int, r *rule) (end int, keep bool) {
	switch b := at(c.src, i); {
	case r == nil || r.keeps == keepUnknown:
		return rawjson.Skip(c.src, i), false
	case r.keeps == keepWhole:
		return c.whole(i, false), true
	case b == '{':
		return c.object(i, r)
	case b == '[' && r.keeps != keepAnnotations:
		return c.array(i, r)
	case b == '"' && (r.keeps == keepScalar || r.keeps == keepName):
		if r.keeps == keepName {
			return rawjson.Skip(c.src, i), true
		}
		return c.text(i), true
	case b == '"':
		return rawjson.Skip(c.src, i), false
	default:
		return rawjson.Skip(c.src, i), b == 'n' || r.keeps == keepScalar || r.keeps == keepName
	}
}

func (c *copier) array(i int, r *rule) (end int, keep bool) {
	if i++; at(c.src, i) == ']' {
		return i + 1, true
	}
	l := list{begin: i}
	for more := true; more; {
		end, keep := c.value(i, r)
		i, more = c.next(&l, end, keep)
	}
	return i, true
}

func (c *copier) object(i int, r *rule) (end int, keep bool) {
	switch r.keeps {
	case keepFields, keepAnnotations:
	case keepType:
		end = rawjson.Skip(c.src, i)
		c.put(i, end, "{}")
		return end, true
	default:
		return rawjson.Skip(c.src, i), false
	}
	if i++; at(c.src, i) == '}' {
		return i + 1, true
	}
	l := list{begin: i}
	hint := 0
	for more := true; more; {
		end := rawjson.Skip(c.src, i)
		name := c.src[i+1 : end-1]
		var keep bool
		if i = end + 1; r.keeps == keepAnnotations {
			if keep = annotationKeeps[string(name)] && at(c.src, i) == '"'; keep {
				end = c.text(i)
			} else {
				end = rawjson.Skip(c.src, i)
			}
		} else if kid := r.find(name, &hint); kid != nil && kid.keeps == keepUnknown {
			end = rawjson.Skip(c.src, i)
			keep = isCount(name, c.src[i:end]) || isTime(c.src[i:end])
		} else {
			end, keep = c.value(i, kid)
		}
		i, more = c.next(&l, end, keep)
	}
	return i, true
}

// text copies the string at i and masks what it holds.
func (c *copier) text(i int) (end int) {
	end, suspect := mask.Scan(c.src, i+1)
	if end = min(end+1, len(c.src)); suspect {
		c.masked(i, end)
	}
	return end
}

// masked puts a masked string in the place of src[i:end] and reports whether
// there was something to mask.
func (c *copier) masked(i, end int) bool {
	s, ok := rawjson.Unquote(c.src[i:end])
	if !ok {
		return false
	}
	m := mask.String(s)
	if m == s {
		return false
	}
	c.copyTo(i)
	c.dst = rawjson.AppendString(c.dst, m)
	c.from = end
	return true
}

// whole copies the value at i with its strings masked. A member whose name
// holds a credential is dropped.
func (c *copier) whole(i int, metadata bool) (end int) {
	switch at(c.src, i) {
	case '"':
		return c.text(i)
	case '[':
		if i++; at(c.src, i) == ']' {
			return i + 1
		}
		l := list{begin: i}
		for more := true; more; {
			i, more = c.next(&l, c.whole(i, metadata), true)
		}
		return i
	case '{':
		return c.members(i, metadata)
	}
	return rawjson.Skip(c.src, i)
}

func (c *copier) members(i int, metadata bool) (end int) {
	start := i
	if i++; at(c.src, i) == '}' {
		return i + 1
	}
	l := list{begin: i}
	for more := true; more; {
		end, suspect := mask.Scan(c.src, i+1)
		name := c.src[i+1 : end]
		drop := c.full && (metadata && string(name) == "managedFields" ||
			(string(name) == "data" || string(name) == "stringData") && isSecret(c.src[start:]))
		if suspect && !drop {
			s, _ := rawjson.Unquote(c.src[i : end+1])
			drop = mask.String(s) != s
		}
		if i = end + 2; drop {
			end = rawjson.Skip(c.src, i)
		} else {
			end = c.whole(i, string(name) == "metadata")
		}
		i, more = c.next(&l, end, !drop)
	}
	return i
}

// isSecret reports whether an object is a Secret, wherever it is: in a List or
// a template of a user's own.
func isSecret(object []byte) bool {
	return string(rawjson.Get(object, "kind")) == `"Secret"` && string(rawjson.Get(object, "apiVersion")) == `"v1"`
}

// isCount reports whether a member of an unknown kind counts something: a whole
// number under a name that says so.
func isCount(name, value []byte) bool {
	for i, c := range value {
		if (c < '0' || c > '9') && (i > 0 || c != '-') {
			return false
		}
	}
	return countNames[string(name)] || bytes.HasSuffix(name, []byte("Replicas")) || bytes.HasSuffix(name, []byte("Count"))
}

var countNames = set("replicas", "observedGeneration", "generation", "revision", "active", "succeeded", "failed", "ready",
	"available", "desired", "current", "updated", "nodes", "minSize", "maxSize", "size", "parallelism", "completions", "minReadySeconds")

// isTime reports whether a value is a time as Kubernetes writes it, RFC 3339.
func isTime(value []byte) bool {
	const form = `"0000-00-00T00:00:00`
	if len(value) < len(form)+2 || len(value) > len(form)+17 {
		return false
	}
	for i, c := range value[:len(form)] {
		if f := form[i]; f == '0' && (c < '0' || c > '9') || f != '0' && c != f {
			return false
		}
	}
	for _, c := range value[len(form) : len(value)-1] {
		if (c < '0' || c > '9') && c != '.' && c != 'Z' && c != '+' && c != '-' && c != ':' {
			return false
		}
	}
	return true
}

// at returns b[i], or 0 outside of b.
func at(b []byte, i int) byte {
	if i >= len(b) {
		return 0
	}
	return b[i]
}

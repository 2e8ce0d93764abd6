package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/nodesim/nodesim/recorder/formats"
	"github.com/nodesim/nodesim/scenarios/snapshot"
)

// counts are objects that were found.
type counts struct {
	all     int
	lists   int            // lists of some, also of none
	foreign int            // documents that are no object
	events  int            // of a watch, among the foreign ones
	taken   map[string]int // by kind; 0 of one that has a list without objects
}

func (n *counts) add(more counts) {
	n.all, n.lists, n.foreign, n.events = n.all+more.all, n.lists+more.lists, n.foreign+more.foreign, n.events+more.events
	for kind, some := range more.taken {
		n.count(kind, some)
	}
}

func (n *counts) count(kind string, some int) {
	if n.taken == nil {
		n.taken = map[string]int{}
	}
	n.taken[kind] += some
}

// An object is one of Kubernetes, or a list of some.
type object struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"apiVersion"`
	Metadata   json.RawMessage   `json:"metadata"`
	Message    json.RawMessage   `json:"message"` // of a Status
	Items      []json.RawMessage `json:"items"`

	within bool // of a list's items: it is that of a list in a list
}

func (o *object) named() bool {
	var metadata struct {
		Name string `json:"name"`
	}
	return json.Unmarshal(o.Metadata, &metadata) == nil && metadata.Name != ""
}

// An itemError is what is wrong with an object of a text.
type itemError struct {
	raw []byte // the object, as the text has it
	err error
}

func (e *itemError) Error() string { return e.err.Error() }

// remedy ends the errors about an object.
const remedy = "want objects as kubectl get prints them: mend this one, or take it out"

// add takes in the objects of a text: JSON, or YAML, one after the other.
func add(ctx context.Context, r *snapshot.Reading, text []byte) (n counts, err error) {
	text = plain(text)
	if packed := archive(text); packed != "" {
		return n, fmt.Errorf("found %s archive: want what is in it: unpack it, and name its folder", packed)
	}
	if begins := bytes.TrimLeft(text, " \t\r\n"); len(begins) == 0 {
		return n, nil
	} else if begins[0] == '{' || begins[0] == '[' {
		return addJSON(ctx, r, text)
	}
	line := 1
	for doc := range bytes.SplitSeq(text, []byte("\n---")) {
		if err := ctx.Err(); err != nil {
			return n, context.Cause(ctx)
		}
		raw, err := formats.YAMLToJSON(doc)
		if err != nil {
			return n, fmt.Errorf("the document of line %d: %w: want objects of Kubernetes, as JSON or YAML", line, err)
		}
		at := line
		line += bytes.Count(doc, []byte("\n")) + 1
		if raw == nil {
			continue
		}
		some, err := addObject(r, raw, object{})
		n.add(some)
		if err != nil {
			return n, fmt.Errorf("the document of line %d: %w", at, err)
		}
	}
	return n, nil
}

// archive says of what kind an archive is, "" where a text is none.
func archive(text []byte) string {
	const magic = 257 // where tar has it
	switch {
	case len(text) > magic && bytes.HasPrefix(text[magic:], []byte("ustar")):
		return "a tar"
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return "a zip"
	}
	return ""
}

// plain is a text as UTF-8 without a byte order mark. PowerShell redirects into UTF-16.
func plain(text []byte) []byte {
	little, big := bytes.HasPrefix(text, []byte{0xff, 0xfe}), bytes.HasPrefix(text, []byte{0xfe, 0xff})
	if !little && !big {
		return bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		low, high := text[i], text[i+1]
		if big {
			low, high = high, low
		}
		units = append(units, uint16(high)<<8|uint16(low))
	}
	return []byte(string(utf16.Decode(units)))
}

func addJSON(ctx context.Context, r *snapshot.Reading, text []byte) (n counts, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		if err := ctx.Err(); err != nil {
			return n, context.Cause(ctx)
		}
		var raw json.RawMessage
		err := d.Decode(&raw)
		var bad *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return n, fmt.Errorf("line %d: the JSON ends in the middle of a value: want the whole of it", bytes.Count(text, []byte("\n"))+1)
		case errors.As(err, &bad):
			at := min(int(d.InputOffset())+int(bad.Offset), len(text))
			return n, fmt.Errorf("line %d: %w: want JSON", bytes.Count(text[:at], []byte("\n"))+1, err)
		case err != nil:
			return n, err
		}
		some, err := addObject(r, raw, object{})
		n.add(some)
		if bad := (*itemError)(nil); errors.As(err, &bad) {
			return n, fmt.Errorf("line %d: %w", bytes.Count(text[:max(bytes.Index(text, bad.raw), 0)], []byte("\n"))+1, err)
		}
		if err != nil {
			return n, err
		}
	}
}

// addObject takes in an object, or those of a list. Items of typed lists don't say what they are: the list does. jq -s makes a
// List of lists. YAML that is cut off is still YAML; but kubectl writes the kind of a list after its items, so that such a list has none.
func addObject(r *snapshot.Reading, raw []byte, within object) (n counts, err error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return n, fmt.Errorf("%w: want an object of Kubernetes, or a List", err)
	}
	o.Kind, o.APIVersion = cmp.Or(o.Kind, within.Kind), cmp.Or(o.APIVersion, within.APIVersion)
	whole := within.Kind == ""
	switch kind, is := strings.CutSuffix(o.Kind, "List"); {
	case whole && is:
		return addItems(r, o.Items, object{Kind: kind, APIVersion: o.APIVersion})
	case within.Kind == "-" && !within.within && is && !o.named():
		return addItems(r, o.Items, object{Kind: kind, APIVersion: o.APIVersion, within: true})
	case whole && o.Kind == "" && len(o.Items) > 0:
		return n, errors.New("found a list without a kind: the input is cut off: want the whole of it")
	case whole && len(o.Items) > 0 && !o.named():
		return n, fmt.Errorf("found a list of the kind %.40q: the input is cut off: want the whole of it, with the kind List", o.Kind)
	case whole && o.Kind == "" && o.APIVersion != "" && begun(raw):
		return n, errors.New("found an apiVersion without a kind: the input is cut off: want the whole of it")
	case o.Kind == "":
		if n.foreign++; ofWatch(raw) {
			n.events++
		}
		return n, nil
	case o.Kind == "-":
		return n, &itemError{raw, fmt.Errorf("found an object without a kind: %s", remedy)}
	case o.Kind == "Status" && o.APIVersion == "v1":
		return n, fmt.Errorf("found the answer %.200s of an API server: want objects, as kubectl get prints them", o.Message)
	}
	n.all++
	if snapshot.Takes(o.APIVersion, o.Kind) {
		n.count(o.Kind, 1)
	}
	err = r.Add(o.APIVersion, o.Kind, raw)
	if tooMany := (*snapshot.TooManyError)(nil); err != nil && !errors.As(err, &tooMany) {
		return n, &itemError{raw, fmt.Errorf("%w: %s", err, remedy)}
	}
	return n, err
}

// begun reports whether a document without a kind may be the beginning of an object or of a list: other programs' files have an apiVersion,
// too, such as Helm's Chart.yaml.
func begun(raw []byte) bool {
	var has map[string]json.RawMessage
	if json.Unmarshal(raw, &has) != nil {
		return true
	}
	_, one := has["metadata"]
	_, list := has["items"]
	return one || list || len(has) == 1
}

// A watchEvent is an event of a watch, as kubectl get --output-watch-events prints it, or has one with the time of its arrival.
type watchEvent struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
	Event  *watchEvent     `json:"event"`
}

// ofWatch reports whether a document is a watchEvent.
func ofWatch(raw []byte) bool {
	var e watchEvent
	if json.Unmarshal(raw, &e) != nil {
		return false
	}
	return len(e.Object) > 0 && e.Type != "" || e.Event != nil && len(e.Event.Object) > 0 && e.Event.Type != ""
}

// addItems takes in the objects of a list, of which each is an item.
func addItems(r *snapshot.Reading, items []json.RawMessage, item object) (n counts, err error) {
	n.lists++
	if item.Kind == "" { // kubectl's List, of objects that say what they are
		item = object{Kind: "-", within: item.within}
	} else if snapshot.Takes(item.APIVersion, item.Kind) {
		n.count(item.Kind, 0)
	}
	for i, raw := range items {
		some, err := addObject(r, raw, item)
		n.add(some)
		if err != nil {
			return n, fmt.Errorf("items[%d]: %w", i, err)
		}
	}
	return n, nil
}

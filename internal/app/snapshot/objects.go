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
	all   int
	taken map[string]int // by kind
}

func (n *counts) add(more counts) {
	n.all += more.all
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
	Items      []json.RawMessage `json:"items"`
}

// add takes in the objects of a text: JSON, or YAML, one after the other.
func add(ctx context.Context, r *snapshot.Reading, text []byte) (n counts, err error) {
	text = plain(text)
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
		line += bytes.Count(doc, []byte("\n")) + 1
		if raw == nil {
			continue
		}
		some, err := addObject(r, raw, object{})
		n.add(some)
		if err != nil {
			return n, err
		}
	}
	return n, nil
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
		if err != nil {
			return n, err
		}
	}
}

// addObject takes in an object, or those of a list. Items of typed lists don't say what they are: the list does.
func addObject(r *snapshot.Reading, raw []byte, within object) (n counts, err error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return n, fmt.Errorf("%w: want an object of Kubernetes, or a List", err)
	}
	o.Kind, o.APIVersion = cmp.Or(o.Kind, within.Kind), cmp.Or(o.APIVersion, within.APIVersion)
	if kind, is := strings.CutSuffix(o.Kind, "List"); is && within.Kind == "" {
		item := object{Kind: kind, APIVersion: o.APIVersion}
		if kind == "" { // kubectl's List, of objects that say what they are
			item = object{Kind: "-"}
		}
		for _, raw := range o.Items {
			some, err := addObject(r, raw, item)
			n.add(some)
			if err != nil {
				return n, err
			}
		}
		return n, nil
	}
	if o.Kind == "" || o.Kind == "-" {
		return n, nil
	}
	n.all++
	if snapshot.Takes(o.APIVersion, o.Kind) {
		n.count(o.Kind, 1)
	}
	return n, r.Add(o.APIVersion, o.Kind, raw)
}

package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(6) {
		want := sampleEvents(seed, 400)
		b := tape(t, want)
		r := openBytes(t, b, Name("sample.yaml"))
		wantSame(t, readAll(t, r), want)
		if r.Complete() || r.Torn() != "" {
			t.Errorf("a tape without END: complete %v, torn %q", r.Complete(), r.Torn())
		}
		h := sampleHeader()
		h.APIVersion, h.Kind = APIVersion, Kind
		if !reflect.DeepEqual(*r.Header(), h) {
			t.Errorf("header %+v, want %+v", *r.Header(), h)
		}
		// Written once more, it is the same to the byte.
		if again := tape(t, want); !bytes.Equal(again, b) {
			t.Fatal("two writings of the same events differ")
		}
		if bytes.Count(b, []byte(`"patch":`)) < 100 {
			t.Error("hardly a patch on the tape: the trial says little")
		}
	}
}

// yaml.v3 alone, without this package, sees the same documents.
func TestTapeIsYAML(t *testing.T) {
	b := tape(t, sampleEvents(7, 400))
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var header map[string]any
	if err := dec.Decode(&header); err != nil || header["apiVersion"] != APIVersion {
		t.Fatalf("header %v, %v", header, err)
	}
	lines := bytes.Split(bytes.TrimSpace(b[bytes.Index(b, []byte("\n--- "))+1:]), []byte("\n"))
	for i, line := range lines {
		var viaYAML any
		if err := dec.Decode(&viaYAML); err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
		var viaJSON any
		if err := json.Unmarshal(line[len("--- "):], &viaJSON); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		a, _ := json.Marshal(viaYAML)
		b, _ := json.Marshal(viaJSON)
		if !bytes.Equal(a, b) {
			t.Fatalf("document %d is %s to yaml.v3 and %s to encoding/json", i, a, b)
		}
	}
	var rest any
	if err := dec.Decode(&rest); !errors.Is(err, io.EOF) {
		t.Errorf("after the last line: %v, %v", rest, err)
	}
}

func TestLineSaysIt(t *testing.T) {
	events := []Event{
		{Type: Added, Resource: "nodes", RV: "481", Object: []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"ip-10-0-1-10","uid":"4dc1","resourceVersion":"481"},"spec":{}}`)},
		{Type: Sync, Resource: "nodes", RV: "512"},
		{At: 12412907000, Type: Modified, Resource: "nodes", Object: []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"ip-10-0-1-10","uid":"4dc1","resourceVersion":"530"},"spec":{"unschedulable":true}}`)},
		{At: 88100e6, Type: Gap, Resource: "pods", RV: "802", Reason: "410 Expired: too old resource version"},
		{At: 89e9, Type: Deleted, Resource: "nodes", RV: "540", Object: []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"ip-10-0-1-10","uid":"4dc1","resourceVersion":"540"},"spec":{"unschedulable":true}}`)},
		{At: 90e9, Type: "NOTE", Extra: []Member{{Name: "text", Value: []byte(`{"by":"hand"}`)}}},
		{At: 95e9, Type: End},
	}
	text := string(tape(t, events))
	want := `--- {"at":"0s","type":"ADDED","resource":"nodes","name":"ip-10-0-1-10","uid":"4dc1","rv":"481","object":{"metadata":{},"spec":{}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"512"}
--- {"at":"12.412907s","type":"MODIFIED","resource":"nodes","name":"ip-10-0-1-10","rv":"530","patch":{"spec":{"unschedulable":true}}}
--- {"at":"88.1s","type":"GAP","resource":"pods","rv":"802","reason":"410 Expired: too old resource version"}
--- {"at":"89s","type":"DELETED","resource":"nodes","name":"ip-10-0-1-10","rv":"540"}
--- {"at":"90s","type":"NOTE","text":{"by":"hand"}}
--- {"at":"95s","type":"END","events":7}
`
	if _, body, _ := strings.Cut(text, "\n--- "); "--- "+body != want {
		t.Errorf("the tape says\n%s\nwant\n%s", "--- "+body, want)
	}
	r := openBytes(t, []byte(text))
	got := readAll(t, r)
	if !r.Complete() {
		t.Errorf("not complete: %s", r.Torn())
	}
	if string(got[5].Extra[0].Value) != `{"by":"hand"}` {
		t.Errorf("an unknown member came back as %s", got[5].Extra)
	}
	if s := string(got[4].Object); !strings.Contains(s, `"resourceVersion":"540"`) || !strings.Contains(s, `"unschedulable":true`) {
		t.Errorf("DELETED carries %s", s)
	}
}

// What a later version adds to the header survives.
func TestHeaderKeepsTheUnknown(t *testing.T) {
	in := "apiVersion: nodesim.dev/v1\nkind: Timeline\nmetadata:\n  name: x\n  owner: me\nsource:\n  seed: 0755\nfuture: {a: [1, \"2026-11-20\"]}\n---\n"
	r := openBytes(t, []byte(in))
	out, err := r.Header().MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"owner: me", "seed: 0755", `future: {a: [1, "2026-11-20"]}`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is lost in\n%s", want, out)
		}
	}
}

func TestKeyframes(t *testing.T) {
	var events []Event
	for i := range 250 {
		typ := Modified
		if i == 0 {
			typ = Added
		}
		events = append(events, Event{Type: typ, Resource: "nodes", Object: []byte(`{"metadata":{"name":"n","uid":"u","resourceVersion":"` +
			string(appendAt(nil, 0))[:1] + strings.Repeat("1", 1+i%7) + `"},"spec":{"providerID":"aws:///us-east-1a/i-0123"},"status":{"n":` + string(rune('0'+i%10)) + `}}`)})
	}
	lines := strings.Split(string(tape(t, events)), "\n--- ")[1:]
	for i, line := range lines {
		if whole := strings.Contains(line, `"object":`); whole != (i%100 == 0) {
			t.Errorf("event %d whole: %v", i, whole)
		}
	}
}

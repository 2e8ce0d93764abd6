package timeline

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A Writer refuses what a Reader would, says why, and continues.
func TestWriterRefuses(t *testing.T) {
	object := func(s string) []byte {
		return []byte(`{"metadata":{"name":"n","uid":"u","resourceVersion":"5"},"spec":` + s + `}`)
	}
	large := strings.Repeat("x", MaxLine-200)
	for _, c := range []struct {
		ev   Event
		want string
	}{
		{Event{}, "no type: want ADDED, MODIFIED, DELETED, SYNC, GAP, MARK, REFUSED or END"},
		{Event{Type: "Added", Resource: "nodes"}, `type "Added": want ADDED, MODIFIED, DELETED, SYNC, GAP, MARK, REFUSED or END`},
		{Event{At: -1, Type: Mark, Name: "m"}, "at -0.000000001s: want at least 1s, the time of the event before"},
		{Event{At: ToEnd, Type: Mark, Name: "m"}, "at 9223372036.854775807s: want at most 9223372035s"},
		{Event{Type: Added, Resource: "nodes"}, "ADDED of nodes  without its object"},
		{Event{Type: Added, Resource: "nodes", Object: object("[")}, `object: byte 65: found '}', want a value`},
		{Event{Type: Added, Resource: "nodes", Object: []byte("[]")}, `object "[]": want a JSON object`},
		{Event{Type: Added, Resource: "nodes", Object: []byte(`{"metadata":{"name":"n"}}`)}, "no resourceVersion"},
		{Event{Type: Added, Resource: "nodes", Name: "m", Object: object("1")}, `metadata.name is "n" in the object and "m" in the event`},
		{Event{Type: Added, Resource: "widgets", Object: object("1")}, "the header doesn't list this resource"},
		{Event{Type: Added, Resource: "nodes", Object: object("1")}, "a second ADDED of a living object: want DELETED before it"},
		{Event{Type: Modified, Resource: "nodes", Object: []byte(`{"metadata":{"name":"m","resourceVersion":"5"}}`)}, "MODIFIED of an object that isn't there: want ADDED before it"},
		{Event{Type: Deleted, Resource: "nodes", Name: "m"}, "DELETED of an object that isn't there: want ADDED before it"},
		{Event{Type: Modified, Resource: "nodes", UID: "v", Object: []byte(`{"metadata":{"name":"n","resourceVersion":"5"}}`)}, "MODIFIED of uid v, where uid u is alive: want DELETED of the old one and ADDED of the new one"},
		{Event{Type: Modified, Resource: "nodes", Object: object(`{"a":"` + large + `","b":"` + large + `"}`)}, "an object of 8388246 bytes: want at most 4 MiB"},
		{Event{Type: Sync, Resource: "nodes"}, `SYNC without "rv": want "rv"`},
		{Event{Type: Gap, Resource: "widgets"}, "the header doesn't list this resource"},
		{Event{Type: Mark}, `MARK without "name": want "name"`},
		{Event{Type: Mark, Name: large + large}, "a line of 8388248 bytes: want at most 4 MiB"},
		{Event{Type: Mark, Name: "m", Extra: []Member{{Name: "at", Value: []byte("1")}}}, `extra member "at": want a name that the format has no meaning for`},
		{Event{Type: Mark, Name: "m", Extra: []Member{{Name: "x", Value: []byte("1}\n---")}}}, `extra member "x": byte 1: found '}', want the end`},
		{Event{Type: "NOTE", Patch: []byte("1")}, `"1": want an object`},
	} {
		var b bytes.Buffer
		w, err := NewWriter(&b, sampleHeader())
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, w, []Event{{At: 1e9, Type: Added, Resource: "nodes", Object: object("1")}})
		before := b.String()
		if c.ev.At == 0 {
			c.ev.At = 1e9
		}
		err = w.Write(c.ev)
		if got := fmt.Sprint(err); err == nil || !strings.HasSuffix(got, ": "+c.want) || strings.Contains(got, "\n") {
			t.Errorf("%.200s\nwant %s", got, c.want)
		}
		if b.String() != before {
			t.Errorf("%s: and yet something was written", c.want)
		}
		writeAll(t, w, []Event{{At: 2e9, Type: Deleted, Resource: "nodes", Name: "n"}, {At: 2e9, Type: End}})
		if got := readAll(t, openBytes(t, b.Bytes())); len(got) != 3 || !strings.Contains(string(got[1].Object), `"spec":1`) {
			t.Errorf("%s: after it the tape is %d events", c.want, len(got))
		}
		if err := w.Write(Event{At: 3e9, Type: Mark, Name: "m"}); err == nil || !strings.HasSuffix(err.Error(), "after END: append to the tape instead") {
			t.Errorf("after END: %v", err)
		}
	}
	h := sampleHeader()
	h.Metadata.Name = strings.Repeat("x", MaxBlock)
	if _, err := NewWriter(new(bytes.Buffer), h); err == nil {
		t.Error("a header that no Reader takes")
	}
}

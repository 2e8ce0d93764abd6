package timeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/timeline"
)

// story is a tape of one node whose lines come between the header and the end.
func story(lines ...string) string {
	return `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: patches, start: "2026-11-20T22:00:00Z"}
source: {kind: recording}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"n","uid":"u","rv":"1","object":{"metadata":{"labels":{"a":"1"}},"spec":{}}}
--- ` + strings.Join(lines, "\n--- ") + "\n"
}

func modified(rv int, patch string) string {
	return fmt.Sprintf(`{"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"%d","patch":%s}`, rv, patch)
}

// read reads a tape, whole or with its patches handed out, to its end or error.
func read(t *testing.T, tape string, patches bool) (events []timeline.Event, err error) {
	t.Helper()
	r, err := timeline.NewReader(strings.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	if patches {
		r.HandOutPatches(func(timeline.Resource) bool { return true })
	}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
}

// Handed out patches say the same: but for the object the events are equal, and
// where the object is whole again, between a GAP and its SYNC, it is the same too.
func TestHandedOutPatchesSayTheSame(t *testing.T) {
	var lines []string
	for i := range 200 { // more than may wait
		lines = append(lines, modified(2+i, fmt.Sprintf(`{"metadata":{"labels":{"l%d":"%s"}},"spec":{"n":%d}}`, i%7, strings.Repeat("x", 100), i)))
		if i%50 == 30 {
			lines = append(lines, `{"at":"1s","type":"GAP","resource":"nodes"}`, modified(2+i, `{"spec":{"gap":true}}`),
				fmt.Sprintf(`{"at":"1s","type":"SYNC","resource":"nodes","rv":"%d"}`, 2+i))
		}
	}
	lines = append(lines, `{"at":"1s","type":"DELETED","resource":"nodes","name":"n","rv":"900"}`)
	whole, err := read(t, story(lines...), false)
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := read(t, story(lines...), true)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for i := range sparse {
		if sparse[i].Object == nil && whole[i].Object != nil {
			left++
			whole[i].Object = nil
		}
	}
	if d := cmp.Diff(whole, sparse); d != "" {
		t.Errorf("(-whole +patches):\n%s", d)
	}
	if left != 201 {
		t.Errorf("%d events came without their object, want all patches outside of gaps and the deletion: 201", left)
	}
}

// Patches that set the same one value again and again leave the state that they would
// leave one after the other, whatever comes between them.
func TestTheLastOfEqualPatchesCounts(t *testing.T) {
	patches := []string{
		`{"status":{"conditions":[1,{"a":null}]}}`, `{"status":{"conditions":[%d]}}`, `{"status":{"conditions":null}}`, `{"status":{"conditions":{"a":%d}}}`,
		`{"status":{"conditions":{"b":%d}}}`, `{"status":{"phase":"p%d"}}`, `{"status":{"x":%d,"y":1}}`, `{"spec":{"x":%d}}`, `{"spec":{"x":{"y":%d}}}`,
		`{"status":{}}`, `{"status":null}`, `{"status":%d}`, `{"metadata":{"labels":null}}`, `{"metadata":{"labels":{"a":"%d"}}}`, `{}`,
	}
	r := rand.New(rand.NewPCG(11, 12))
	var lines []string
	for i := range 3000 {
		patch := patches[r.IntN(len(patches))]
		for range 1 + r.IntN(3) {
			one := patch
			if strings.Contains(one, "%d") {
				one = fmt.Sprintf(one, r.IntN(100))
			}
			lines = append(lines, modified(2+i, one))
		}
		if r.IntN(8) == 0 {
			lines = append(lines, `{"at":"1s","type":"GAP","resource":"nodes"}`, modified(2+i, `{}`),
				fmt.Sprintf(`{"at":"1s","type":"SYNC","resource":"nodes","rv":"%d"}`, 2+i))
		}
	}
	whole, err := read(t, story(lines...), false)
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := read(t, story(lines...), true)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i := range sparse {
		if sparse[i].Object == nil {
			continue
		}
		compared++
		if !bytes.Equal(whole[i].Object, sparse[i].Object) {
			t.Fatalf("event %d: read %s, want %s", i, sparse[i].Object, whole[i].Object)
		}
	}
	if compared < 200 {
		t.Errorf("%d objects were whole, want more", compared)
	}
}

// What is wrong with a tape is wrong at the same line.
func TestHandedOutPatchesAreChecked(t *testing.T) {
	var often []string
	for i := range 130 { // 64 KiB, and never whole
		often = append(often, modified(3+i, fmt.Sprintf(`{"spec":{"c%d":"%s"}}`, i, strings.Repeat("x", 600))))
	}
	big := func(i int) string {
		return modified(3+i, fmt.Sprintf(`{"spec":{"b%d":"%s"}}`, i, strings.Repeat("x", 1<<20)))
	}
	for name, lines := range map[string][]string{
		"metadata removed":      {modified(2, `{"metadata":{"labels":null}}`), modified(3, `{"metadata":null}`)},
		"identity patched":      {modified(2, `{"metadata":{"uid":"v"}}`)},
		"kind patched":          {modified(2, `{"kind":"Pod"}`)},
		"added twice":           {`{"at":"1s","type":"ADDED","resource":"nodes","name":"n","uid":"u","rv":"3","object":{}}`},
		"another uid":           {`{"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","uid":"v","rv":"3","patch":{}}`},
		"of nothing":            {`{"at":"1s","type":"MODIFIED","resource":"nodes","name":"m","rv":"3","patch":{}}`},
		"after its deletion":    {`{"at":"1s","type":"DELETED","resource":"nodes","name":"n","rv":"3"}`, modified(4, `{}`)},
		"never whole":           often,
		"grown":                 {big(0), big(1), big(2), big(3), big(4)},
		"grown, and shrunk too": {big(0), big(1), modified(9, `{"spec":null}`), big(2), big(3), big(4), big(5)},
	} {
		_, want := read(t, story(lines...), false)
		_, got := read(t, story(lines...), true)
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// FuzzHandedOutPatches: a Reader refuses the same tapes either way, at the same line.
func FuzzHandedOutPatches(f *testing.F) {
	f.Add([]byte(modified(2, `{"metadata":{"labels":{"a":null}}}`) + "\n--- " + modified(3, `{"status":1}`)))
	f.Fuzz(func(t *testing.T, lines []byte) {
		tape := story(string(bytes.TrimSuffix(lines, []byte("\n"))))
		whole, want := read(t, tape, false)
		sparse, got := read(t, tape, true)
		if len(whole) != len(sparse) || fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("%d events and %v, want %d and %v", len(sparse), got, len(whole), want)
		}
	})
}

package formats_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder/formats"
)

// podsOf is a record of the pods of a namespace, at a version and with one pod at another.
func podsOf(second, ns, listed, version int) string {
	return fmt.Sprintf(`{"captured_at":"2026-11-20T10:00:%02dZ","api_path":"/api/v1/namespaces/ns-%d/pods","response_code":200,"response_body":`+
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[{"metadata":{"name":"web","namespace":"ns-%d",`+
		`"uid":"u%d","resourceVersion":"%d","creationTimestamp":"2026-11-20T09:00:00Z"}}]}}`+"\n", second, ns, listed, ns, ns, version)
}

// k8shark asks for the lists of each namespace in turn: each round that shows a change makes one list of all in the dump.
func TestSharkWritesOnceARound(t *testing.T) {
	const namespaces = 5
	var lines strings.Builder
	second := 0
	round := func(version func(ns int) int) {
		for ns := range namespaces {
			lines.WriteString(podsOf(second, ns, 100+second, version(ns)))
			second++
		}
	}
	round(func(int) int { return 10 })
	round(func(ns int) int { return 20 + ns }) // all change
	round(func(ns int) int { return 20 + ns }) // none does
	round(func(ns int) int { return 20 + ns/2 + ns%3 })
	d, err := formats.Open(t.Context(), bytes.NewReader([]byte(lines.String())))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dump := textOf(t, d)
	var ends []string
	for line := range strings.Lines(dump) {
		if strings.Contains(line, `"BOOKMARK"`) {
			ends = append(ends, line[len(`{"t":"2026-11-20T10:00:`):][:2])
		}
	}
	if got, want := fmt.Sprint(ends), "[00 09 19]"; got != want || strings.Count(dump, `"ADDED"`) != 3*namespaces {
		t.Errorf("found lists at %s, want %s, each of all:\n%s", got, want, dump)
	}
	if said := strings.Join(d.LeftOut, ""); !strings.Contains(said, "between two of 2 lists") {
		t.Errorf("found %q", said)
	}
}

// A namespace has no list before it has the first object: one that comes with a later round is a change.
func TestSharkNamespaceThatComesLate(t *testing.T) {
	d, err := formats.Open(t.Context(), strings.NewReader(podsOf(0, 1, 10, 10)+podsOf(30, 1, 10, 10)+podsOf(31, 2, 40, 40)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dump := textOf(t, d)
	begins, rest, _ := strings.Cut(dump, `"BOOKMARK"`)
	if strings.Contains(begins, "ns-2") || !strings.Contains(rest, "ns-2") || !strings.Contains(rest, `"2026-11-20T10:00:31Z"`) {
		t.Errorf("want the pod of ns-2 in a second list, at second 31:\n%s", dump)
	}
}

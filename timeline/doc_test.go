package timeline

import (
	"os"
	"strings"
	"testing"
)

// fenced returns the YAML blocks of docs/format.md.
func fenced(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, part := range strings.Split(string(b), "```") {
		if text, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			out = append(out, text)
		}
	}
	return out
}

// The example in docs/format.md is a tape, and as a Writer writes it.
func TestFormatDocument(t *testing.T) {
	blocks := fenced(t)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of YAML, want a tape, one in both styles and a roll by hand", len(blocks))
	}
	events, r, err := drain([]byte(blocks[0]))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete() || len(events) != 9 {
		t.Errorf("%d events, torn %q", len(events), r.Torn())
	}
	if got := string(formatted(t, []byte(blocks[0]), StyleLines)); got != blocks[0] {
		t.Errorf("a Writer writes the example as\n%s", got)
	}
	header := schemaOf(t, HeaderSchema())
	event := schemaOf(t, EventSchema())
	for i, line := range strings.Split(strings.TrimSpace(string(formatted(t, []byte(blocks[0]), StyleJSON))), "\n") {
		check := event
		if i == 0 {
			check = header
		}
		if err := check([]byte(line)); err != nil {
			t.Errorf("line %d: %v", i, err)
		}
	}
	// What stands there by hand is a tape as it stands: everybody who copies it can read it.
	events, r, err = drain([]byte(blocks[1]))
	if err != nil || !r.Complete() || len(events) != 3 || !strings.Contains(string(events[1].Object), `"spec":{"unschedulable":true}`) {
		t.Errorf("by hand: %v, %v", events, err)
	}
	events, r, err = drain([]byte(blocks[2]))
	if err != nil {
		t.Fatalf("tape by hand: %v", err)
	}
	if !r.Complete() || len(events) != 7 {
		t.Errorf("tape by hand: %d events, complete: %v", len(events), r.Complete())
	}
}

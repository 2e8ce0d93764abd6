package phrase_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/phrase"
)

func Example() {
	fmt.Println(phrase.Count(1, "event"), phrase.Count(0, "gap"), phrase.Bytes(999), phrase.Bytes(1_300_000))
	fmt.Println(phrase.Escaped("two\nlines \u202e\x1b[31m"))
	// Output:
	// 1 event 0 gaps 999 B 1.3 MB
	// two\nlines \u202e\x1b[31m
}

func TestEscapedIsShort(t *testing.T) {
	got := phrase.Escaped(strings.Repeat("é", 10_000))
	if want := strings.Repeat("é", 500) + "…"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

package observe

import (
	"strconv"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// Two nodes have the words of their labels in common; escapes are read, and what is no
// string is empty.
func TestWords(t *testing.T) {
	w := words{}
	one := w.texts([]byte(`{"kubernetes.io/os":"linux","a\"b":"c\\d","e":"","n":7}`))
	if diff := cmp.Diff(map[string]string{"kubernetes.io/os": "linux", `a"b`: `c\d`, "e": "", "n": ""}, one); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	other := w.texts([]byte(`{"kubernetes.io/os":"linux"}`))
	if unsafe.StringData(one["kubernetes.io/os"]) != unsafe.StringData(other["kubernetes.io/os"]) {
		t.Error("two nodes have a word each: want one")
	}
}

// However many words there are, not all of them are held.
func TestWordsAreBounded(t *testing.T) {
	w := words{}
	for i := range 2*wordsMost + 1 {
		text := strconv.Itoa(i)
		if got := w.word([]byte(text)); got != text {
			t.Fatalf("found %q, want %q", got, text)
		}
	}
	if len(w) > wordsMost {
		t.Errorf("%d words are held: want at most %d", len(w), wordsMost)
	}
}

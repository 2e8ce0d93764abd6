package golden

import (
	"strings"
	"testing"
)

// AssertEmpty reports any text that a test got where it should get none. There
// is no golden file for it: [Assert] refuses an empty text, because a test
// whose subject never ran gets one as well.
func AssertEmpty[T ~string | ~[]byte](t testing.TB, got T) {
	t.Helper()
	if text := string(got); text != "" {
		t.Errorf("golden: the test got %d bytes, want none:\n%s", len(text), diff("", text))
	}
}

// refuseEmpty reports a text without anything to read.
func refuseEmpty(t testing.TB, rel, got string) (refused bool) {
	t.Helper()
	if strings.TrimSpace(got) != "" {
		return false
	}
	t.Errorf("golden: %s: the test got a text of %d bytes with nothing to read, which is neither compared nor written: "+
		"want a text that shows that the subject ran; where none is right, say so with golden.AssertEmpty(t, got)", rel, len(got))
	return true
}

package tapetest

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a\nb\n", "a\r\nb\r\n", ""},
		{"", "a\n", "+ a"},
		{"a\n", "", "- a"},
		{"1\n2\n3\n4\nx\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\ny\n5\n6\n7\n8\n9\n", "  … 2 lines more\n  3\n  4\n- x\n+ y\n  5\n  6\n  … 3 lines more"},
	} {
		if got := diff(c.before, c.after); got != c.want {
			t.Errorf("%q to %q:\n%s\nwant\n%s", c.before, c.after, got, c.want)
		}
	}
	if got := diff("", strings.Repeat("x\n", 1000)); !strings.HasSuffix(got, "+ x\n  … 600 lines more") {
		t.Errorf("a long difference ends with %q: want the rest counted", got[max(0, len(got)-40):])
	}
}

package render_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// A line that fits stays as it is; a longer one loses nothing but spaces, where it has that many lines.
func TestFolded(t *testing.T) {
	path := "export KUBECONFIG=/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/nodesim-20261127t121004z-workers-3f6c1d2a9b-1234567890.kubeconfig"
	for _, test := range []struct {
		line  string
		width int
		most  int
		want  []string
	}{
		{"a  line", 10, 4, []string{"a  line"}},
		{"a  line", 7, 4, []string{"a", "line"}},
		{"one two three", 9, 4, []string{"one two", "three"}},
		{"one two three four", 9, 2, []string{"one two", "three four"}},
		{"ab 0123456789 abc", 7, 4, []string{"ab 01", "23456", "789", "abc"}},
		{"0123456789 abc", 7, 4, []string{"01234", "56789", "abc"}},
		{"\x1b[31mred and more", 12, 4, []string{"red and", "more"}},
		{"日本語日本", 8, 4, []string{"日本語", "日本"}},
		{"日本", 3, 9, []string{"日本"}},
		{"", 10, 4, []string{""}},
	} {
		if got := render.Folded(test.line, test.width, test.most); strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("%q on %d cells: %q, want %q", test.line, test.width, got, test.want)
		}
	}
	lines := render.Folded(path, 80, 4)
	if got := strings.Join(lines, ""); got != path || len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}

package noderoll_test

import (
	"testing"
	"unicode/utf8"

	"github.com/nodesim/nodesim/noderoll"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"plain":                       "plain",
		"two words":                   "two words",
		"  a \n\t b\r\n":              "a b",
		"line\u2028sep\u2029par":      "line sep par",
		"next\u0085line":              "next line",
		"\x1b[2J\x07":                 "\ufffd[2J\ufffd",
		"c1\u009b31m":                 "c1\ufffd31m",
		"del\x7f":                     "del\ufffd",
		"bidi \u202eevil\u202c":       "bidi \ufffdevil\ufffd",
		"isolate\u2066x\u2069":        "isolate\ufffdx\ufffd",
		"\ufeffbom":                   "\ufffdbom",
		"tag\U000e0041":               "tag\ufffd",
		"bad\xff\xfeutf8":             "bad\ufffd\ufffdutf8",
		"Grüße 你好 🙂":                  "Grüße 你好 🙂",
		"joined 👩\u200d💻 stays whole": "joined 👩\u200d💻 stays whole",
	} {
		if got := noderoll.OneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	for _, tc := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 80, "short"},
		{"exact", 5, "exact"},
		{"longer than that", 7, "longer…"},
		{"äöüäöü", 4, "äöü…"},
		{"äöüä", 4, "äöüä"},
		{"🙂🙂🙂", 2, "🙂…"},
		{"two\nlines", 6, "two l…"},
		{"x", 0, ""},
		{"xy", 1, "…"},
		{"xy", -1, ""},
	} {
		got := noderoll.Brief(tc.in, tc.max)
		if got != tc.want || !utf8.ValidString(got) {
			t.Errorf("Brief(%q, %d) = %q, want %q", tc.in, tc.max, got, tc.want)
		}
	}
}

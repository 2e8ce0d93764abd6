package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":                        {"ip-10-0-1-12", "ip-10-0-1-12"},
		"nothing":                      {"", ""},
		"lines":                        {" one\r\n\ttwo\v\fthree  ", "one two three"},
		"separators of Unicode":        {"a\u2028b\u2029c\u0085d\u00a0e\u3000f", "a b c d e f"},
		"colour":                       {"\x1b[1;31mred\x1b[m", "red"},
		"clear screen":                 {"a\x1b[2J\x1b[Hb", "ab"},
		"private mode":                 {"\x1b[?1049hx", "x"},
		"eight-bit CSI":                {"\u009b31mred", "red"},
		"raw byte CSI":                 {"\x9b31mred", "\ufffd31mred"},
		"title":                        {"\x1b]0;owned\x07x", "x"},
		"title, ST":                    {"\x1b]0;owned\x1b\\x", "x"},
		"title, eight-bit ST":          {"\x1b]0;owned\u009cx", "x"},
		"hyperlink":                    {"\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		"clipboard":                    {"\x1b]52;c;ZXZpbA==\x07", ""},
		"device control":               {"\x1bP1$qm\x1b\\x", "x"},
		"application command":          {"\x1b_Gf=100;AAAA\x1b\\x", "x"},
		"unfinished title":             {"\x1b]0;all of this stays", "]0;all of this stays"},
		"unfinished CSI":               {"\x1b[31", "[31"},
		"escape at the end":            {"a\x1b", "a"},
		"two escapes":                  {"\x1b\x1b[31mx", "x"},
		"reset":                        {"\x1bcx", "x"},
		"character set":                {"\x1b(0lqk\x1b(B", "lqk"},
		"controls":                     {"a\x00b\x07c\x08d\x7fe\x0ef", "abcdef"},
		"override":                     {"pod-\u202egnp.exe", "pod-gnp.exe"},
		"isolates":                     {"\u2066a\u2069\u200eb\u200fc\u061c", "abc"},
		"zero width":                   {"a\u200bb\u200cc\u200dd\ufeffe\u2060f", "abcdef"},
		"soft hyphen":                  {"a\u00adb", "ab"},
		"tags":                         {"a\U000e0041\U000e0042b", "ab"},
		"filler letters":               {"a\u3164b\u115fc\uffa0d\u2800e", "abcde"},
		"accents":                      {"Viê\u0323t e\u0301", "Viê\u0323t e\u0301"},
		"a pile of marks":              {"z" + strings.Repeat("\u0301", 50) + "a", "z\u0301\u0301a"},
		"marks without a letter":       {"\u0301a \u0301b", "a b"},
		"enclosing keycap":             {"1\ufe0f\u20e3", "1"},
		"variation selector":           {"\u25b6\ufe0f", "\u25b6"},
		"family":                       {"\U0001F468\u200d\U0001F469\u200d\U0001F467", "\U0001F468\U0001F469\U0001F467"},
		"skin tone":                    {"\U0001F44D\U0001F3FD", "\U0001F44D"},
		"wide":                         {"节点 ノード 노드", "节点 ノード 노드"},
		"invalid":                      {"a\xff\xfeb\xc3", "a\ufffd\ufffdb\ufffd"},
		"surrogate half":               {"a\xed\xa0\x80b", "a\ufffd\ufffd\ufffdb"},
		"private use":                  {"a\ue000b", "a\ufffdb"},
		"unassigned, noncharacter":     {"a\uffffb\U0010fffe", "a\ufffdb\ufffd"},
		"a sequence made by dropping":  {"\x1b\u200b[31mx", "[31mx"},
		"an escape within a sequence":  {"\x1b[3\x1b[31m1mx", "[31mx"},
		"a line end within a sequence": {"\x1b[3\n1mx", "[3 1mx"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestCleanBoundsItsWork(t *testing.T) {
	for name, in := range map[string]string{
		"letters":            strings.Repeat("a", 1<<20),
		"wide letters":       strings.Repeat("节", 1<<20),
		"nothing visible":    strings.Repeat("\u200b", 1<<20),
		"invalid bytes":      strings.Repeat("\xff", 1<<20),
		"unfinished titles":  strings.Repeat("\x1b]", 1<<20),
		"unfinished strings": strings.Repeat("\u0090", 1<<20),
	} {
		got := Clean(in)
		if len(got) > cleanOutput || !strings.HasSuffix(got, "…") {
			t.Errorf("%s: got %d bytes ending in %q, want at most %d and an ellipsis", name, len(got), got[max(0, len(got)-6):], cleanOutput)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"ip-10-0-1-12", "\x1b[31mred\x1b[m", "\x1b]0;t\x07", "\u202ea", "z\u0301\u0301\u0301", "\xff\x9b", "a\u2028b", "\x1bP\x1b\\", "节点\u200d",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Clean(in)
		checkVisible(t, got)
		if again := Clean(got); again != got {
			t.Errorf("cleaning twice: %q became %q", got, again)
		}
		ascii := toASCII(got)
		for i := range len(ascii) {
			if ascii[i] < ' ' || ascii[i] > '~' {
				t.Errorf("toASCII left %q", ascii)
			}
		}
		for width := range 5 {
			for _, s := range []string{cut(got, width, "…"), cutMiddle(got, width, "…")} {
				if w := cells(s); w > width {
					t.Errorf("%q cut to %d cells is %q, of %d", got, width, s, w)
				}
			}
		}
	})
}

// checkVisible fails where a text could do more to a terminal than be seen.
func checkVisible(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("invalid UTF-8 in %q", s)
	}
	marks := marksPerLetter
	for _, r := range s {
		if !unicode.IsPrint(r) || unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			t.Errorf("%U in %q", r, s)
		}
		if !unicode.Is(unicode.M, r) {
			marks = 0
		} else if marks++; marks > marksPerLetter {
			t.Errorf("more than %d marks on a letter in %q", marksPerLetter, s)
		}
	}
	if strings.Contains(s, "  ") || strings.TrimSpace(s) != s {
		t.Errorf("loose white space in %q", s)
	}
}

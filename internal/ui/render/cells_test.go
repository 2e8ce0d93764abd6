package render

import (
	"math"
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "→": 1, "节点": 4, "ノード": 6, "e\u0301": 1, "\U0001F44D": 2, "━╸─●○◐✗▲✓▸‖…·": 13,
		// One cluster, four pictures on terminals that don't know clusters.
		strings.Repeat("\u1100", 4): 8,
	} {
		if got := cells(s); got != want {
			t.Errorf("cells(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s           string
		width       int
		end, middle string
	}{
		{"abcdef", 6, "abcdef", "abcdef"},
		{"abcdef", 5, "abcd…", "ab…ef"},
		{"abcdef", 4, "abc…", "ab…f"},
		{"abcdef", 3, "ab…", "a…f"},
		{"abcdef", 2, "a…", "a…"},
		{"abcdef", 1, "…", "…"},
		{"abcdef", 0, "", ""},
		{"abcdef", -1, "", ""},
		{"", 0, "", ""},
		{"节点节点", 8, "节点节点", "节点节点"},
		{"节点节点", 7, "节点节…", "节…节点"}, // half a character is none
		{"节点节点", 4, "节…", "节…"},
		{"one two", 5, "one…", "on…wo"}, // no space before the ellipsis
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", "e\u0301…"},
	} {
		if got := cut(c.s, c.width, "…"); got != c.end {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.width, got, c.end)
		}
		if got := cutMiddle(c.s, c.width, "…"); got != c.middle {
			t.Errorf("cutMiddle(%q, %d) = %q, want %q", c.s, c.width, got, c.middle)
		}
	}
}

func TestBar(t *testing.T) {
	th := newTheme(wide)
	text := func(part, total, width int) string {
		var b strings.Builder
		for _, s := range th.bar(inkReady, part, total, width) {
			b.WriteString(s.text)
		}
		return b.String()
	}
	for _, c := range []struct {
		part, total, width int
		want               string
	}{
		{0, 4, 4, "────"}, {1, 4, 4, "━───"}, {4, 4, 4, "━━━━"}, {9, 4, 4, "━━━━"}, {3, 8, 4, "━╸──"},
		{1, 1000, 4, "╸───"},   // something is never nothing
		{999, 1000, 4, "━━━╸"}, // not everything is never full
		{0, 0, 4, "────"}, {5, 0, 4, "────"}, {-1, -1, 4, "────"},
		{math.MaxInt - 1, math.MaxInt, 2, "━╸"}, {1, 2, 0, ""}, {1, 2, -3, ""}, {1, 2, 1, "╸"},
	} {
		if got := text(c.part, c.total, c.width); got != c.want {
			t.Errorf("bar of %d/%d in %d cells: got %s, want %s", c.part, c.total, c.width, got, c.want)
		}
	}
}

func TestNumbersAndClocks(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567", -5: "-5"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %s, want %s", n, got, want)
		}
	}
}

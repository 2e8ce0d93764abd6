package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// inside evaluates an expression among the functions of the page's script: its text, up to where the page begins, once more. What the
// page itself has done stays as it is.
func inside[T any](b *tab, expression string) T {
	b.t.Helper()
	text := value[string](b, `[...document.scripts].at(-1).textContent`)
	functions, _, ok := strings.Cut(text, "\nheading();\n")
	if !ok {
		b.t.Fatal("found no heading() in the page's script: want it where the page begins")
	}
	return run(b, chromedp.Evaluate[T](fmt.Sprintf("%s\nreturn (%s);\n})()", functions, expression)))
}

// cases evaluates expressions inside the page and compares each, as JSON, with what is wanted.
func cases(t *testing.T, b *tab, all [][2]string) {
	t.Helper()
	var list strings.Builder
	for _, c := range all {
		fmt.Fprintf(&list, "() => (%s),\n", c[0])
	}
	got := inside[[]string](b, fmt.Sprintf(`[%s].map((f) => { try { return JSON.stringify(f()); } catch (e) { return "thrown: " + e; } })`, list.String()))
	for i, c := range all {
		if got[i] != c[1] {
			t.Errorf("%s: found %s: want %s", c[0], got[i], c[1])
		}
	}
}

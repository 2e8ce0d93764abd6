package phrase_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/phrase"
)

func ExampleClosest() {
	keys := []string{"nodes", "zones", "instanceType", "capacityType"}
	for _, word := range []string{"ndoes", "Zones", "instancetype", "inst", "colour"} {
		fmt.Printf("%s: %q\n", word, phrase.Closest(word, keys))
	}
	// Output:
	// ndoes: "nodes"
	// Zones: "zones"
	// instancetype: "instanceType"
	// inst: "instanceType"
	// colour: ""
}

// dumb is the definition of the restricted distance, without a table.
func dumb(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	m, n := len(a), len(b)
	if a[m-1] == b[n-1] {
		return dumb(a[:m-1], b[:n-1])
	}
	d := 1 + min(dumb(a[:m-1], b), dumb(a, b[:n-1]), dumb(a[:m-1], b[:n-1]))
	if m > 1 && n > 1 && a[m-1] == b[n-2] && a[m-2] == b[n-1] {
		d = min(d, 1+dumb(a[:m-2], b[:n-2]))
	}
	return d
}

func TestDistanceAgreesWithItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		w := make([]byte, r.IntN(6))
		for i := range w {
			w[i] = "abc"[r.IntN(3)]
		}
		return string(w)
	}
	for range 5000 {
		a, b := word(), word()
		if got, want := phrase.Distance(a, b), dumb(a, b); got != want {
			t.Fatalf("%q to %q: got %d, want %d", a, b, got, want)
		}
		if got, back := phrase.Distance(a, b), phrase.Distance(b, a); got != back {
			t.Fatalf("%q to %q: %d one way, %d the other", a, b, got, back)
		}
	}
}

func TestLongWordsAreFar(t *testing.T) {
	long := strings.Repeat("a", phrase.Far)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{long, long, 0}, {long, long[1:], 1}, {long, "", phrase.Far}, {long + "a", long, phrase.Far},
		{long + "a", long + "a", 0}, {strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20), phrase.Far},
	} {
		if got := phrase.Distance(c.a, c.b); got != c.want {
			t.Errorf("%d to %d letters: got %d, want %d", len(c.a), len(c.b), got, c.want)
		}
	}
}

func TestTheFirstOfTwoWins(t *testing.T) {
	if got := phrase.Closest("fot", []string{"fog", "for"}); got != "fog" {
		t.Errorf("got %q, want %q", got, "fog")
	}
}

func TestClosest(t *testing.T) {
	verbs := []string{"record", "import", "replay", "test", "inspect", "fmt", "version"}
	for word, want := range map[string]string{
		"reply": "replay", "rec": "record", "ispect": "inspect", "inspetc": "inspect", "Replay": "replay",
		"xyzzy": "", "": "", "format": "", "tset": "test", "fm": "fmt",
	} {
		if got := phrase.Closest(word, verbs); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

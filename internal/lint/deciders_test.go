package lint

import (
	"slices"
	"strings"
	"testing"
)

// impure breaks every ban on deciders once; the comment at the end of a line is a part of what is said of it. A line
// without one has to pass.
const impure = `package p

import (
	chance "math/rand/v2"
	"os"
	"time"
)

func decide(r *chance.Rand, now time.Time) {
	_ = time.Now()              // take the time as an argument
	_ = time.Since(now)         // take the time as an argument
	<-time.After(1)             // take the time as an argument
	time.Sleep(1)               // take the time as an argument
	_ = time.NewTimer(1)        // take the time as an argument
	_ = time.NewTicker(1)       // take the time as an argument
	_ = chance.IntN(3)          // seeded *rand.Rand
	chance.Shuffle(0, nil)      // seeded *rand.Rand
	_ = os.Getenv("X")          // read it in cmd/nodesim/app
	_, _ = os.LookupEnv("X")    // read it in cmd/nodesim/app
	clock := time.Now           // take the time as an argument
	go decide(r, now)           // go statement
	wg.Go(f)                    // call of Go
	context.AfterFunc(ctx, f)   // call of AfterFunc
	game.Go(1, 2)
	_ = r.IntN(3)
	_ = now.Add(time.Second)
	_, _ = os.ReadFile("x")
}
`

func TestDecider(t *testing.T) {
	for file, refused := range map[string]func(want string) bool{
		"timeline/reader.go":        func(string) bool { return true },
		"replay/player.go":          func(want string) bool { return !strings.HasPrefix(want, "go ") && !strings.HasPrefix(want, "call ") },
		"noderoll/kube_observer.go": func(string) bool { return false },
	} {
		found, err := Decider(file, []byte(impure))
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(impure) {
			number++
			_, want, commented := strings.Cut(strings.TrimSpace(line), " // ")
			want = strings.TrimSpace(want)
			at := slices.IndexFunc(found, func(f Finding) bool { return f.Line == number })
			switch {
			case (!commented || !refused(want)) && at >= 0:
				t.Errorf("%s: found %v, want nothing", file, found[at])
			case commented && refused(want) && (at < 0 || !strings.Contains(found[at].Text, want)):
				t.Errorf("%s:%d: found %v, want %q", file, number, found, want)
			}
		}
	}
	if _, err := Decider("timeline/broken.go", []byte("package")); err == nil {
		t.Error("a file that doesn't parse: found no error")
	}
}

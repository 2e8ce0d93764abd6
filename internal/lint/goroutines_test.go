package lint

import "testing"

func TestGoroutines(t *testing.T) {
	const source = "package p\n\nfunc f() {\n\tgo f()\n\twg.Go(f)\n\ttime.AfterFunc(d, f)\n\tgame.Go(1, 2)\n}\n"
	for file, want := range map[string][]int{
		"timeline/reader.go":          {4, 5, 6},
		"noderoll/tracker.go":         {4, 5, 6},
		"scenarios/engine.go":         {4, 5, 6},
		"scenarios/cycle/plan.go":     {4, 5, 6},
		"scenarios/internal/api/x.go": {4, 5, 6},
		"timeline/reader_test.go":     nil,
		"noderoll/kube_observer.go":   nil,
		"replay/player.go":            nil,
		"scenarios/live/executor.go":  nil,
		"timeline/notes.md":           nil,
	} {
		found, err := Goroutines(file, []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != len(want) {
			t.Errorf("%s: found %v, want lines %v", file, found, want)
			continue
		}
		for i, line := range want {
			if found[i].Line != line {
				t.Errorf("%s: found %v, want line %d", file, found[i], line)
			}
		}
	}
	if _, err := Goroutines("timeline/broken.go", []byte("package")); err == nil {
		t.Error("a file that doesn't parse: found no error")
	}
}

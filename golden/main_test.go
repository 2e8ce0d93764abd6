package golden

import (
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestMain never lets this package write its own golden files: they are the
// input of its tests. The process that TestCommandLine starts is the exception.
func TestMain(m *testing.M) {
	if dir := os.Getenv("GOLDEN_TEST_FOLDER"); dir != "" {
		here.dir = dir
	} else {
		here.updating = func() bool { return false }
	}
	Main(m)
}

// TestAsChild is the test that TestCommandLine runs in a process of its own.
func TestAsChild(t *testing.T) {
	Assert(t, "child", "What varies: 2026-11-20T22:21:09Z\n", Times())
}

// The whole way: a missing file fails and names the command, the command
// makes it, after which the test passes, and CI refuses.
func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	child := func(ci string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^TestAsChild$"}, args...)...)
		cmd.Env = append(os.Environ(), "GOLDEN_TEST_FOLDER="+dir, "CI="+ci, envUpdate+"=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := child(""); err == nil || !strings.Contains(out, "create it with: go test github.com/nodesim/nodesim/golden -run '^TestAsChild$' -update") {
		t.Errorf("without a file: got %v and\n%s", err, out)
	}
	if out, err := child("true", "-update"); err == nil || !strings.Contains(out, "CI is set") {
		t.Errorf("-update in CI: got %v and\n%s", err, out)
	}
	if out, err := child("", "-update"); err != nil {
		t.Errorf("-update: %v\n%s", err, out)
	}
	if out, err := child("true"); err != nil {
		t.Errorf("comparing in CI: %v\n%s", err, out)
	}
	f := &folder{dir: dir}
	if got := f.read(t, "testdata/child.golden"); got != "What varies: <time:1>\n" {
		t.Errorf("the file holds %q", got)
	}
}

type runs func() int

func (r runs) Run() int { return r() }

// testFlags are the flags that go test defines, as far as they choose tests.
func testFlags(t *testing.T, args ...string) *flag.FlagSet {
	t.Helper()
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		flags.String(name, "", "")
	}
	flags.Bool("test.short", false, "")
	flags.Bool("test.fuzzworker", false, "")
	flags.Uint("test.count", 1, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags
}

func TestOrphansFailThePackage(t *testing.T) {
	files := map[string]string{
		"testdata/used.golden":           "used\n",
		"testdata/zombie.golden":         "",
		"testdata/deep/orphan.golden":    "",
		"testdata/tapes/a.feed.golden":   "",
		"testdata/not-golden.txt":        "",
		"testdata/.nodesim-123.tmp":      "",
		"testdata/TestGone/case1.golden": "",
	}
	for name, c := range map[string]struct {
		args []string
		code int // what the tests return
		keep []string
		want int
		out  []string
	}{
		"all ran":     {want: 1, keep: []string{"tapes/*.golden"}, out: []string{"deep/orphan.golden", "zombie.golden", "TestGone/case1.golden"}},
		"kept":        {want: 0, keep: []string{"*/*.golden", "zombie.golden"}},
		"bad pattern": {want: 1, keep: []string{"[a"}, out: []string{`pattern "[a"`}},
		"failed":      {want: 1, code: 1},
		"-run":        {args: []string{"-test.run=TestX"}},
		"-skip":       {args: []string{"-test.skip=TestX"}},
		"-short":      {args: []string{"-test.short"}},
		"-list":       {args: []string{"-test.list=."}},
		"-fuzz":       {args: []string{"-test.fuzz=FuzzX"}},
		"-count=0":    {args: []string{"-test.count=0"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := inFolder(t, files)
			var out strings.Builder
			w := &wrapped{
				m: runs(func() int {
					f.assert(&fakeTB{name: "TestUsed"}, "used", "used\n")
					return c.code
				}),
				keep: c.keep, folder: f, flags: testFlags(t, c.args...), out: &out,
			}
			if got := w.Run(); got != c.want {
				t.Errorf("got status %d, want %d; output:\n%s", got, c.want, out.String())
			}
			if len(c.out) == 0 && out.Len() > 0 {
				t.Errorf("got output %q, want silence", out.String())
			}
			for _, want := range c.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("output does not mention %q:\n%s", want, out.String())
				}
			}
			if strings.Contains(out.String(), "used.golden") {
				t.Errorf("a file that was asserted is called an orphan:\n%s", out.String())
			}
		})
	}
}

// A name whose comparison failed is not an orphan as well.
func TestFailedAssertionsCountAsUse(t *testing.T) {
	f := inFolder(t, map[string]string{"testdata/a.golden": "a\n", "testdata/b.golden": "b\n"})
	f.assert(&fakeTB{name: "TestA"}, "a", "other\n")
	got, err := f.orphans(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"testdata/b.golden"}; !slices.Equal(got, want) {
		t.Errorf("got orphans %q, want %q", got, want)
	}
}

func TestNoTestdataNoOrphans(t *testing.T) {
	f := inFolder(t, nil)
	got, err := f.orphans(nil)
	if err != nil || len(got) != 0 {
		t.Errorf("got %q, %v, want none", got, err)
	}
}

func TestMalformedPatternIsAnError(t *testing.T) {
	if _, err := Orphans("["); err == nil {
		t.Error("a malformed pattern was accepted")
	}
}

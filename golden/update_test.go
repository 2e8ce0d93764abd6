package golden

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestUpdateWritesWhatWasGot(t *testing.T) {
	f := inFolder(t, map[string]string{"testdata/old.golden": "old\n"})
	t.Setenv(envUpdate, "1")
	tb := &fakeTB{name: "TestFeed"}
	f.assert(tb, "old", "new\n")
	f.assert(tb, "deep/er/one", "without a final newline")
	f.assert(tb, "windows", "a\r\nb\r\n")
	tb.noError(t)
	for file, want := range map[string]string{
		"testdata/old.golden":         "new\n",
		"testdata/deep/er/one.golden": "without a final newline\n",
		"testdata/windows.golden":     "a\r\nb\r\n",
	} {
		if got := f.read(t, file); got != want {
			t.Errorf("%s holds %q, want %q", file, got, want)
		}
	}
	// What was written passes.
	t.Setenv(envUpdate, "0")
	f.assert(tb, "old", "new\n")
	f.assert(tb, "deep/er/one", "without a final newline")
	f.assert(tb, "windows", "a\r\nb\r\n")
	tb.noError(t)
	if left, _ := filepath.Glob(filepath.Join(f.dir, "testdata", ".nodesim-*")); len(left) != 0 {
		t.Errorf("temporary files %q were left behind", left)
	}
}

func TestUpdateLeavesEqualFilesAlone(t *testing.T) {
	f := inFolder(t, map[string]string{"testdata/same.golden": "a\r\nb\r\n"})
	path := filepath.Join(f.dir, "testdata", "same.golden")
	past := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	t.Setenv(envUpdate, "1")
	tb := &fakeTB{name: "TestFeed"}
	f.assert(tb, "same", "a\nb\n")
	tb.noError(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(past) || len(tb.logs) != 0 {
		t.Errorf("a file with the same text was written again (%v, logs %q)", info.ModTime(), tb.logs)
	}
}

func TestUpdateIsRefusedInCI(t *testing.T) {
	for _, ci := range []string{"true", "1", "yes", "woodpecker"} {
		f := inFolder(t, map[string]string{"testdata/feed.golden": "old\n"})
		t.Setenv(envUpdate, "1")
		t.Setenv("CI", ci)
		tb := &fakeTB{name: "TestFeed"}
		f.assert(tb, "feed", "old\n")
		tb.onlyError(t, "testdata/feed.golden", "CI is set", "unset CI")
		f.assert(tb, "feed", "new\n")
		if got := f.read(t, "testdata/feed.golden"); got != "old\n" {
			t.Errorf("CI=%s: the file became %q", ci, got)
		}
		if len(tb.errors) != 3 { // refused, refused, differs
			t.Errorf("CI=%s: got errors %q, want the difference reported as well", ci, tb.errors)
		}
	}
}

func TestVariablesThatMeanNo(t *testing.T) {
	for _, no := range []string{"", "0", "false", "FALSE"} {
		f := inFolder(t, nil)
		t.Setenv(envUpdate, "1")
		t.Setenv("CI", no)
		tb := &fakeTB{name: "TestFeed"}
		f.assert(tb, "feed", "new\n")
		tb.noError(t)
		t.Setenv(envUpdate, no)
		if isSet(os.Getenv(envUpdate)) {
			t.Errorf("%s=%q: got updating, want comparing", envUpdate, no)
		}
	}
}

func TestUpdateRefusesTwoTextsForOneName(t *testing.T) {
	f := inFolder(t, nil)
	t.Setenv(envUpdate, "1")
	a, b := &fakeTB{name: "TestA"}, &fakeTB{name: "TestB"}
	f.assert(a, "feed", "one\n")
	f.assert(b, "feed", "one\n")
	a.noError(t)
	b.noError(t)
	f.assert(b, "feed", "two\n")
	b.onlyError(t, "another text", "by TestA", "use two names")
	if got := f.read(t, "testdata/feed.golden"); got != "one\n" {
		t.Errorf("the file became %q, want the first text", got)
	}
}

func TestUpdateReportsWhatCantBeWritten(t *testing.T) {
	f := inFolder(t, map[string]string{"testdata": "a file where the folder should be"})
	t.Setenv(envUpdate, "1")
	tb := &fakeTB{name: "TestFeed"}
	f.assert(tb, "feed", "one\n")
	tb.onlyError(t, "testdata/feed.golden can't be written", "nothing was changed")

	f = inFolder(t, map[string]string{"testdata/feed.golden/x": "a folder where the file should be"})
	t.Setenv(envUpdate, "1")
	tb = &fakeTB{name: "TestFeed"}
	f.assert(tb, "feed", "one\n")
	tb.onlyError(t, "found a folder: want a file")
}

func TestFlagIsRegisteredOnlyWhereItIsFree(t *testing.T) {
	free := flag.NewFlagSet("free", flag.ContinueOnError)
	registerUpdate(free)
	registerUpdate(free) // A second time must not panic.
	if err := free.Parse([]string{"-update"}); err != nil {
		t.Fatal(err)
	}
	if value, ok := boolFlag(free, "update"); !value || !ok {
		t.Errorf("after -update: got %v, %v, want true, true", value, ok)
	}

	taken := flag.NewFlagSet("taken", flag.ContinueOnError)
	theirs := taken.Bool("update", false, "theirs")
	registerUpdate(taken)
	if err := taken.Parse([]string{"-update"}); err != nil {
		t.Fatal(err)
	}
	if value, ok := boolFlag(taken, "update"); !*theirs || !value || !ok {
		t.Errorf("another package's -update: got %v, %v, theirs %v, want all true", value, ok, *theirs)
	}

	other := flag.NewFlagSet("other kind", flag.ContinueOnError)
	other.String("update", "", "a channel")
	registerUpdate(other)
	if err := other.Parse([]string{"-update=true"}); err != nil {
		t.Fatal(err)
	}
	if _, ok := boolFlag(other, "update"); ok {
		t.Error("a flag that takes a text was taken for ours")
	}

	late := flag.NewFlagSet("late", flag.ContinueOnError)
	late.SetOutput(io.Discard)
	if err := late.Parse(nil); err != nil {
		t.Fatal(err)
	}
	registerUpdate(late)
	if late.Lookup("update") != nil {
		t.Error("registered after parsing, so that the remedy would name a flag that does not work")
	}
}

func TestImportRegistersNothing(t *testing.T) {
	if f := flag.Lookup("golden"); f != nil {
		t.Errorf("flag -%s is registered", f.Name)
	}
	// Our own TestMain registers -update; nothing else may.
	if f := flag.Lookup("update"); f == nil || f.Usage == "" {
		t.Error("Main did not register -update")
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		pkg, test string
		hasFlag   bool
		want      string
	}{
		{"example.com/m/p", "TestFeed", true, `go test example.com/m/p -run '^TestFeed$' -update`},
		{"example.com/m/p", "TestFeed", false, `NODESIM_UPDATE=1 go test example.com/m/p -run '^TestFeed$'`},
		{".", "TestFeed/a.b[c]#01/d|e", true, `go test . -run '^TestFeed$/^a\.b\[c\]#01$/^d\|e$' -update`},
		{"example.com/m m/p", "TestIt's", true, `go test 'example.com/m m/p' -run '^TestIt'\''s$' -update`},
	} {
		if got := command(c.pkg, c.test, c.hasFlag); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestPackagePath(t *testing.T) {
	if got, want := packagePath(), "github.com/nodesim/nodesim/golden"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

package golden

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Runner holds what [Wrap] takes and returns: *testing.M, or something around it.
type Runner interface{ Run() int }

// Main is the whole of a TestMain: it registers -update, runs the tests, fails
// on orphaned golden files and exits. Patterns name the files that no test
// asserts but that belong there, as path.Match writes them, relative to
// testdata: "tapes/*.feed.golden".
func Main(m Runner, keep ...string) { os.Exit(Wrap(m, keep...).Run()) }

// Wrap is Main for a TestMain that does more: Run returns the exit status.
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(golden.Wrap(m)) }
//
// Flags must not have been parsed before Run is called, else -update is
// unknown to the command line and only NODESIM_UPDATE is left.
func Wrap(m Runner, keep ...string) Runner {
	return &wrapped{m: m, keep: keep, folder: here, flags: flag.CommandLine, out: os.Stderr}
}

// Orphans returns the golden files below testdata which nothing in this run
// has asserted so far and which no pattern keeps, sorted, with slashes,
// relative to the package's folder. It is for a TestMain that reports them in
// its own way; call it when every test has run.
func Orphans(keep ...string) ([]string, error) { return here.orphans(keep) }

type wrapped struct {
	m      Runner
	keep   []string
	folder *folder
	flags  *flag.FlagSet
	out    io.Writer
}

func (w *wrapped) Run() int {
	registerUpdate(w.flags)
	code := w.m.Run()
	if code != 0 || !ranAll(w.flags) {
		return code
	}
	orphans, err := w.folder.orphans(w.keep)
	if err != nil {
		fmt.Fprintf(w.out, "golden: looking for orphans: %v\n", err)
		return 1
	}
	for _, file := range orphans {
		fmt.Fprintf(w.out, "golden: %s: no test asserted it: delete it, or, if something else reads it, name it to golden.Main(m, %q)\n",
			file, strings.TrimPrefix(file, "testdata/"))
	}
	if len(orphans) > 0 {
		fmt.Fprintln(w.out, "FAIL")
		return 1
	}
	return code
}

// ranAll reports whether the flags of go test let every test run. A flag that
// is missing has let it.
func ranAll(flags *flag.FlagSet) bool {
	neutral := map[string]string{
		"test.run": "", "test.skip": "", "test.list": "", "test.fuzz": "",
		"test.short": "false", "test.fuzzworker": "false",
	}
	for name, value := range neutral {
		if f := flags.Lookup(name); f != nil && f.Value.String() != value {
			return false
		}
	}
	count := flags.Lookup("test.count")
	return count == nil || count.Value.String() != "0"
}

func (f *folder) orphans(keep []string) ([]string, error) {
	root := filepath.Join(f.dir, "testdata")
	var files []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			if file == root && os.IsNotExist(err) {
				return fs.SkipAll
			}
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() || !strings.HasSuffix(rel, extension) || f.isUsed(strings.TrimSuffix(rel, extension)) {
			return nil
		}
		kept, err := matchesAny(keep, rel)
		if err == nil && !kept {
			files = append(files, "testdata/"+rel)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	return files, nil
}

func (f *folder) isUsed(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.used[name]
	return ok
}

func matchesAny(patterns []string, name string) (bool, error) {
	for _, pattern := range patterns {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return false, fmt.Errorf("pattern %q: %w: want one that path.Match takes", pattern, err)
		}
		if ok {
			return true, nil
		}
	}
	return false, nil
}

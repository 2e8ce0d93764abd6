package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// An empty text passes neither against an empty file nor against none, and
// -update doesn't write it.
func TestEmptyTextIsRefused(t *testing.T) {
	for name, got := range map[string]string{"nothing": "", "blanks": " \n\n"} {
		t.Run(name, func(t *testing.T) {
			f := inFolder(t, map[string]string{"testdata/empty.golden": got})
			for _, update := range []string{"0", "1"} {
				t.Setenv(envUpdate, update)
				for _, file := range []string{"empty", "missing"} {
					tb := &fakeTB{name: "TestFeed"}
					f.assert(tb, file, got)
					tb.onlyError(t, "testdata/"+file+".golden: the test got a text of ", "golden.AssertEmpty(t, got)")
				}
			}
			if _, err := os.Stat(filepath.Join(f.dir, "testdata", "missing.golden")); !os.IsNotExist(err) {
				t.Errorf("a file was made of it (stat: %v)", err)
			}
		})
	}
}

func TestAssertEmpty(t *testing.T) {
	tb := &fakeTB{name: "TestFeed"}
	AssertEmpty(tb, "")
	AssertEmpty(tb, []byte(nil))
	tb.noError(t)
	AssertEmpty(tb, "one\n")
	tb.onlyError(t, "the test got 4 bytes, want none", `{s"one"}`)
}

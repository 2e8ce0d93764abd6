package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// AssertPart compares got with a part of a document that people write: what is in
// the file between the lines "<!-- name -->" and "<!-- end of name -->". So a table in a
// manual can be what the code says, in a text that isn't made. Where [Updating] says
// so the part is replaced, and the rest of the file stays as it is, its line endings
// as well.
//
// A relative path is that from the folder of the package under test; unlike the files
// of [Assert] it may lead anywhere in the module. A difference is reported with
// t.Errorf, with the command that accepts it. An empty text is refused, as by [Assert].
func AssertPart[T ~string | ~[]byte](t testing.TB, file, name string, got T) {
	t.Helper()
	here.assertPart(t, file, name, withFinalNewline(string(got)))
}

func (f *folder) assertPart(t testing.TB, file, name, got string) {
	t.Helper()
	if refuseEmpty(t, file, got) {
		return
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, filepath.FromSlash(path))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	raw, err := os.ReadFile(path)
	if err != nil {
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			err = p.Err
		}
		t.Errorf("golden: %s can't be read: %v; want a document with the part %q", file, err, name)
		return
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	head, was, tail, err := partOf(text, name)
	if err == nil && strings.Contains("\n"+got, "\n"+endOf(name)) {
		err = fmt.Errorf("the text that the test got has the line %q: want one without, since the part would end there", strings.TrimSpace(endOf(name)))
	}
	switch {
	case err != nil:
		t.Errorf("golden: %s: %v", file, err)
	case was == got:
	case !f.updating():
		t.Errorf("golden: %s: the part %q differs from what the test got (-want +got):\n%s\naccept it with: %s",
			file, name, diff(was, got), acceptCommand(t.Name()))
	case ciVariable() != "":
		t.Errorf("golden: %s: rewriting was asked for where CI is set: want it on a machine where a person reads the change; unset CI, or drop -update and %s", file, envUpdate)
	default:
		text = head + got + tail
		if strings.Contains(string(raw), "\r\n") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if err := writeFile(path, text); err != nil {
			t.Errorf("golden: %s can't be written: %v; nothing was changed", file, err)
			return
		}
		t.Logf("golden: wrote the part %q of %s", name, file)
	}
}

// partOf divides a document before and after a part; head and tail have its marks.
func partOf(text, name string) (head, part, tail string, err error) {
	begin, end := "<!-- "+name+" -->\n", endOf(name)
	before, rest, found := strings.Cut("\n"+text, "\n"+begin)
	if !found {
		return "", "", "", fmt.Errorf("found no line %q: want the part after it, up to a line %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	part, behind, found := strings.Cut("\n"+rest, "\n"+end)
	if !found {
		return "", "", "", fmt.Errorf("found no line %q after %q: want the part between them", strings.TrimSpace(end), strings.TrimSpace(begin))
	}
	return strings.TrimPrefix(before+"\n", "\n") + begin, strings.TrimPrefix(part+"\n", "\n"), end + behind, nil
}

func endOf(name string) string { return "<!-- end of " + name + " -->\n" }

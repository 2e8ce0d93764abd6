package golden

import "testing"

const manual = "# A\n\n<!-- t -->\n| a |\n<!-- end of t -->\nrest\n"

func TestAPartIsCompared(t *testing.T) {
	f := inFolder(t, map[string]string{"doc.md": manual, "crlf.md": "<!-- t -->\r\n| a |\r\n<!-- end of t -->\r\n"})
	tb := &fakeTB{name: "TestDoc"}
	f.assertPart(tb, "doc.md", "t", "| a |\n")
	f.assertPart(tb, "crlf.md", "t", "| a |\n")
	tb.noError(t)
	f.assertPart(tb, "doc.md", "t", "| b |\n")
	tb.onlyError(t, "doc.md", `"t"`, "-run '^TestDoc$'")
	if got := f.read(t, "doc.md"); got != manual {
		t.Errorf("comparing has changed the file: %q", got)
	}
}

func TestAPartIsReplacedAndNothingElse(t *testing.T) {
	f := inFolder(t, map[string]string{"doc.md": manual, "crlf.md": "x\r\n<!-- t -->\r\n<!-- end of t -->\r\n"})
	t.Setenv(envUpdate, "1")
	tb := &fakeTB{name: "TestDoc"}
	f.assertPart(tb, "doc.md", "t", "| b |\n")
	f.assertPart(tb, "crlf.md", "t", "| b |\n")
	tb.noError(t)
	if got, want := f.read(t, "doc.md"), "# A\n\n<!-- t -->\n| b |\n<!-- end of t -->\nrest\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := f.read(t, "crlf.md"), "x\r\n<!-- t -->\r\n| b |\r\n<!-- end of t -->\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Setenv("CI", "true")
	f.assertPart(tb, "doc.md", "t", "| c |\n")
	tb.onlyError(t, "where CI is set")
}

func TestADocumentWithoutThePart(t *testing.T) {
	f := inFolder(t, map[string]string{"doc.md": "no <!-- t -->\n", "open.md": "<!-- t -->\n| a |\n"})
	for file, wants := range map[string]string{"doc.md": "found no line \"<!-- t -->\"", "open.md": "found no line \"<!-- end of t -->\" after", "none.md": "can't be read"} {
		tb := &fakeTB{name: "TestDoc"}
		f.assertPart(tb, file, "t", "| a |\n")
		tb.onlyError(t, file, wants)
	}
}

// A part may speak of its own end, and a table that nothing filled isn't taken for one.
func TestWhatAPartMayHold(t *testing.T) {
	const speaks = "| see <!-- end of t -->\n"
	f := inFolder(t, map[string]string{"doc.md": "<!-- t -->\n" + speaks + "<!-- end of t -->\nrest\n"})
	tb := &fakeTB{name: "TestDoc"}
	f.assertPart(tb, "doc.md", "t", speaks)
	tb.noError(t)
	t.Setenv(envUpdate, "1")
	for got, wants := range map[string]string{"\n": "nothing to read", "| a |\n<!-- end of t -->\n": "would end there"} {
		tb := &fakeTB{name: "TestDoc"}
		f.assertPart(tb, "doc.md", "t", got)
		tb.onlyError(t, "doc.md", wants)
	}
	if got, want := f.read(t, "doc.md"), "<!-- t -->\n"+speaks+"<!-- end of t -->\nrest\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package app

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
)

// status N VERB… runs nodesim and wants it to exit with N; what it printed can
// be looked at with stdout and stderr.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N VERB [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("nodesim", args[1:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // testscript hands it out as it is
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// plain FILE… wants text in which nothing acts on a terminal; FILE may be
// stdout or stderr.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		found := ""
		for _, r := range ts.ReadFile(name) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r) {
				found = strconv.QuoteRune(r)
				break
			}
		}
		if (found != "") != neg {
			ts.Fatalf("%s: control characters: found %q, want them: %v", name, found, neg)
		}
	}
}

// oneline FILE… wants exactly one line.
func oneLineOnly(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		if one := strings.Count(text, "\n") == 1 && strings.HasSuffix(text, "\n"); one == neg {
			ts.Fatalf("%s: %d lines, want one: %v:\n%s", name, strings.Count(text, "\n"), !neg, text)
		}
	}
}

// tear FILE N cuts the last N bytes off a file: what a dying writer leaves.
func tear(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tear FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text[:len(text)-n]), 0o644))
}

// from is what is in a file from an offset on; nothing where there is no file.
func from(name string, offset int64) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.NewSectionReader(f, offset, 1<<40))
	if err != nil {
		return nil
	}
	return text
}

// waitfor FILE TEXT waits until the text is in the file, which need not be
// there yet, and only grows.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE TEXT")
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	tooLate := time.After(5 * time.Minute)
	seen := int64(0) // what was read and doesn't hold the text
	for {
		if text := from(ts.MkAbs(args[0]), seen); strings.Contains(string(text), args[1]) {
			return
		} else if n := len(text) - len(args[1]); n > 0 {
			seen += int64(n)
		}
		select {
		case <-look.C:
		case <-tooLate:
			ts.Fatalf("%s: %q didn't come within five minutes", args[0], args[1])
		}
	}
}

package lint

import (
	"bytes"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A ban is a pattern that no text of this repository may contain, and what to write instead.
type ban struct {
	pattern *regexp.Regexp
	instead string
}

// bans keep the texts about this project: true on every machine, and for a reader who has nothing but the repository.
var bans = []ban{
	{regexp.MustCompile(`(^|[^\w./-])/(work|tmp|root|home)/[\w.]`),
		"a path of one machine; use a relative one, t.TempDir() or a flag"},
	{regexp.MustCompile(`\b(proxy|sum)\.golang\.org\b|\bregistry\.npmjs\.org\b|\bpypi\.org\b|\bindex\.crates\.io\b`),
		"a package registry's host; the reader's own settings name it"},
	{regexp.MustCompile(`(?i)\b(assistant|chatbot|copilot|language model)s?\b`),
		"a tool that somebody wrote with; write about the project"},
	{regexp.MustCompile(`(?i)\bthe (issue|spec|task|brief) (says|asks|wants|demands|requires)\b|\b(issue|spec) 0?\d{1,3}\b`),
		"a text that the reader doesn't have; say what holds, or name a file in docs/"},
}

// dialect are words that keep strangers out, and the field's words for them. They hold for what wordsOf returns.
var dialect = []ban{
	{regexp.MustCompile(`\b(courier|errand|diary|crew)s?\b`), "say queue, write, checkpoint, set"},
	// A browser has an object performance, whose members and package are no prose.
	{regexp.MustCompile(`(?:^|[^/\w])[Pp]erformances?(?:[^.\w]|\.\W|\.?$)`), "say live run"},
	{regexp.MustCompile(`\bg(one|oes|oing) on with\b`), "say resume or continue"},
	{regexp.MustCompile(`\bone behind the other\b|\bbehind (it|that|its|them)\b`), "say after"},
	{regexp.MustCompile(`\bstands? (on|in) the\b`), "say is"},
	{regexp.MustCompile(`\b[Ww]hoever\b|\bwho goes\b`), "name who or what it is"},
	{regexp.MustCompile(`\bin good order\b`), "say cleanly"},
}

// document finds names of documents written in capitals, such as README.md.
var document = regexp.MustCompile(`\b[A-Z][A-Z-]+\.md\b`)

// backticked finds identifiers and commands.
var backticked = regexp.MustCompile("`[^`\n]*`")

// Words finds what bans forbid, and the names of documents in capitals that this repository doesn't hold. file is
// relative to the repository; exists reports whether the repository has a file of that name at its root.
//
// Binary files and recorded data are not prose: the caller leaves them out (see Prose).
func Words(file string, text []byte, exists func(name string) bool) []Finding {
	var found []Finding
	line := 0
	said := bytes.SplitAfter(wordsOf(file, text), []byte("\n"))
	for part := range bytes.Lines(text) {
		line++
		for _, b := range bans {
			if hit := b.pattern.Find(part); hit != nil {
				found = append(found, Finding{file, line, quote(hit) + ": " + b.instead})
			}
		}
		if line <= len(said) {
			for _, b := range dialect {
				if hit := b.pattern.Find(said[line-1]); hit != nil {
					found = append(found, Finding{file, line, quote(hit) + ": " + b.instead})
				}
			}
		}
		for _, name := range document.FindAll(part, -1) {
			if !exists(string(name)) {
				found = append(found, Finding{file, line, quote(name) + ": no such document here; name one that is"})
			}
		}
	}
	return found
}

// quote shows a hit without the characters around it that a pattern may have needed.
func quote(hit []byte) string { return strconv.Quote(strings.Trim(string(hit), " \t\n\"'`(),;:.")) }

// wordsOf is what of a file is written in words, on the lines on which it is there: of a page in Markdown all but what is in
// backticks, of Go its comments and strings, and whole scenario files, manifests and scripts of tests. Tapes have no
// prose: their words are a cluster's.
func wordsOf(file string, text []byte) []byte {
	switch path.Ext(file) {
	case ".md":
		return backticked.ReplaceAll(text, nil)
	case ".go":
		return wordsOfGo(text)
	case ".yaml", ".yml":
		if tape.Match(text) {
			return nil
		}
		return text
	case ".txtar":
		return text
	}
	return nil
}

// tape finds the header of a tape.
var tape = regexp.MustCompile(`(?m)\A(?:#.*\n)*apiVersion: nodesim\.dev/\w+\nkind: Timeline$`)

// wordsOfGo blanks what is neither a comment nor a string.
func wordsOfGo(text []byte) []byte {
	words := slices.Clone(text)
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	blankFrom := 0
	blank := func(to int) {
		for i := blankFrom; i < to; i++ {
			if words[i] != '\n' {
				words[i] = ' '
			}
		}
	}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			blank(len(words))
			return words
		}
		if tok == token.COMMENT || tok == token.STRING {
			begin := file.Offset(pos)
			blank(begin)
			blankFrom = min(begin+len(literal), len(words))
		}
	}
}

// Prose reports whether a file holds words that people here wrote, and is not this rule itself or the license.
func Prose(file string) bool {
	switch {
	case strings.HasPrefix(file, "internal/lint/"), file == "LICENSE", strings.HasSuffix(file, "go.sum"):
		return false
	case strings.HasSuffix(file, ".golden"), strings.HasSuffix(file, ".jsonl"),
		strings.HasSuffix(file, ".gz"), strings.HasSuffix(file, ".zst"):
		return false
	case strings.Contains("/"+file, "/testdata/fuzz/"):
		return false
	case strings.HasPrefix(file, "examples/") && strings.HasSuffix(file, ".yaml"):
		return false
	}
	return true
}

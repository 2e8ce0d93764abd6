package lint

import (
	"bytes"
	"regexp"
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

// dialect are words that keep strangers out, and the field's words for them. They hold for what people read first, the
// pages in Markdown; a comment of code may still have an old identifier in it.
var dialect = []ban{
	{regexp.MustCompile(`\b(courier|errand|diary|crew)s?\b`), "say queue, write, checkpoint, set"},
	{regexp.MustCompile(`\b[Pp]erformances?\b`), "say live run"},
	{regexp.MustCompile(`\bg(one|oes|oing) on with\b`), "say resume or continue"},
	{regexp.MustCompile(`\bone behind the other\b|\bbehind (it|that|its|them)\b`), "say after"},
	{regexp.MustCompile(`\bstands? (on|in) the\b`), "say is"},
	{regexp.MustCompile(`\b[Ww]hoever\b|\bwho goes\b`), "name who or what it is"},
	{regexp.MustCompile(`\bin good order\b`), "say cleanly"},
}

// document finds names of documents written in capitals, such as README.md.
var document = regexp.MustCompile(`\b[A-Z][A-Z-]+\.md\b`)

// backticked finds identifiers and commands.
var backticked = regexp.MustCompile("`[^`]*`")

// Words finds what bans forbid, and the names of documents in capitals that this repository doesn't hold. file is
// relative to the repository; exists reports whether the repository has a file of that name at its root.
//
// Binary files and recorded data are not prose: the caller leaves them out (see Prose).
func Words(file string, text []byte, exists func(name string) bool) []Finding {
	var found []Finding
	line := 0
	for part := range bytes.Lines(text) {
		line++
		for _, b := range bans {
			if hit := b.pattern.Find(part); hit != nil {
				found = append(found, Finding{file, line, quote(hit) + ": " + b.instead})
			}
		}
		if strings.HasSuffix(file, ".md") {
			prose := backticked.ReplaceAll(part, nil)
			for _, b := range dialect {
				if hit := b.pattern.Find(prose); hit != nil {
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

// quote shows a hit without the character before it that a pattern may have needed.
func quote(hit []byte) string { return strconv.Quote(strings.Trim(string(hit), " \t\"'`(")) }

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

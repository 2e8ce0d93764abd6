package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/nodesim/nodesim/replay/analysis"
)

//go:embed web
var web embed.FS

// scripts are the files of the page's script, in the order in which they are joined: what a file's top level uses stands
// before it.
var scripts = []string{
	"text.js", "data.js", "sides.js", "lives.js", "colours.js", "view.js", "rows.js", "layout.js", "patterns.js", "paint.js", "lanes.js", "areas.js",
	"axis.js", "overview.js", "feed.js", "details.js", "findings.js", "search.js", "filter.js", "pointer.js", "keys.js",
	"table.js", "differences.js", "main.js",
}

// page is the file but for its data.
type page struct{ before, after []byte }

// thePage is the page with its style and script, whose hashes are in its policy. It is made when it is written: no other command needs it.
var thePage = sync.OnceValue(makePage)

func makePage() page {
	text := func(name string) string {
		b, err := web.ReadFile("web/" + name)
		if err != nil {
			panic(err) // embedded: a name of the list is wrong
		}
		return string(b)
	}
	var js strings.Builder
	js.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range scripts {
		js.WriteString(text(name))
	}
	js.WriteString("})();\n")
	style, script := text("style.css"), js.String()
	whole := strings.NewReplacer(
		"{{style}}", style, "{{script}}", script,
		"{{style-hash}}", hash(style), "{{script-hash}}", hash(script),
	).Replace(text("page.html"))
	before, after, _ := strings.Cut(whole, "{{data}}")
	return page{[]byte(before), []byte(after)}
}

// escape is html.EscapeString, which would link another package for one string.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// hash is a source expression of Content Security Policy Level 3, section 2.3.1.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write writes the report of a tape: a is its analysis, with Options.Series, and feed its feed. The same values give the
// same bytes.
func Write(w io.Writer, a *analysis.Analysis, feed []Line) error {
	data, err := encode(a, feed)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return write(w, clean(a.Tape.Name), data)
}

// write writes the page with its title and data.
func write(w io.Writer, title string, data []byte) error {
	before := bytes.ReplaceAll(thePage().before, []byte("{{title}}"), []byte(escape.Replace(title)))
	for _, part := range [][]byte{before, data, thePage().after} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

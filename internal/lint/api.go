package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// A symbol is one line of what importers of a package can use, in the manner of the files in Go's own api folder.
type symbol struct {
	text string // such as: method (*Reader) Next() (Event, error)
	file string
	line int
}

// An api is what a public package exports.
type api struct {
	folder  string
	symbols []symbol // sorted by text, each once
	comment string   // the package's
}

// public reports whether other modules import a file's package: it isn't internal, no program, no example.
func public(file string) bool {
	dir := "/" + folder(file) + "/"
	return !strings.Contains(dir, "/internal/") && !strings.HasPrefix(dir, "/cmd/") && !strings.HasPrefix(dir, "/examples/")
}

// exported lists what every public package exports, in the order of their folders. It reads syntax alone, so nothing
// is compiled: a type that is inferred isn't said, and what an embedded type of another package brings is that type.
func exported(files map[string][]byte) ([]api, error) {
	code := sources(files)
	byFolder := map[string]*surface{}
	for _, file := range sorted(code) {
		if !public(file) {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, code[file], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("list what packages export: %w", err)
		}
		if tree.Name.Name == "main" {
			continue
		}
		dir := folder(file)
		if byFolder[dir] == nil {
			byFolder[dir] = &surface{embeds: map[string][]string{}}
		}
		if err := byFolder[dir].add(set, file, tree); err != nil {
			return nil, fmt.Errorf("list what %s exports: %w", dir, err)
		}
	}
	var all []api
	for dir, s := range byFolder {
		all = append(all, api{dir, s.visible(), s.comment})
	}
	slices.SortFunc(all, func(a, b api) int { return cmp.Compare(a.folder, b.folder) })
	return all, nil
}

// A surface collects the declarations of a package. Those of a type that isn't exported count where an exported type
// embeds it, which promotes them.
type surface struct {
	of      []owned
	embeds  map[string][]string // types of the package by a type that embeds them
	comment string
}

// owned is a symbol and the type that it is a part of, if any.
type owned struct {
	symbol
	owner string
}

func (s *surface) visible() []symbol {
	promotes := map[string]bool{}
	var reach func(of string)
	reach = func(of string) {
		for _, name := range s.embeds[of] {
			if !promotes[name] {
				promotes[name] = true
				reach(name)
			}
		}
	}
	for of := range s.embeds {
		if ast.IsExported(of) {
			reach(of)
		}
	}
	var out []symbol
	for _, o := range s.of {
		if o.owner == "" || ast.IsExported(o.owner) || promotes[o.owner] {
			out = append(out, o.symbol)
		}
	}
	slices.SortStableFunc(out, func(a, b symbol) int { return cmp.Compare(a.text, b.text) })
	return slices.CompactFunc(out, func(a, b symbol) bool { return a.text == b.text }) // one for each operating system
}

// baselineFolder has a file for each public package: what it exported when it was last looked at.
const baselineFolder = "internal/lint/api"

// Baselines returns the files of baselineFolder as they have to be for the code of today.
func Baselines(files map[string][]byte) (map[string][]byte, error) {
	all, err := exported(files)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, a := range all {
		var b bytes.Buffer
		for _, s := range a.symbols {
			b.WriteString(s.text + "\n")
		}
		out[path.Join(baselineFolder, a.folder+".txt")] = b.Bytes()
	}
	return out, nil
}

const enter = "`go run ./internal/lint/house -api .` enters it in " + baselineFolder

// API compares what public packages export with the baseline: what is gone breaks importers, and what is new is entered,
// so that it can't go unnoticed later. Where it isn't said in a package's comment that it may change, docs/stability.md
// lists the package.
func API(files map[string][]byte) ([]Finding, error) {
	all, err := exported(files)
	if err != nil {
		return nil, err
	}
	var found []Finding
	known := map[string]bool{}
	promises := promised(files[stabilityFile])
	for _, a := range all {
		file := path.Join(baselineFolder, a.folder+".txt")
		known[file] = true
		found = append(found, a.compare(file, files[file])...)
		if changes := strings.Contains(a.comment, mayChange); changes == promises[a.folder] {
			found = append(found, Finding{stabilityFile, 1, fmt.Sprintf("package %s: found it listed: %t, and %q in its comment: %t; want one of them",
				a.folder, promises[a.folder], mayChange, changes)})
		}
	}
	for _, file := range sorted(files) {
		if strings.HasPrefix(file, baselineFolder+"/") && !known[file] {
			found = append(found, Finding{file, 1, "found no such package: importers use it; bring it back, or follow " + stabilityFile + " and remove this file"})
		}
	}
	return found, nil
}

func (a api) compare(file string, baseline []byte) (found []Finding) {
	is, was := map[string]bool{}, map[string]bool{}
	for _, s := range a.symbols {
		is[s.text] = true
	}
	line := 0
	for text := range strings.Lines(string(baseline)) {
		line++
		text = strings.TrimSuffix(text, "\n")
		was[text] = true
		if !is[text] {
			found = append(found, Finding{file, line, fmt.Sprintf("found no %q in package %s: importers use it; bring it back, or follow %s and remove this line",
				text, a.folder, stabilityFile)})
		}
	}
	for _, s := range a.symbols {
		if !was[s.text] {
			found = append(found, Finding{s.file, s.line, fmt.Sprintf("new in package %s: %q: %s", a.folder, s.text, enter)})
		}
	}
	return found
}

// stabilityFile says what importers may rely on, and lists the packages of which they may.
const stabilityFile = "docs/stability.md"

// mayChange is in the comment of each public package that stabilityFile doesn't list.
const mayChange = "may still change"

// promised are the packages of the first column of the table in stabilityFile: rows that begin with a name in backquotes.
func promised(text []byte) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(rest, "`")
			out[name] = true
		}
	}
	return out
}

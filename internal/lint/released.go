package lint

import (
	"context"
	"fmt"
	"go/ast"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// changelog is the page that tells importers what breaks.
const changelog = "CHANGELOG.md"

// unreleased is the changelog's section of what no version has yet.
const unreleased = "Unreleased"

// Released compares the baselines with those of the last version that was tagged: what it exported and is gone has to be named in the
// changelog. [API] can't see that, since it compares code and baselines of one commit. Packages that might still change in that version
// are free. Without such a tag, or without the history that leads to it, as in a shallow clone, there is nothing to compare with.
func Released(ctx context.Context, root string, files map[string][]byte) ([]Finding, error) {
	version := lastVersion(ctx, root)
	if version == "" {
		return nil, nil
	}
	was, err := filesAt(ctx, root, version, baselineFolder, stabilityFile, changelog)
	if err != nil {
		return nil, err
	}
	return undocumented(version, was, files), nil
}

// lastVersion is the last tag of a version before HEAD, or at it; "" where git knows none.
func lastVersion(ctx context.Context, root string) string {
	tag, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(tag))
}

// filesAt reads files and folders of a commit, by their names relative to root. What isn't there is left out.
func filesAt(ctx context.Context, root, commit string, names ...string) (map[string][]byte, error) {
	args := append([]string{"-C", root, "ls-tree", "-r", "-z", "--name-only", commit}, names...)
	list, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of %s at %s: %w", root, commit, err)
	}
	files := map[string][]byte{}
	for name := range strings.SplitSeq(string(list), "\x00") {
		if name == "" {
			continue // after the last one
		}
		text, err := exec.CommandContext(ctx, "git", "-C", root, "cat-file", "blob", commit+":./"+name).Output()
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", name, commit, err)
		}
		files[name] = text
	}
	return files, nil
}

// undocumented finds what a version exported, is gone, and isn't named in the changelog.
func undocumented(version string, was, is map[string][]byte) (found []Finding) {
	named, heading := breaks(was[changelog], is[changelog])
	promises := promised(was[stabilityFile])
	for _, file := range sorted(was) {
		dir, ok := strings.CutPrefix(strings.TrimSuffix(file, ".txt"), baselineFolder+"/")
		if !ok || !promises[dir] {
			continue
		}
		// A package that is gone or has moved is one loss: importers have to change the path of its import, whatever they use of it.
		all := []loss{{dir, "package " + dir}}
		if text, there := is[file]; there {
			all = losses(dir, was[file], text)
		}
		for _, l := range all {
			if !slices.ContainsFunc(named, l.pattern(dir).MatchString) {
				found = append(found, Finding{changelog, heading, fmt.Sprintf(
					"found no %s, which %s has: want `%s` below Removed or Changed of %s, with what to use instead; or bring it back",
					l.what, version, l.name, unreleased)})
			}
		}
	}
	return found
}

// A loss is something that importers used, by the name that the changelog has to have.
type loss struct{ name, what string }

// pattern finds the name in a span of code, alone or after the package's.
func (l loss) pattern(dir string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\w.])(?:` + regexp.QuoteMeta(path.Base(dir)) + `\.)?` + regexp.QuoteMeta(l.name) + `(?:$|[^\w./])`)
}

// losses are the names of the lines of a package's baseline that are gone, each once. Of a type that is gone with all that it had, that is
// the type's own.
func losses(dir string, was, is []byte) (all []loss) {
	left, types := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(is)) {
		line = strings.TrimSuffix(line, "\n")
		left[line] = true
		if owner, _ := identifiers(line); strings.HasPrefix(line, "type ") {
			types[owner] = true
		}
	}
	known := map[string]bool{"": true}
	for line := range strings.Lines(string(was)) {
		line = strings.TrimSuffix(line, "\n")
		if left[line] {
			continue
		}
		owner, member := identifiers(line)
		name := owner
		switch {
		case !ast.IsExported(owner):
			name = member // an exported type embeds the owner, and importers know that type alone
		case member != "" && types[owner]:
			name += "." + member
		}
		if !known[name] {
			known[name] = true
			all = append(all, loss{name, fmt.Sprintf("%q in package %s", line, dir)})
		}
	}
	return all
}

// partLine finds a type and its method or field in a line of a baseline.
var partLine = regexp.MustCompile(`^(?:method \(\*?|type )(\w+)(?:\[[^\]]*\])?(?:\)| struct,| interface,) (\w+)`)

// wholeLine finds what else a line declares.
var wholeLine = regexp.MustCompile(`^(?:const|func|type|var) (\w+)`)

// identifiers are those of a line of a baseline: of what is declared or, of a part of a type, the type's and the part's.
func identifiers(line string) (owner, member string) {
	if m := partLine.FindStringSubmatch(line); m != nil {
		if m[2] == "embedded" {
			return m[1], ""
		}
		return m[1], m[2]
	}
	if m := wholeLine.FindStringSubmatch(line); m != nil {
		return m[1], ""
	}
	return "", ""
}

// breaks returns what a changelog has in backquotes below Removed and Changed, and the line of the section Unreleased. Besides that
// section, those count that the changelog didn't have at the tag: a release renames Unreleased before it has a tag of its own.
func breaks(was, is []byte) (named []string, heading int) {
	old := map[string]bool{}
	for line := range strings.Lines(string(was)) {
		if title, ok := section(line); ok {
			old[title] = title != unreleased
		}
	}
	heading = 1
	number, counts, below := 0, false, false
	for line := range strings.Lines(string(is)) {
		number++
		title, begins := section(line)
		kind, divides := strings.CutPrefix(line, "### ")
		switch {
		case begins:
			counts, below = !old[title], false
			if title == unreleased {
				heading = number
			}
		case divides:
			kind = strings.TrimSpace(kind)
			below = counts && (kind == "Removed" || kind == "Changed")
		case below:
			for _, span := range backticked.FindAllString(line, -1) {
				named = append(named, strings.Trim(span, "`"))
			}
		}
	}
	return named, heading
}

// section is the first word of a heading, such as 0.1.0.
func section(line string) (title string, ok bool) {
	text, ok := strings.CutPrefix(line, "## ")
	title, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	return title, ok
}

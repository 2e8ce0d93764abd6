package lint

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tagged are the files of a repository at a tag. Importers may rely on replay and replay/old, and not on draft.
var tagged = map[string]string{
	"docs/stability.md": "| package | for |\n|---|---|\n| `replay` | tapes |\n| `replay/old` | more |\n",
	"CHANGELOG.md":      "# Changelog\n\n## 0.1.0 - 2026-12-01\n\n### Removed\n\n- `WithNodeLister`\n",
	"internal/lint/api/replay.txt": `const Most untyped = 7
func WithNodeLister(string) Option
method (*Player) Step() bool
method (*Player) StepTo(time.Duration) error
method (*inner) Promoted()
type Option func(*Player, ...string)
type Player struct
type Player struct, Name string
type Player struct, embedded *inner
type Set[K, V] struct, Keys []K
type Source interface { Next }
type Source interface, Next() error
type inner struct
`,
	"internal/lint/api/replay/old.txt": "func Gone()\nfunc Lost()\n",
	"internal/lint/api/draft.txt":      "func Draft()\n",
}

// repository makes one with a commit of these files and a tag. Neither settings of this machine nor the repository of a hook that runs the
// tests have a part in it.
func repository(t *testing.T, tag string, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_DIR": filepath.Join(root, ".git"), "GIT_INDEX_FILE": filepath.Join(root, ".git", "index"),
	} {
		t.Setenv(name, value)
	}
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."},
		{"-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "Begin"}, {"tag", tag},
	} {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	return root
}

// bytesOf are files as [Files] returns them.
func bytesOf(files map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range files {
		out[name] = []byte(text)
	}
	return out
}

// said is what a finding says of a line that is gone, and the name that it wants.
func said(line, name string) string {
	return fmt.Sprintf("CHANGELOG.md:3: found no %s, which v0.1.0 has: want `%s` below Removed or Changed of Unreleased, with what to use instead; or bring it back",
		line, name)
}

// Each change since the tag, with what Unreleased says of it.
func TestReleased(t *testing.T) {
	const (
		replay  = "internal/lint/api/replay.txt"
		lister  = "func WithNodeLister(string) Option\n"
		stepTo  = "method (*Player) StepTo(time.Duration) error\n"
		wantsTo = `"method (*Player) StepTo(time.Duration) error" in package replay`
	)
	wantsLister := said(`"func WithNodeLister(string) Option" in package replay`, "WithNodeLister")
	player := "method (*Player) Step() bool\n" + stepTo + "method (*inner) Promoted()\n"
	root := repository(t, "v0.1.0", tagged)
	for _, c := range []struct {
		name, file, old, new, entry string
		want                        []string
	}{
		{name: "nothing"},
		{name: "something new", file: replay, old: lister, new: lister + "func New() *Player\n"},
		{"a function without an entry", replay, lister, "", "", []string{wantsLister}},
		{"with an entry", replay, lister, "", "### Removed\n\n- `replay.WithNodeLister`: use\n  `WithNodes`.\n", nil},
		{"in the entry's second line", replay, lister, "", "### Changed\n\n- Options are fewer:\n  `WithNodeLister` is gone.\n", nil},
		{"with what is new", replay, lister, "", "### Added\n\n- `WithNodeLister`\n", []string{wantsLister}},
		{"without backquotes", replay, lister, "", "### Removed\n\n- WithNodeLister\n", []string{wantsLister}},
		{"another name that begins so", replay, lister, "", "### Removed\n\n- `WithNodeListers`, `WithNodeLister.Of`, `live.WithNodeLister`\n", []string{wantsLister}},
		{"another signature", replay, "(string) Option", "() Option", "", []string{wantsLister}},
		{"another value", replay, "= 7", "= 8", "", []string{said(`"const Most untyped = 7" in package replay`, "Most")}},
		{"a method", replay, stepTo, "", "### Removed\n\n- `StepTo`\n", []string{said(wantsTo, "Player.StepTo")}},
		{"a method with an entry", replay, stepTo, "", "### Removed\n\n- `Player.StepTo`\n", nil},
		{"a field of a generic type", replay, "Keys []K", "Keys []V", "", []string{said(`"type Set[K, V] struct, Keys []K" in package replay`, "Set.Keys")}},
		{"a promoted method", replay, "method (*inner) Promoted()\n", "", "", []string{said(`"method (*inner) Promoted()" in package replay`, "Promoted")}},
		{"an embedded type", replay, "type Player struct, embedded *inner\n", "", "", []string{said(`"type Player struct, embedded *inner" in package replay`, "Player")}},
		{"a method that implementers need", replay, "{ Next }", "{ Next, closed }", "", []string{said(`"type Source interface { Next }" in package replay`, "Source")}},
		{"a type's underlying one", replay, "...string)", "...int)", "", []string{said(`"type Option func(*Player, ...string)" in package replay`, "Option")}},
		{"a type and all that it has", replay, player + "type Option func(*Player, ...string)\ntype Player struct\ntype Player struct, Name string\ntype Player struct, embedded *inner\n",
			"type Option func(*Player, ...string)\n", "### Removed\n\n- `Player`, and its `Promoted`\n", nil},
		{"a package that may change", "internal/lint/api/draft.txt", "func Draft()\n", "", "", nil},
		{"a promise", "docs/stability.md", "| `replay` | tapes |\n", "", "", nil},
		{"a version that is being made", replay, lister, "", "## 0.2.0 - 2027-01-15\n\n### Removed\n\n- `WithNodeLister`\n", nil},
	} {
		files := bytesOf(tagged)
		files["CHANGELOG.md"] = []byte(strings.Replace(tagged["CHANGELOG.md"], "## 0.1.0", "## Unreleased\n\n"+c.entry+"\n## 0.1.0", 1))
		if c.file != "" {
			if !strings.Contains(tagged[c.file], c.old) {
				t.Fatalf("%s: found no %q in %s", c.name, c.old, c.file)
			}
			files[c.file] = []byte(strings.Replace(tagged[c.file], c.old, c.new, 1))
		}
		checkReleased(t, c.name, root, files, c.want)
	}
}

// A package that is gone, or has moved, is one loss.
func TestReleasedPackageThatIsGone(t *testing.T) {
	root := repository(t, "v0.1.0", tagged)
	files := bytesOf(tagged)
	delete(files, "internal/lint/api/replay/old.txt")
	files["internal/lint/api/replay/older.txt"] = []byte(tagged["internal/lint/api/replay/old.txt"])
	for entry, want := range map[string][]string{
		"- `replay/older`, `old`, `old.Gone`": {said("package replay/old", "replay/old")},
		"- `replay/old` is `replay/older`":    nil,
	} {
		files["CHANGELOG.md"] = []byte("# Changelog\n\n## Unreleased\n\n### Changed\n\n" + entry + "\n")
		checkReleased(t, entry, root, files, want)
	}
	// What a package has lost counts where it isn't promised any more, too.
	files["docs/stability.md"] = nil
	files["CHANGELOG.md"] = []byte("# Changelog\n\n## Unreleased\n")
	checkReleased(t, "no promise any more", root, files, []string{said("package replay/old", "replay/old")})
}

// Where no version was tagged there is nothing to compare with.
func TestReleasedWithoutAVersion(t *testing.T) {
	root := repository(t, "nightly", tagged)
	checkReleased(t, "no version", root, map[string][]byte{}, nil)
}

func checkReleased(t *testing.T, name, root string, files map[string][]byte, want []string) {
	t.Helper()
	all, err := Released(t.Context(), root, files)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range all {
		found = append(found, f.String())
	}
	if !slices.Equal(found, want) {
		t.Errorf("%s: found %q, want %q", name, found, want)
	}
}

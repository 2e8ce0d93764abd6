// Package version says which nodesim this is: in `nodesim version`, on the tapes that it writes, and where it crashes.
package version

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// linked and commit are set by -ldflags "-X github.com/nodesim/nodesim/internal/version.linked=v1.2.3 -X …commit=…".
var linked, commit string

// Info is what a bug report needs. The JSON is that of `nodesim version -o json`.
type Info struct {
	Version string `json:"version"`
	// Commit is empty where the program was built outside a clone, by go install for one.
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Get describes the running program.
func Get() Info { return of(debug.ReadBuildInfo()) }

// Program is what a tape's header says of the program that wrote it, such as "nodesim v0.1.0"; empty where the
// version isn't known, so that tests write the same tapes on each commit.
func Program() string {
	if v := Get().Version; strings.HasPrefix(v, "v") {
		return "nodesim " + v
	}
	return ""
}

// of takes what the linker was told, or the module's version (of go install, or of the tag or commit of a clone), or the
// commit that was built.
func of(info *debug.BuildInfo, ok bool) Info {
	i := Info{Version: linked, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && commit == "" {
			i.Commit = s.Value
		}
	}
	switch {
	case i.Version != "":
	case !ok:
		i.Version = "unknown"
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		i.Version = info.Main.Version
	case i.Commit != "":
		i.Version = "devel-" + i.Commit
	default:
		i.Version = "devel"
	}
	return i
}

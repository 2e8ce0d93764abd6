package version

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}
	for _, c := range []struct {
		linked          string
		info            *debug.BuildInfo
		ok              bool
		version, commit string
	}{
		{"", nil, false, "unknown", ""},
		{"v2.0.0", nil, false, "v2.0.0", ""},
		{"v2.0.0", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: commit}, true, "v2.0.0", "abc"},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, true, "v1.2.3", ""},
		{"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, true, "devel-abc", "abc"},
		{"", &debug.BuildInfo{}, true, "devel", ""},
	} {
		linked = c.linked
		if got := of(c.info, c.ok); got.Version != c.version || got.Commit != c.commit || got.Go == "" || got.Platform == "" {
			t.Errorf("linked %q, %+v: got %+v, want version %q and commit %q", c.linked, c.info, got, c.version, c.commit)
		}
	}
	linked = ""
}

// A tape names the version that wrote it only where that is one: this test's program has none.
func TestProgram(t *testing.T) {
	if got := Program(); got != "" {
		t.Errorf("got %q of a test, want nothing", got)
	}
	linked = "v0.1.0"
	defer func() { linked = "" }()
	if got, want := Program(), "nodesim v0.1.0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

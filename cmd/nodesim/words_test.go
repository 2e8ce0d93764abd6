package main

import (
	"runtime/debug"
	"testing"
)

func TestNameOfATape(t *testing.T) {
	for file, want := range map[string]string{
		"dir/roll.yaml": "roll", "roll.yaml.zst": "roll", "roll.2026.yml.gz": "roll.2026", "roll": "roll", "/dev/stdout": "stdout",
	} {
		if got := nameOf("", file); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
	if got := nameOf("mine", "roll.yaml"); got != "mine" {
		t.Errorf("got %q", got)
	}
}

func TestVersionOf(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}
	for _, c := range []struct {
		info *debug.BuildInfo
		ok   bool
		want string
	}{
		{nil, false, "unknown"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, true, "v1.2.3"},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, true, "devel-abc"},
		{&debug.BuildInfo{}, true, "devel"},
	} {
		if got := versionOf(c.info, c.ok); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

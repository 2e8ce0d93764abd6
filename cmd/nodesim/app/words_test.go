package app

import (
	"encoding/json"
	"errors"
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

// An error names no Go type, whatever decoder it is of.
func TestErrorsNameNoGoType(t *testing.T) {
	type inner struct{ A string }
	type cluster struct {
		Names []string
		Port  int
		Data  []byte
		Ready bool
		Inner inner
	}
	type config struct {
		Cluster cluster `json:"cluster"`
	}
	for text, want := range map[string]string{
		`{"cluster":{"Names":"a"}}`:   "x: cluster.Names: found string, want a list",
		`{"cluster":{"Port":"a"}}`:    "x: cluster.Port: found string, want a whole number",
		`{"cluster":{"Port":1.5}}`:    "x: cluster.Port: found number, want a whole number",
		`{"cluster":{"Data":{}}}`:     "x: cluster.Data: found object, want text",
		`{"cluster":{"Ready":[]}}`:    "x: cluster.Ready: found array, want true or false",
		`{"cluster":{"Inner":true}}`:  "x: cluster.Inner: found bool, want a mapping",
		`{"cluster":{"Names":[[1]]}}`: "x: cluster.Names: found array, want text",
		`[]`:                          "x: found array, want a mapping",
	} {
		err := json.Unmarshal([]byte(text), new(config))
		if got := oneLine(errors.New("x: " + err.Error())); got != want {
			t.Errorf("%s: got %q, want %q", err, got, want)
		}
	}
}

package app

import (
	"encoding/json"
	"errors"
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

func TestIsPlugin(t *testing.T) {
	for program, want := range map[string]bool{
		"kubectl-nodesim": true, "/usr/bin/kubectl-nodesim": true, "kubectl_nodesim.exe": true, "Kubectl-Nodesim.EXE": true,
		"nodesim": false, "/opt/kubectl-nodesim/nodesim": false, "kubectl_complete-nodesim": false, "": false,
	} {
		if got := isPlugin(program); got != want {
			t.Errorf("%q: got %v, want %v", program, got, want)
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

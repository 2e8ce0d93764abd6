package app

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// wrongValues are no value of any type that refuses some, and of one that takes numbers alone, or words.
var wrongValues = []string{"x", "7", "-1", "99999999999999999999", "1.5", "maybe", "", `a"b`, "\n", "90 s", "9999999h"}

// ofGo are words of Go's packages.
var ofGo = regexp.MustCompile(`\b(strconv|parsing|syntax|missing|range|column|EOF|invalid|bare)\b`)

// Every flag of every verb says what it wants, without a word of Go's packages.
func TestFlagsSayWhatTheyWant(t *testing.T) {
	refused := map[string]int{} // by the type of the value
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				for _, value := range wrongValues {
					err := cmd.ParseFlags([]string{"--" + f.Name + "=" + value})
					if err == nil {
						continue
					}
					refused[f.Value.Type()]++
					said := flagError(cmd, err).Error()
					if why := strings.TrimPrefix(said, "flag --"+f.Name+" "); why == said || !strings.Contains(said, "want ") || ofGo.MatchString(said) {
						t.Errorf("%s --%s=%s: %s: want the flag, the value and what it wants in plain words", cmd.CommandPath(), f.Name, value, said)
					}
				}
			})
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	walk(root)
	for _, name := range []string{"bool", "duration", "int", "uint64", "stringSlice", "SPEED", "TIME", "N", "SIZE"} {
		if refused[name] == 0 {
			t.Errorf("no flag of type %s refused a value: want each type asked", name)
		}
	}
}

// What pflag's types refuse, in words.
func TestRefusals(t *testing.T) {
	for args, want := range map[string]string{
		"plan --runs=x":                        `flag --runs "x": want a whole number`,
		"plan --runs=99999999999999999999":     `flag --runs "99999999999999999999": want a whole number nearer to 0`,
		"hunt --cases=-1":                      `flag --cases "-1": want a whole number, not a negative one`,
		"replay --loop=x":                      `flag --loop "x": want true or false`,
		"replay --idle-limit=3":                `flag --idle-limit "3": want a duration such as 90s or 1h30m`,
		"replay --idle-limit=9999999h":         `flag --idle-limit "9999999h": want less than 2562047h, which is the longest duration`,
		"record --until-complete=maybe":        `flag --until-complete "maybe": want true or false`,
		`record --resources=a"b`:               `flag --resources "a\"b": want values separated by commas, without quotes`,
		"simulate --seed=99999999999999999999": `flag --seed "99999999999999999999": want a whole number from 0 to 18446744073709551615`,
	} {
		root := newRoot()
		words := strings.Fields(args)
		cmd, flags, err := root.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.ParseFlags(flags)
		if err == nil {
			t.Errorf("%s: found no error: want %s", args, want)
			continue
		}
		if got := flagError(cmd, err).Error(); got != want {
			t.Errorf("%s: found %s: want %s", args, got, want)
		}
	}
}

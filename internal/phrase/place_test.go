package phrase

import (
	"errors"
	"testing"
)

func TestPlace(t *testing.T) {
	for want, p := range map[string]Place{
		"a.yaml:9: rules[0]: nothing: want a rule; write one": {File: "a.yaml", Line: 9, Path: "rules[0]", Found: "nothing", Wanted: "a rule", Remedy: "write one"},
		"--set: too much":     {File: "--set", Found: "too much"},
		`a\x1b.yaml: nothing`: {File: "a\x1b.yaml", Found: "nothing"},
	} {
		if got := p.String(); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

func TestBadYAML(t *testing.T) {
	for in, want := range map[string]Place{
		"yaml: line 7: did not\n find": {File: "a", Line: 7, Found: "did not find", Wanted: "YAML"},
		"yaml: line 0: none":           {File: "a", Line: 1, Found: "line 0: none", Wanted: "YAML"},
		"short read":                   {File: "a", Line: 1, Found: "short read", Wanted: "YAML"},
	} {
		if got := BadYAML("a", errors.New(in)); got != want {
			t.Errorf("%q: found %+v, want %+v", in, got, want)
		}
	}
}

package hunt

import (
	"testing"

	"github.com/nodesim/nodesim/replay/policy"
)

// A policy judges the tape that is written of a file: the search's own marks are for its coverage alone, and a mark of the file is on it.
func TestAPolicyJudgesTheTapeOfTheFile(t *testing.T) {
	const deleted = `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: two, title: two nodes}
cluster: {provider: eks}
groups: [{name: workers, nodes: 2}]
faults:
- {at: 1m, delete: {nodes: 1}}
`
	quiet, err := policy.Load("quiet.yaml", []byte(`
apiVersion: nodesim.dev/v1
kind: Policy
metadata: {name: quiet}
rules:
- name: no-marks
  over: tape
  expression: size(tape.marks) == 0
`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{deleted: 0, deleted + "- {at: 2m, mark: {name: noted}}\n": 1} {
		f, err := Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o, err := Simulated([]*policy.Policy{quiet})(t.Context(), f)
		if err != nil || len(o.Failures) != want || o.visited["delete"] == 0 {
			t.Errorf("found %v, and the states %b when the node was deleted: %v: want %d failures, and some state\n%s", o.Failures, o.visited["delete"], err, want, text)
		}
	}
}

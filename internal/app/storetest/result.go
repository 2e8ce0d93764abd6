package storetest

import (
	"encoding/json"

	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/app/tapetest"
	"github.com/nodesim/nodesim/replay/policy"
)

// ResultKind is the kind of a Result, by which it is found among other lines of a log.
const ResultKind = "TestResult"

// Result is what a test of a store's tapes, or of a shard of them, came to.
type Result struct {
	Kind string `json:"kind"`
	// Program is the version that tested, Store how the store is called, and Input a hash of which tapes were asked for, and of
	// the policies.
	Program string `json:"program"`
	Store   string `json:"store"`
	Input   string `json:"input"`
	Shard   int    `json:"shard"`
	Shards  int    `json:"shards"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	// Tapes are in the order of their names.
	Tapes []Tape `json:"tapes"`
	// Lacks are the shards of which there is no result, after a merge.
	Lacks []int `json:"lacks,omitempty"`
}

// Tape is what one tape came to.
type Tape struct {
	// Name is the tape's key in the store: CLUSTER/2026/11/27/NAME.
	Name   string `json:"name"`
	SHA256 string `json:"sha256,omitempty"`
	// Failures are empty where all is well. The first line of each says what is wrong.
	Failures []string        `json:"failures,omitempty"`
	Policies []policy.Result `json:"policies,omitempty"`
}

// result is the tape's in a report.
func (t *Tape) result() tapetest.Result {
	return tapetest.Result{Name: t.Name, Failures: t.Failures, Policies: t.Policies}
}

// count counts the tapes that pass, and those that don't.
func (r *Result) count() {
	r.Passed, r.Failed = 0, 0
	for i := range r.Tapes {
		if r.Tapes[i].result().Passed() {
			r.Passed++
		} else {
			r.Failed++
		}
	}
}

// Report is the result as nodesim test tells of files.
func (r *Result) Report() tapetest.Report {
	rep := tapetest.Report{Passed: r.Passed, Failed: r.Failed}
	for i := range r.Tapes {
		rep.Results = append(rep.Results, r.Tapes[i].result())
	}
	return rep
}

// JSON is the result on one line.
func (r *Result) JSON() ([]byte, error) {
	line, err := json.Marshal(r)
	return append(line, '\n'), err
}

// Whole says why a result isn't that of all tapes of a store: shards lack, or there was no tape at all.
func (r *Result) Whole() error { return tapes.Whole(r.Store, r.Lacks, r.Shards, len(r.Tapes)) }

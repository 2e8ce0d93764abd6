package hunt

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/timeline"
)

// ResultKind is the kind of a Result, by which it is found among other lines of a log.
const ResultKind = "HuntResult"

// A Result is what a search, or a part of it, came to.
type Result struct {
	Kind string `json:"kind"`
	// Scenario is the file's name, and Input a hash of all that the cases and their judgement depend on but Seed.
	Scenario string `json:"scenario"`
	Input    string `json:"input"`
	Seed     uint64 `json:"seed"`
	// Cases is the number of cases, of which a shard tries each Shards-th, from Shard on; 0: only time ends the search.
	Cases  uint64 `json:"cases"`
	Shard  int    `json:"shard"`
	Shards int    `json:"shards"`
	// Tried cases are those up to the failing one; where time ended the search, one before it may be missing. Simulated is the length of their tapes.
	Tried     uint64  `json:"tried"`
	Simulated Seconds `json:"simulated"`
	Found     *Found  `json:"found"`
	// Lacks are the shards of which there is no result, and Unfinished those that time has ended, after a merge.
	Lacks      []int    `json:"lacks,omitempty"`
	Unfinished []int    `json:"unfinished,omitempty"`
	Coverage   Coverage `json:"coverage"`
}

// Found is a case that fails.
type Found struct {
	Case    uint64  `json:"case"`
	Failure Failure `json:"failure"`
	// File is the case made small, as a scenario file; Small says what of it still fails, and Tries how many files were tried.
	File  string  `json:"file"`
	Small Failure `json:"small"`
	Size  string  `json:"size"`
	Tries int     `json:"tries"`
	// Unsteady says that the case didn't fail when it was tried again, and so couldn't be made small: a controller that is tested
	// depends on more than its cluster, such as the order of a map.
	Unsteady bool `json:"unsteady,omitempty"`
}

// Seconds is a duration as a tape has it: decimal seconds with an s.
type Seconds time.Duration

// MarshalJSON writes it.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(timeline.FormatAt(time.Duration(s)))
}

// UnmarshalJSON reads it.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return err
	}
	d, err := time.ParseDuration(word)
	if err == nil && d < 0 {
		err = fmt.Errorf("found %s, want 0s or more", word)
	}
	*s = Seconds(d)
	return err
}

// finished reports whether all cases up to a failing one, or to the last, were tried.
func (r *Result) finished() bool {
	return r.Found != nil || r.Cases > 0 && r.Tried == share(r.Cases, r.Shard, r.Shards)
}

// share is the number of cases of a shard.
func share(cases uint64, shard, shards int) uint64 {
	return (cases + uint64(shards) - 1 - uint64(shard)) / uint64(shards)
}

// JSON is the result on one line.
func (r *Result) JSON() ([]byte, error) {
	said := *r
	said.Coverage.Untried = r.Coverage.untried()
	line, err := json.Marshal(&said)
	return append(line, '\n'), err
}

// Text writes the result for people: what was found, and what was tried.
func (r *Result) Text(w io.Writer) error {
	fmt.Fprintln(w, r.Summary())
	if r.Found != nil {
		r.Found.Text(w)
	}
	for _, miss := range []struct {
		what   string
		shards []int
	}{{"no result of", r.Lacks}, {"ended by time, before their last case:", r.Unfinished}} {
		if len(miss.shards) > 0 {
			fmt.Fprintf(w, "%s %s of %d\n", miss.what, shards.Named(miss.shards), r.Shards)
		}
	}
	return r.Coverage.Text(w)
}

// Text writes for people what the case was made to.
func (f *Found) Text(w io.Writer) {
	if f.Unsteady {
		fmt.Fprintln(w, "  it didn't fail when it was tried again, so it isn't made small")
	} else {
		fmt.Fprintf(w, "  made small in %s: %s\n", phrase.Count(f.Tries, "run"), f.Size)
	}
	if f.Small != f.Failure {
		fmt.Fprintf(w, "  there: %s\n", phrase.Escaped(f.Small.String()))
	}
}

// Summary is the result in one line.
func (r *Result) Summary() string {
	tried := fmt.Sprintf("%s of %s, seed %d", phrase.Count(int(r.Tried), "case"), r.Scenario, r.Seed)
	if r.Found == nil {
		return fmt.Sprintf("nothing found in %s", tried)
	}
	return fmt.Sprintf("found in case %d, after %s: %s", r.Found.Case, tried, phrase.Escaped(r.Found.Failure.String()))
}

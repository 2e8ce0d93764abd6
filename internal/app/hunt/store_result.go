package hunt

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/hunt"
)

// StoreResultKind is the kind of a StoreResult, by which it is found among other lines of a log.
const StoreResultKind = "HuntStoreResult"

// StoreResult is what searches through a store's tapes, or through a shard of them, came to.
type StoreResult struct {
	Kind string `json:"kind"`
	// Program is the version that searched, Store how the store is called, and Input a hash of which tapes were asked for, and of the
	// policies, the roll and the timings.
	Program string `json:"program"`
	Store   string `json:"store"`
	Input   string `json:"input"`
	Seed    uint64 `json:"seed"`
	// Cases is the number of cases of each tape.
	Cases  uint64 `json:"cases"`
	Shard  int    `json:"shard"`
	Shards int    `json:"shards"`
	// Searched tapes had Tried cases together. Failed ones of them have a case that fails. LeftOut tapes weren't searched.
	Searched int    `json:"searched"`
	Tried    uint64 `json:"tried"`
	Failed   int    `json:"failed"`
	LeftOut  int    `json:"leftOut"`
	// Tapes are in the order of their names.
	Tapes []StoreTape `json:"tapes"`
	// Lacks are the shards of which there is no result, after a merge.
	Lacks []int `json:"lacks,omitempty"`
}

// StoreTape is what the search through one tape came to.
type StoreTape struct {
	// Name is the tape's key in the store: CLUSTER/2026/11/27/NAME.
	Name   string `json:"name"`
	SHA256 string `json:"sha256,omitempty"`
	// LeftOut says why the tape wasn't searched; "" where it was.
	LeftOut string `json:"leftOut,omitempty"`
	// Tried are the cases up to the failing one, or to the last.
	Tried uint64      `json:"tried"`
	Found *hunt.Found `json:"found"`
}

// count counts the tapes and the cases.
func (r *StoreResult) count() {
	r.Searched, r.Tried, r.Failed, r.LeftOut = 0, 0, 0, 0
	for i := range r.Tapes {
		t := &r.Tapes[i]
		if t.LeftOut != "" {
			r.LeftOut++
			continue
		}
		r.Searched++
		r.Tried += t.Tried
		if t.Found != nil {
			r.Failed++
		}
	}
}

// JSON is the result on one line.
func (r *StoreResult) JSON() ([]byte, error) {
	line, err := json.Marshal(r)
	return append(line, '\n'), err
}

// Text writes for people what was found, or why the tape was left out; nothing of a tape in which nothing was found.
func (t *StoreTape) Text(w io.Writer, seed uint64) {
	if t.LeftOut != "" {
		fmt.Fprintf(w, "left out: %s: %s\n", t.Name, t.LeftOut)
	}
	if t.Found != nil {
		one := hunt.Result{Scenario: t.Name, Seed: seed, Tried: t.Tried, Found: t.Found}
		fmt.Fprintln(w, one.Summary())
		t.Found.Text(w)
	}
}

// Summary is the result in one line.
func (r *StoreResult) Summary() string {
	return fmt.Sprintf("%s tried in %s, seed %d: %d failed, %d left out", phrase.Count(r.Searched, "tape"), phrase.Count(int(r.Tried), "case"), r.Seed, r.Failed, r.LeftOut)
}

// Whole says why a result isn't that of all tapes of a store: shards lack, there was no tape, or none that could be searched.
func (r *StoreResult) Whole() error {
	if err := tapes.Whole(r.Store, r.Lacks, r.Shards, len(r.Tapes)); err != nil {
		return err
	}
	if r.Searched == 0 && r.Shards == 1 {
		return fmt.Errorf("store %s: found no tape to search through, %d left out: want one that begins with nodes", r.Store, r.LeftOut)
	}
	return nil
}

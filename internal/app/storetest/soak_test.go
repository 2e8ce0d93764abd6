package storetest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/nodesim/nodesim/internal/app/storetest"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/recorder/store"
)

// tinyTape has a list without a node, and its end.
const tinyTape = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: tiny, start: "2026-11-27T12:00:00Z"}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}
--- {"at":"5s","type":"END","events":2}
`

// Of many tapes, a hundredth of which fail, each is tested by one of 16 shards and by no other, and what they say together is what one test
// says. There are 100 tapes, or 3,000 with NODESIM_SOAK.
func TestManyTapes(t *testing.T) {
	const of = 16
	number := 100
	if os.Getenv("NODESIM_SOAK") != "" {
		number = 3000
	}
	sum := sha256.Sum256([]byte(tinyTape))
	s := open(t, t.TempDir())
	for n := range number {
		is := store.Tape{
			Name: "tiny", Cluster: "c1", Group: "workers", Outcome: "complete", Part: 1, Events: 2, Bytes: int64(len(tinyTape)), SHA256: hex.EncodeToString(sum[:]),
		}
		if n%100 == 7 {
			is.Events++ // it isn't as it is described
		}
		put(t, s, is, []byte(tinyTape), n)
	}
	whole := run(t, storetest.Config{Store: s})
	if len(whole.Tapes) != number || whole.Failed != number/100 {
		t.Errorf("found %d tapes, %d of which fail: want %d and %d", len(whole.Tapes), whole.Failed, number, number/100)
	}
	by := map[string]int{}
	var all []*storetest.Result
	for index := range of {
		one := run(t, storetest.Config{Store: s, Shard: shards.Shard{Index: index, Of: of}})
		for _, is := range one.Tapes {
			if other, twice := by[is.Name]; twice {
				t.Errorf("%s was tested by the shards %d and %d", is.Name, other, index)
			}
			by[is.Name] = index
		}
		all = append(all, one)
	}
	m := merged(t, all...)
	if err := m.Whole(); err != nil || len(by) != number {
		t.Errorf("%d shards have tested %d tapes, want %d: %v", of, len(by), number, err)
	}
	if text(t, m) != text(t, whole) {
		t.Errorf("%d shards, merged, have %d tapes, %d of which fail: want what one test says, byte for byte", of, len(m.Tapes), m.Failed)
	}
}

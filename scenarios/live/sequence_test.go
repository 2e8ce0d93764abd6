package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The next state comes when the one before is on the server, or has had its
// time; objects don't wait for each other.
func TestSequence(t *testing.T) { synctest.Test(t, testSequence) }

func testSequence(t *testing.T) {
	var handed []string
	s := newSequence(func(key, state string) { handed = append(handed, key+state) }, func(posted, server string) bool { return posted == server })
	want := func(states ...string) {
		t.Helper()
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Equal(handed, states) {
			t.Fatalf("handed on %q, want %q", handed, states)
		}
	}
	s.post("a", "1")
	s.post("a", "2")
	s.post("b", "1")
	want("a1", "b1")
	s.seen("a", "0")
	want("a1", "b1")
	s.seen("a", "1")
	want("a1", "b1", "a2")
	s.post("a", "3")
	<-time.After(sequenceMost + 1)
	want("a1", "b1", "a2", "a3")
	s.seen("a", "3")
	s.post("a", "3")
	want("a1", "b1", "a2", "a3", "a3")
	s.post("a", "4")
	want("a1", "b1", "a2", "a3", "a3", "a4")
	s.post("a", "5")
	s.drop("a")
	s.post("a", "6")
	want("a1", "b1", "a2", "a3", "a3", "a4", "a6")
	s.close()
	s.post("a", "7")
	<-time.After(sequenceMost + 1)
	want("a1", "b1", "a2", "a3", "a3", "a4", "a6")
}

// What waits for a slow server is bounded: the oldest but the first is left out,
// the latest never.
func TestSequenceIsBounded(t *testing.T) { synctest.Test(t, testSequenceIsBounded) }

func testSequenceIsBounded(t *testing.T) {
	var handed []int
	s := newSequence(func(_ string, state int) { handed = append(handed, state) }, func(posted, server int) bool { return posted == server })
	for i := range 100 {
		s.post("a", i)
	}
	for range 100 {
		s.mu.Lock()
		last := handed[len(handed)-1]
		s.mu.Unlock()
		s.seen("a", last)
	}
	s.close()
	if len(handed) != sequenceLine || handed[0] != 0 || handed[len(handed)-1] != 99 {
		t.Errorf("handed on %v", handed)
	}
}

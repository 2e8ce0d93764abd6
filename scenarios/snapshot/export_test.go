package snapshot

import "testing"

// AtMostPods lowers the number of pods that a cluster may have, for a test: as many as there may be take a gigabyte.
func AtMostPods(t *testing.T, most int) {
	was := mostPodsRead
	mostPodsRead = most
	t.Cleanup(func() { mostPodsRead = was })
}

// AtMostBytes lowers the size that a cluster's file may have, for a test: one of 64 MiB takes long to make.
func AtMostBytes(t *testing.T, most int) {
	was := mostBytes
	mostBytes = most
	t.Cleanup(func() { mostBytes = was })
}

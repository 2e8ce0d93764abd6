//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/app/record"
	"golang.org/x/sys/unix"
)

// A tape has one writer: a second one is refused, and the tape stays as it is.
func TestSecondWriterIsRefused(t *testing.T) {
	const half = "apiVersion: nodesim.dev/v1\nkind: Timeline\nmetadata: {name: x}\nsource: {kind: recording}\n---\n--- {\"at\":"
	name := filepath.Join(t.TempDir(), "roll.yaml")
	if err := os.WriteFile(name, []byte(half), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	if err := unix.Flock(int(first.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	_, err = record.Run(t.Context(), record.Options{File: name, Append: true})
	want := "append to timeline: " + name + ": another recording is writing it: want it alone; end that one first, or choose another file"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if still, err := os.ReadFile(name); err != nil || string(still) != half {
		t.Errorf("the tape is now %q, %v", still, err)
	}
}

// A device is no tape: reading /dev/zero to its end takes forever.
func TestAppendWantsARegularFile(t *testing.T) {
	for name, kind := range map[string]string{"/dev/zero": "device", t.TempDir(): "folder"} {
		_, err := record.Run(t.Context(), record.Options{File: name, Append: true})
		if err == nil || !strings.HasSuffix(err.Error(), name+": found a "+kind+", want a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

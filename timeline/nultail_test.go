package timeline

import (
	"bytes"
	"os"
	"testing"
)

// A machine that lost power may leave NULs after the last frame, few or many.
// They were torn off, as they are from plain text; NULs within a file are not.
func TestNULsBehindFrames(t *testing.T) {
	want := sampleEvents(11, 40)
	for _, ending := range []string{".gz", ".zst"} {
		b, ends := framesOf(t, ending, want)
		whole := b[:ends[len(want)-1]] // without END
		for _, n := range []int{1, 3, 4, 9, 10, 11, 4096, 300_000} {
			nuls := bytes.Repeat([]byte{0}, n)
			got, r, err := drain(append(bytes.Clone(whole), nuls...))
			if err != nil || r.Torn() == "" || r.Complete() {
				t.Fatalf("%s and %d NULs: torn %q, error %v", ending, n, r.Torn(), err)
			}
			wantSame(t, got, want)

			name := tempFile(t, "tape.yaml"+ending, append(bytes.Clone(whole), nuls...))
			w, resume, err := Append(name)
			if err != nil || resume.Dropped == "" {
				t.Fatalf("append to %s and %d NULs: %v", ending, n, err)
			}
			writeAll(t, w, []Event{{At: resume.At, Type: End}})
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, r, err = drain(after)
			if err != nil || !r.Complete() {
				t.Fatalf("appended to %s and %d NULs: torn %q, error %v", ending, n, r.Torn(), err)
			}
			wantSame(t, got[:len(got)-1], want)

			if _, _, err := drain(append(append(bytes.Clone(whole), nuls...), 'x')); n >= 10 && err == nil {
				t.Errorf("%s: %d NULs and an x were taken for a torn end", ending, n)
			}
		}
	}
}

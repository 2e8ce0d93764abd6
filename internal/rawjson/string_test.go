package rawjson

import (
	"bytes"
	"strings"
	"testing"
)

// TestEveryByteAtEveryPlace checks the string that is copied in runs against the
// one that is written byte by byte, each in pieces that are too short for a run.
func TestEveryByteAtEveryPlace(t *testing.T) {
	const around = "abcdefghijklmnopqrstu"
	for b := range 0x80 {
		for at := range len(around) {
			s := around[:at] + string(rune(b)) + around[at+1:]
			want := []byte{'"'}
			for i := range len(s) {
				piece := AppendString(nil, s[i:i+1])
				want = append(want, piece[1:len(piece)-1]...)
			}
			want = append(want, '"')
			if got := AppendString(nil, s); !bytes.Equal(got, want) {
				t.Fatalf("%q: %s, want %s", s, got, want)
			}
		}
	}
}

func TestPlainOf(t *testing.T) {
	for first := range 0x100 {
		for second := range 0x100 {
			for at := range 7 {
				raw := []byte("ab!~ z0}")
				raw[at], raw[at+1] = byte(first), byte(second)
				want := 0
				for want < len(raw) && plain[raw[want]] {
					want++
				}
				if got := plainOf(eight(string(raw))); got != want {
					t.Fatalf("%q: %d plain bytes, want %d", raw, got, want)
				}
			}
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("Successfully assigned shop/web to ip-10-0-0-1 ", 2)
	var dst []byte
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		dst = AppendString(dst[:0], s)
	}
}

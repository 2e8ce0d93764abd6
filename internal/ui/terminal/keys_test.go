package terminal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/internal/ui/player"
)

func TestKeysThatAreTyped(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   []player.Key
	}{
		{[]string{" q"}, []player.Key{player.KeyPause, player.KeyQuit}},
		{[]string{"+-.nmM?"}, []player.Key{player.KeyFaster, player.KeySlower, player.KeyEvent, player.KeyTransition, player.KeyMarker, player.KeyLastMarker, player.KeyHelp}},
		{[]string{"\x1b[C\x1b[D\x1b[A\x1b[B"}, []player.Key{player.KeyForward, player.KeyBack, player.KeyFarForward, player.KeyFarBack}},
		{[]string{"\x1bOC\x1b[1;2C\x1b[1;2D"}, []player.Key{player.KeyForward, player.KeyFarForward, player.KeyFarBack}}, // application mode, shift
		{[]string{"\x1b", "[", "C"}, []player.Key{player.KeyForward}},
		{[]string{"\x1b[1", ";2", "D."}, []player.Key{player.KeyFarBack, player.KeyEvent}},
		{[]string{"\x1b"}, nil},
		{[]string{"\x1b", "pause", "[", "n"}, []player.Key{player.KeyTransition}}, // a lone ESC, and later keys
		{[]string{"\x1bq"}, []player.Key{player.KeyQuit}},
		{[]string{"\x1b[15~\x1b[3~\x1b[200~"}, nil},                                  // F5, delete, a paste: no letters of theirs are keys
		{[]string{"\x1b[999999999999999999999999q."}, []player.Key{player.KeyEvent}}, // longer than any key
		{[]string{"\x1b[M"}, nil},                                                    // a mouse
		{[]string{"é\xff\x00zZ\r\n"}, nil},
	} {
		var got []player.Key
		var typed typing
		for _, p := range c.pieces {
			if p == "pause" {
				typed.pause()
				continue
			}
			got = append(got, typed.take([]byte(p))...)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.pieces, diff)
		}
	}
}

// Whatever comes, in whatever pieces: the keys are the same.
func FuzzTyping(f *testing.F) {
	f.Add([]byte("\x1b[1;2C n\x1bOD\x1b[15~q"), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		var whole, pieces typing
		want := whole.take(text)
		cut = max(min(cut, len(text)), 0)
		got := append(pieces.take(text[:cut]), pieces.take(text[cut:])...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cut at %d (-whole +pieces):\n%s", cut, diff)
		}
	})
}

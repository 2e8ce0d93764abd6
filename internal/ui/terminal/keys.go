package terminal

import "github.com/nodesim/nodesim/internal/ui/player"

// plainKeys are those that are one character.
var plainKeys = map[byte]player.Key{
	'q': player.KeyQuit, 'Q': player.KeyQuit, 3: player.KeyQuit, // ctrl-c, where it is no signal
	' ': player.KeyPause,
	'+': player.KeyFaster, '=': player.KeyFaster,
	'-': player.KeySlower, '_': player.KeySlower,
	'.': player.KeyEvent, 'n': player.KeyTransition,
	'm': player.KeyMarker, 'M': player.KeyLastMarker,
	'?': player.KeyHelp, 'h': player.KeyHelp,
}

// escapeKeys are those that terminals spell as a sequence: what is between
// its introducer and its end included (ECMA-48, 5.4; xterm, ctlseqs, "PC-Style
// Function Keys", where a parameter of 2 is shift).
var escapeKeys = map[string]player.Key{
	"C": player.KeyForward, "D": player.KeyBack, "A": player.KeyFarForward, "B": player.KeyFarBack,
	"1;2C": player.KeyFarForward, "1;2D": player.KeyFarBack,
}

// typing finds the keys in what a terminal sends. A sequence may come in pieces;
// one that is no key here is dropped whole, so that its letters aren't taken for
// keys.
type typing struct {
	state typingState
	seq   []byte
}

type typingState int

const (
	typingPlain    typingState = iota
	typingEscape               // after ESC
	typingSequence             // after its introducer
)

// longestSequence is longer than any key's.
const longestSequence = 16

// take returns the keys that end in a piece.
func (t *typing) take(piece []byte) (keys []player.Key) {
	for _, c := range piece {
		switch {
		case c == 0x1b:
			t.state, t.seq = typingEscape, t.seq[:0]
		case t.state == typingEscape && (c == '[' || c == 'O'):
			t.state = typingSequence
		case t.state == typingSequence && c >= 0x20 && c < 0x40:
			if len(t.seq) < longestSequence {
				t.seq = append(t.seq, c)
			}
		case t.state == typingSequence:
			t.state = typingPlain
			if k, known := escapeKeys[string(append(t.seq, c))]; known {
				keys = append(keys, k)
			}
		default: // an ESC before it was a key of its own, which does nothing
			t.state = typingPlain
			if k, known := plainKeys[c]; known {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// pause says that nothing has come for a while: an ESC was the key.
func (t *typing) pause() { t.state = typingPlain }

package terminal

import "github.com/nodesim/nodesim/internal/ui"

// plainKeys are those that are one character.
var plainKeys = map[byte]ui.Key{
	'q': ui.KeyQuit, 'Q': ui.KeyQuit, 3: ui.KeyQuit, // ctrl-c, where it is no signal
	' ': ui.KeyPause,
	'+': ui.KeyFaster, '=': ui.KeyFaster,
	'-': ui.KeySlower, '_': ui.KeySlower,
	'.': ui.KeyEvent, 'n': ui.KeyTransition,
	'm': ui.KeyMarker, 'M': ui.KeyLastMarker,
	'?': ui.KeyHelp, 'h': ui.KeyHelp,
}

// escapeKeys are those that terminals spell as a sequence: what is between
// its introducer and its end included (ECMA-48, 5.4; xterm, ctlseqs, "PC-Style
// Function Keys", where a parameter of 2 is shift).
var escapeKeys = map[string]ui.Key{
	"C": ui.KeyForward, "D": ui.KeyBack, "A": ui.KeyFarForward, "B": ui.KeyFarBack,
	"1;2C": ui.KeyFarForward, "1;2D": ui.KeyFarBack,
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
func (t *typing) take(piece []byte) (keys []ui.Key) {
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

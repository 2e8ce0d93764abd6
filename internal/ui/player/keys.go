package player

// Key is a command of the user's to a tape.
type Key int

// The keys.
const (
	KeyQuit       Key = iota
	KeyPause          // or to continue
	KeyForward        // ten seconds of tape
	KeyBack           // ten seconds
	KeyFarForward     // a minute
	KeyFarBack        // a minute
	KeyFaster         // twice as fast
	KeySlower         // half as fast
	KeyEvent          // the next event, and stay there
	KeyTransition     // the next transition of a node, and stay there
	KeyMarker         // the next marker
	KeyLastMarker     // the one before
	KeyHelp           // show what the keys do, or hide it
)

// tapeKeys are the keys that move the tape, whatever is shown, in Bubble Tea's words.
var tapeKeys = map[string]Key{
	"space": KeyPause,
	"right": KeyForward, "left": KeyBack,
	"shift+right": KeyFarForward, "shift+left": KeyFarBack,
	"+": KeyFaster, "=": KeyFaster,
	"-": KeySlower, "_": KeySlower,
	".": KeyEvent, "n": KeyTransition,
	"m": KeyMarker, "M": KeyLastMarker,
}

// help are the keys in full, for those who have pressed the one that asks.
var help = []string{
	"space pause, left right 10 s, up down 1 min, + - speed, q quit",
	". next event, n next node transition, m M next or previous marker, ? hide",
	"j k select a node, pgup pgdn home end far, enter its details, esc back",
	"/ search, & filter, : a time (12m30s +1m end), f F next finding, r report",
}

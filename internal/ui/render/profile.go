package render

// A Profile is what colours a terminal shows; each shows those of the profiles before it too.
type Profile uint8

// The profiles.
const (
	Unknown   Profile = iota // as NoTTY
	NoTTY                    // no escape codes
	ASCII                    // bold and faint text, no colour
	ANSI                     // 16 colours
	ANSI256                  // 256 colours
	TrueColor                // 16 million colours
)

// String is the profile's name.
func (p Profile) String() string {
	if p > TrueColor {
		return "Unknown"
	}
	return [...]string{"Unknown", "NoTTY", "ASCII", "ANSI", "ANSI256", "TrueColor"}[p]
}

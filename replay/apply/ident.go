package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// What everything that a replay writes carries.
const (
	// Label is the label by which a replay knows what is its own. Its value is
	// [LabelValue] of the tape's name.
	Label = "nodesim.dev/replay"
	// AnnotationUID holds the UID that the object has on the tape.
	AnnotationUID = "nodesim.dev/replay-uid"
	// AnnotationOriginal holds, as a JSON object, what the object has on the
	// tape and can't have here: owners, finalizers, classes.
	AnnotationOriginal = "nodesim.dev/replay-original"
)

// holder is the finalizer that keeps an object which the tape shows as being
// deleted, until the tape says that it is gone.
const holder = "nodesim.dev/replay"

// LabelValue makes a label value of a tape's name. A name that has to be changed
// for that ends in a hash, so that two names don't become one.
func LabelValue(name string) string {
	const most = 63
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
	clean = strings.Trim(clean, "-_.")
	if clean == name && len(name) <= most && name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := hex.EncodeToString(sum[:4])
	clean = strings.TrimRight(clean[:min(len(clean), most-len(tail)-1)], "-_.")
	if clean == "" {
		return "tape-" + tail
	}
	return clean + "-" + tail
}

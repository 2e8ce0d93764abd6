package golden

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const extension = ".golden"

// longestElement leaves room in the 255 bytes of most file systems for the
// extension and for the ending of the temporary file.
const longestElement = 200

// checkName refuses names that leave testdata and names that can't be checked
// out on every system that Go runs on.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("found nothing: want the name of a file under testdata, such as t.Name()")
	case !utf8.ValidString(name):
		return errors.New("found invalid UTF-8: want text")
	case strings.HasSuffix(name, extension):
		return fmt.Errorf("found the ending %s: leave it out, it is added", extension)
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case element == "":
			return errors.New("found an empty part: want no slash at the ends and no two in a row")
		case element == "." || element == "..":
			return fmt.Errorf("found %q: want a name below testdata", element)
		case len(element) > longestElement:
			return fmt.Errorf("found a part of %d bytes: want at most %d", len(element), longestElement)
		case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " ") || strings.HasPrefix(element, " "):
			return fmt.Errorf("found %q: want no blank at the ends of a part and no dot at its end, which Windows drops", element)
		}
	}
	for _, r := range name {
		if strings.ContainsRune(`\:*?"<>|`, r) || !unicode.IsPrint(r) {
			return fmt.Errorf("found %q: want printable characters without \\ : * ? \" < > |, which not every system can store", r)
		}
	}
	return nil
}

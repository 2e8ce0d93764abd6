package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/nodesim/nodesim/noderoll"
)

// JSON writes the plan as one line. What noderoll.OneLine would replace in a string is escaped: the line is safe to print, and
// nothing is lost.
func (p *Plan) JSON(w io.Writer) error { return writeJSON(w, p) }

// JSON writes the comparison as Plan.JSON does.
func (c *Comparison) JSON(w io.Writer) error { return writeJSON(w, c) }

func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	_, err := w.Write(printable(b.Bytes()))
	return err
}

// printable escapes in JSON what could act on a terminal. All that isn't ASCII there is in a string.
func printable(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if one := string(text[:n]); r >= utf8.RuneSelf && noderoll.OneLine(one) != one {
			quoted := noderoll.AppendQuoted(nil, one)
			out = append(out, quoted[1:len(quoted)-1]...)
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

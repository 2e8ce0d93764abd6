package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/nodesim/nodesim/noderoll"
)

// printable is a value as one line of JSON in which everything that
// noderoll.OneLine would replace is escaped: safe to print, and nothing lost.
func printable(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Appendf(nil, "{\"error\":%q}\n", err) // of strings and numbers: can't happen
	}
	return escape(b.Bytes())
}

func escape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf && r >= ' ' && r != 0x7f, r == '\n', r == utf8.RuneError:
			out = append(out, text[:n]...)
		case noderoll.OneLine("a"+string(r)+"b") == "a"+string(r)+"b":
			out = append(out, text[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

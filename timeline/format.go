package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Style is one of the ways to write the same tape. A Reader takes all of them,
// mixed as well.
type Style string

const (
	// StyleLines is the tape's own form, as a [Writer] writes it: a line an
	// event. It normalises: where patches and where whole objects stand is as
	// the Writer has it, and END counts the lines.
	StyleLines Style = "lines"
	// StyleBlock is for editing by hand: a block of YAML an event. Patches and
	// whole objects stay as they stand. An event that block YAML can't hold (a
	// number that yaml.v3 takes for text, a block of more than 1 MiB) stays on
	// a line.
	StyleBlock Style = "block"
	// StyleJSON is for tools that read JSON lines: the header on the first
	// line, then an event a line. Patches and whole objects stay as they stand.
	StyleJSON Style = "jsonl"
)

// Format writes the tape in rd to w in another style. What the tape says stays
// the same: members and types that this version doesn't know, versions, times,
// order. Comments are lost, in the header as well as between events, and so
// are the order of an event's members and how strings are spelt.
//
// StyleBlock and StyleJSON look at each event alone, so that a tape whose
// events contradict each other can be brought into a form in which one can
// mend it. StyleLines refuses such a tape, as every Reader does.
//
// Where the tape ends torn, torn says what [Reader.Torn] does; what is written
// then is whole but for that. After an error it is not, and of no use.
func Format(w io.Writer, rd io.Reader, style Style, opts ...ReadOption) (torn string, err error) {
	write := writeAsTheyStand
	switch style {
	case StyleLines:
		write = rewrite
	case StyleBlock, StyleJSON:
		opts = append(opts[:len(opts):len(opts)], Lines())
	default:
		return "", fmt.Errorf("style %q: want %s, %s or %s", style, StyleLines, StyleBlock, StyleJSON)
	}
	r, err := NewReader(rd, opts...)
	if err != nil {
		return "", err
	}
	if err := write(w, r, style); err != nil {
		_ = r.Close()
		return "", err
	}
	return r.Torn(), r.Close()
}

func rewrite(w io.Writer, r *Reader, _ Style) error {
	out, err := NewWriter(w, *r.Header())
	if err != nil {
		return err
	}
	if err := out.WriteAll(r.All()); err != nil {
		return err
	}
	return out.Close()
}

func writeAsTheyStand(w io.Writer, r *Reader, style Style) error {
	header, event := r.Header().MarshalText, blockOf
	if style == StyleJSON {
		header, event = r.Header().jsonLine, jsonOf
	}
	text, err := header()
	if err != nil {
		return r.headed(err)
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	var line []byte
	n := 0
	for ev, err := range r.All() {
		if err != nil {
			return err
		}
		n++
		line = appendLine(line[:0], &ev, ev.UID, ev.Object, ev.Patch)
		if _, err := w.Write(event(line)); err != nil {
			return err
		}
	}
	if n == 0 && style == StyleBlock {
		_, err = w.Write([]byte("---\n")) // without it the header doesn't count
	}
	return err
}

func jsonOf(line []byte) []byte { return line[len(lineStart):] }

// blockOf returns the block document for a line, or the line where there is
// none that says the same.
func blockOf(line []byte) []byte {
	raw := bytes.TrimSuffix(line[len(lineStart):], []byte("\n"))
	block, err := appendBlock([]byte("---\n"), raw)
	if err != nil || len(block) > MaxBlock {
		return line
	}
	n, fail := parseYAML(block)
	if fail != nil {
		return line
	}
	back, fail := appendYAML(nil, n)
	if fail != nil || !bytes.Equal(back, raw) {
		return line
	}
	return block
}

// headed is an error of the header, by the tape's name.
func (r *Reader) headed(err error) error {
	if fail := (*Error)(nil); errors.As(err, &fail) {
		fail.Name = r.name
	}
	return err
}

package timeline

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// documents cuts the text of a tape into YAML documents. Most are one line,
// "--- {…}", and are handed out as they stand; a document over several lines
// is collected first.
type documents struct {
	r    *bufio.Reader
	line int // of the document that next returned last
	read int // lines read so far

	begin  int64 // offset of that document
	start  int64 // offset of the line that nextLine returned last
	offset int64 // offset after it

	long    []byte // a line that is longer than r's buffer
	pending []byte // a line that was read ahead
	held    bool

	torn     string // what was dropped at the end, once nextLine has returned io.EOF
	tornMark bool   // and it began with the mark of a document
}

func newDocuments(r io.Reader) *documents {
	return &documents{r: bufio.NewReaderSize(r, readAtOnce)}
}

var (
	errTooLong  = fault("at most 4 MiB", "a line longer than that")
	errTooLarge = fault("at most 1 MiB", "a block of YAML larger than that")
)

// nextLine returns a line without its end, valid until the next call. A last
// line without a newline, and a tail of NULs, end the tape: they were torn
// off when the writer died, and d.torn says so.
func (d *documents) nextLine() ([]byte, error) {
	if d.held {
		d.held = false
		return d.pending, nil
	}
	line, err := d.r.ReadSlice('\n')
	d.read++
	d.start = d.offset
	if errors.Is(err, bufio.ErrBufferFull) {
		if bytes.Trim(line, "\x00") == nil {
			return nil, d.nuls()
		}
		d.long = append(d.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(d.long) > MaxLine+len(lineStart) {
				if len(bytes.TrimRight(d.long, "\x00")) <= MaxLine {
					return nil, d.nuls() // half a line, and then only NULs
				}
				return nil, errTooLong
			}
			line, err = d.r.ReadSlice('\n')
			d.long = append(d.long, line...)
		}
		line = d.long
	}
	d.offset += int64(len(line))
	switch {
	case err == nil:
		if len(line) > MaxLine+len(lineStart)+2 {
			return nil, errTooLong
		}
		return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if len(line) > 0 {
			d.torn, d.tornMark = "a last line without its end", starts(line)
			if bytes.Trim(line, "\x00") == nil {
				d.torn = "a tail of NUL bytes"
			}
		} else if errors.Is(err, io.ErrUnexpectedEOF) {
			d.torn = "a last frame without its end"
		}
		return nil, io.EOF
	}
	return nil, err
}

// nuls reads on after more NULs than fit into the buffer, as a file system
// leaves them when the machine lost power, however many they are.
func (d *documents) nuls() error {
	for {
		line, err := d.r.ReadSlice('\n')
		switch {
		case bytes.Trim(line, "\x00") != nil:
			return fault("text", "NUL bytes")
		case errors.Is(err, io.EOF):
			d.torn = "a tail of NUL bytes"
			return io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// hold makes the next call of nextLine return line once more.
func (d *documents) hold(line []byte) {
	d.pending, d.held = append(d.pending[:0], line...), true
}

func starts(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || line[3] == ' ' || line[3] == '\t')
}

// blank reports whether a line between documents says nothing.
func blank(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) == 0 || line[0] == '#' || string(line) == "..."
}

// next returns the next document that isn't empty: as JSON where it is one
// line of JSON, else as YAML text. The bytes are valid until the next call.
func (d *documents) next() (text []byte, isYAML bool, err error) {
	for {
		line, err := d.nextLine()
		if err != nil {
			return nil, false, err
		}
		if blank(line) {
			continue
		}
		d.line, d.begin = d.read, d.start
		if line[0] == '{' { // plain JSON lines
			return line, false, nil
		}
		if !starts(line) {
			return nil, false, fault(`"---" before each event`, "%.60q", line)
		}
		if body := bytes.Trim(line[3:], " \t"); len(body) > 1 && body[0] == '{' && body[len(body)-1] == '}' {
			return body, false, nil
		}
		doc, err := d.collect(append([]byte(nil), line...))
		if err != nil {
			return nil, false, err
		}
		if len(bytes.TrimSpace(doc)) > len("---") {
			return doc, true, nil
		}
	}
}

// collect adds the lines up to the next document to doc.
func (d *documents) collect(doc []byte) ([]byte, error) {
	for {
		if len(doc) > MaxBlock {
			return nil, errTooLarge
		}
		line, err := d.nextLine()
		if errors.Is(err, io.EOF) && d.torn == "" {
			return doc, nil
		}
		if err != nil {
			return nil, err
		}
		if starts(line) || len(line) > 0 && line[0] == '{' {
			d.hold(line)
			return doc, nil
		}
		doc = append(append(doc, '\n'), line...)
	}
}

// end returns the offset after the document that next returned last.
func (d *documents) end() int64 {
	if d.held || d.torn != "" {
		return d.start
	}
	return d.offset
}

// header returns the first document, which has to be followed by the mark of
// a second one, or be one line of JSON: what ends earlier may be half of one.
func (d *documents) header() ([]byte, error) {
	var doc []byte
	content := false // whether doc holds more than comments
	for {
		line, err := d.nextLine()
		if errors.Is(err, io.EOF) && d.tornMark && len(doc) > 0 {
			d.line = 1
			return doc, nil
		}
		if errors.Is(err, io.EOF) {
			if len(doc) == 0 && d.torn == "" {
				return nil, fault("a header", "an empty file")
			}
			return nil, &Error{Found: ErrTornHeader.Error(), Wanted: `a header and "---" after it`, cause: ErrTornHeader}
		}
		if err != nil {
			return nil, err
		}
		if d.read == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
			if len(line) > 0 && line[0] == '{' && len(line) <= MaxBlock {
				d.line = 1
				return append(doc, line...), nil
			}
		}
		if starts(line) && content {
			d.hold(line)
			d.line = 1
			return doc, nil
		}
		if starts(line) {
			line = line[3:]
		}
		content = content || !blank(line)
		if len(doc)+len(line) > MaxBlock {
			return nil, errTooLarge
		}
		doc = append(append(doc, line...), '\n')
	}
}

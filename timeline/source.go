package timeline

// Source is a tape that can be read from its beginning as often as needed. A
// file is one ([File]), and so is a scenario (scenarios.Source); the taker of a
// Source can't tell which it was given.
type Source interface {
	// Open begins to read the tape again. The caller closes the Stream.
	Open() (Stream, error)
}

// Stream reads a tape once; a [*Reader] is one. Next ends with io.EOF and hands
// out whole objects.
type Stream interface {
	Header() *Header
	Next() (Event, error)
	Close() error
}

var _ Stream = (*Reader)(nil)

// File is the tape in a file, plain or compressed. It is streamed: its length
// doesn't matter to memory or to the time until the first event.
func File(name string) Source { return tapeFile(name) }

type tapeFile string

func (f tapeFile) Open() (Stream, error) {
	r, err := Open(string(f))
	if err != nil {
		return nil, err // not a *Reader that is nil
	}
	return r, nil
}

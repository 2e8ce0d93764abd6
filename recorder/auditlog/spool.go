package auditlog

import (
	"bufio"
	"os"
)

// spool keeps what is too much for memory in a file, in the order in which it came.
type spool struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

// place is where something is in a spool.
type place struct {
	off int64
	n   int
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "nodesim-audit-*")
	if err != nil {
		return nil, err
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (s *spool) put(b []byte) (place, error) {
	at := place{s.size, len(b)}
	n, err := s.out.Write(b)
	s.size += int64(n)
	return at, err
}

// get is for what was put before done.
func (s *spool) get(p place) ([]byte, error) {
	b := make([]byte, p.n)
	if p.n == 0 {
		return b, nil
	}
	_, err := s.file.ReadAt(b, p.off)
	return b, err
}

func (s *spool) done() error { return s.out.Flush() }

func (s *spool) close() {
	_ = s.file.Close() // it is thrown away
	_ = os.Remove(s.file.Name())
}

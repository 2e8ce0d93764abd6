package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/coverage"
	"strconv"
)

// measure is one reading of one tape. The counts of its blocks are in the
// directory Counts.
type measure struct {
	Shape, Reader string
	Size          int
	Counts        string
	Allocated     uint64 // bytes
	Objects       int    // members of whole objects that the reader has to hand on besides the lines
	Refused       string // why the reader refuses the tape
}

// main reads every shape with every reader, and sends every body, at the sizes that the arguments
// after the first name, and prints a measure of each as a line of JSON. The
// first argument is the directory of what is counted.
func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(dir string, sizes []string) error {
	out := json.NewEncoder(os.Stdout)
	read := func(s shape, r reader, size string, n int, tape []byte) error {
		m := measure{Shape: s.name, Reader: r.name, Size: n, Counts: filepath.Join(dir, s.name+"-"+r.name+"-"+size)}
		if s.objects != nil && r.whole {
			m.Objects = s.objects(n)
		}
		if err := m.take(r, tape); err != nil {
			return fmt.Errorf("%s of %s at %d: %w", r.name, s.name, n, err)
		}
		return out.Encode(m)
	}
	for _, size := range sizes {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		for _, s := range shapes {
			t := newTape()
			s.make(t, n)
			for _, r := range readers {
				if err := read(s, r, size, n, []byte(t.b.String())); err != nil {
					return err
				}
			}
		}
		for _, b := range bodies {
			r, err := b.reader(n)
			if err == nil {
				err = read(shape{name: b.name}, r, size, n, nil)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// take reads a tape and fills in what it took.
func (m *measure) take(r reader, tape []byte) (err error) {
	if r.prepare != nil {
		if tape, err = r.prepare(tape); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(m.Counts, 0o755); err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := r.read(tape); err != nil {
		m.Refused = err.Error()
	}
	runtime.ReadMemStats(&after)
	m.Allocated = after.TotalAlloc - before.TotalAlloc
	if err := coverage.WriteCountersDir(m.Counts); err != nil {
		return err
	}
	return coverage.WriteMetaDir(m.Counts)
}

package ui

import (
	"bufio"
	"io"

	"github.com/nodesim/nodesim/noderoll"
)

// FeedWriter is a Sink that writes the feed, one line an entry.
type FeedWriter struct {
	// JSON chooses the form for programs.
	JSON bool
	// Verbose shows entries of every kind.
	Verbose bool
	// Live flushes after every event; otherwise Flush must end the work.
	Live bool

	out  *bufio.Writer
	line []byte
}

// NewFeedWriter returns a FeedWriter of the default feed as text.
func NewFeedWriter(w io.Writer) *FeedWriter { return &FeedWriter{out: bufio.NewWriterSize(w, 16<<10)} }

// Entries implements Sink.
func (w *FeedWriter) Entries(entries []noderoll.Entry) error {
	for _, e := range entries {
		if !w.Verbose && !e.Kind.Default() {
			continue
		}
		if w.JSON {
			w.line = e.AppendJSON(w.line[:0])
		} else {
			w.line = noderoll.TextFormat{}.Append(w.line[:0], e)
		}
		w.line = append(w.line, '\n')
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	if w.Live {
		return w.out.Flush()
	}
	return nil
}

// Moment implements Sink.
func (w *FeedWriter) Moment(*View) error { return nil }

// Flush writes what is held back.
func (w *FeedWriter) Flush() error { return w.out.Flush() }

package serve

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// Writes records what clients write: a line in words to Say, and where there is a
// log, a line of JSON to that.
type Writes struct {
	Say func(string)

	file   *os.File // nil for none
	record func(apiserver.Write)
	failed func() error
}

// NewWrites records to the end of a file, which is made where it isn't there; ""
// for no file. Close it.
func NewWrites(say func(string), file string) (*Writes, error) {
	w := &Writes{Say: say}
	log := io.Discard
	if file != "" {
		var err error
		if w.file, err = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
			return nil, err
		}
		log = w.file
	}
	w.record, w.failed = apiserver.WriteLines(log)
	return w, nil
}

// Record takes a write; see [apiserver.RecordWrites].
func (w *Writes) Record(e apiserver.Write) {
	w.record(e)
	w.Say(words(e))
}

// Close ends the log. The error is that of the first line that couldn't be
// written.
func (w *Writes) Close() error {
	if w.file == nil {
		return nil
	}
	return errors.Join(w.failed(), w.file.Close())
}

// words is a write for people:
//
//	T+1m32.400s  write patch nodes ip-10-0-1-10 by kubectl-cordon
func words(e apiserver.Write) string {
	text := noderoll.AppendStamp(nil, e.At)
	text = append(text, "  write "+e.Verb...)
	if e.DryRun {
		text = append(text, " (dry run)"...)
	}
	text = append(text, " "+e.Resource.GroupResource().String()...)
	if e.Subresource != "" {
		text = append(text, "/"+e.Subresource...)
	}
	if e.Name != "" {
		text = append(text, ' ')
		if e.Namespace != "" {
			text = append(text, e.Namespace+"/"...)
		}
		text = append(text, e.Name...)
	}
	if e.Manager != "" {
		text = append(text, " by "+e.Manager...)
	}
	if e.Code >= http.StatusBadRequest {
		text = fmt.Appendf(text, ": refused with %d %s", e.Code, e.Reason)
	}
	return string(text)
}

package formats

import (
	"bufio"
	"fmt"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// writer writes the lines of a dump. An error of its file shows when it is flushed.
type writer struct {
	out  *bufio.Writer
	dump *Dump
	// versions is the last one that was counted, for formats that keep none.
	versions uint64
}

// leave notes what isn't in the dump.
func (w *writer) leave(format string, args ...any) {
	w.dump.LeftOut = append(w.dump.LeftOut, fmt.Sprintf(format, args...))
}

// event writes a watch event with the time of its arrival. The resource may be "", then it is
// found by the object's kind.
func (w *writer) event(at time.Time, resource, typ string, object []byte) {
	_, _ = fmt.Fprintf(w.out, `{"t":%q,"resource":%q,"event":{"type":%q,"object":%s}}`+"\n",
		at.UTC().Format(time.RFC3339Nano), resource, typ, object)
}

// listed writes that a list of a kind ends, taken at a version.
func (w *writer) listed(at time.Time, resource, kind, apiVersion, version string) {
	w.event(at, resource, "BOOKMARK", fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":%q,"annotations":{"k8s.io/initial-events-end":"true"}}}`, kind, apiVersion, version))
}

// counted gives an object a version, where its format keeps none.
func (w *writer) counted(object []byte) []byte {
	w.versions++
	return rawjson.Apply(nil, object, []byte(`{"metadata":{"resourceVersion":"`+strconv.FormatUint(w.versions, 10)+`"}}`))
}

// compact is a JSON object in the form in which it can be looked into.
func compact(raw []byte) ([]byte, error) {
	out, err := rawjson.Compact(nil, raw)
	if err != nil {
		return nil, err
	}
	if !rawjson.IsObject(out) {
		return nil, fmt.Errorf("found %.40q, want an object", out)
	}
	return out, nil
}

// nameOf is namespace/name of an object.
func nameOf(object []byte) string {
	return rawjson.Text(object, "metadata", "namespace") + "/" + rawjson.Text(object, "metadata", "name")
}

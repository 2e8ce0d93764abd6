// This file stands in until the real package is merged: whoever merges it deletes this file and adapts the callers in replay/apiserver.

package media

import (
	"encoding/json"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
	"io"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"net/http"
	"time"
)

type Form struct{ s string }
type What int

const (
	Single What = iota
	Collection
	Stream
)

func Negotiate(*http.Request, timeline.Resource, What) (Form, error) { return Form{}, nil }
func ForStatus(string) Form                                          { return Form{} }
func (Form) ContentType() string                                     { return "application/json" }
func Status(f Form, s *metav1.Status) []byte                         { b, _ := json.Marshal(s); return b }

type Printer interface {
	Columns() []metav1.TableColumnDefinition
}
type Options struct {
	Printer func() Printer
	Now     func() time.Time
}
type Maker struct{}

func NewMaker(timeline.Resource, Options) *Maker               { return &Maker{} }
func (*Maker) Object(f Form, o *replay.Object) ([]byte, error) { return o.Raw(), nil }
func (*Maker) List(f Form, l *replay.List, w io.Writer) error {
	io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"`+l.ResourceVersion+`"},"items":[`)
	for i, o := range l.Items {
		if i > 0 {
			io.WriteString(w, ",")
		}
		w.Write(o.Raw())
	}
	io.WriteString(w, "]}")
	return nil
}

type key struct{}

func (*Maker) Frame(f Form, ev replay.Event, first bool) ([]byte, error) {
	b, err := ev.Object.Memo(key{}, func(o *replay.Object) (any, error) {
		return []byte(`{"type":"` + string(ev.Type) + `","object":` + string(o.Raw()) + "}\n"), nil
	})
	return b.([]byte), err
}

type nop struct{ io.Writer }

func (nop) Close() error                                             { return nil }
func Compress(w http.ResponseWriter, r *http.Request) io.WriteCloser { return nop{w} }

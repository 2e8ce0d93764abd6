package media

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
)

// names prints two columns: the name, and the seconds since the beginning.
type names struct{}

func (names) Columns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "string"}}
}

func (names) Cells(raw []byte, now time.Time) ([]any, []metav1.TableRowCondition, error) {
	var conditions []metav1.TableRowCondition
	if rawjson.Text(raw, "phase") == "Done" {
		conditions = []metav1.TableRowCondition{{Type: metav1.RowCompleted, Status: metav1.ConditionTrue}}
	}
	return []any{rawjson.Text(raw, "metadata", "name"), fmt.Sprintf("%ds", now.Unix())}, conditions, nil
}

var printed = Options{Printer: func() Printer { return names{} }, Now: func() time.Time { return time.Unix(7, 0) }}

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// What is in a stream, byte for byte.
func TestFrames(t *testing.T) {
	widget := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"ns","resourceVersion":"5"},"phase":"Done"}`
	end := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"6"}}`
	gone := &metav1.Status{Status: "Failure", Message: "too old", Reason: "Expired", Code: 410}
	for _, c := range []struct {
		story, accept, query string
		event                replay.Event
		later                bool
		want                 string
	}{
		{
			"JSON is the tape's text", "application/json", "",
			replay.Event{Type: watch.Added, Object: object(widget)}, false,
			`{"type":"ADDED","object":` + widget + `}`,
		},
		{
			"a kind that the tape left out", "", "",
			replay.Event{Type: watch.Deleted, Object: object(`{"metadata":{"name":"w"}}`)}, false,
			`{"type":"DELETED","object":{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"}}}`,
		},
		{
			"an error", "", "",
			replay.Event{Type: watch.Error, Status: gone}, false,
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}`,
		},
		{
			"a bookmark", "", "",
			replay.Event{Type: watch.Bookmark, Object: object(end)}, false,
			`{"type":"BOOKMARK","object":` + end + `}`,
		},
		{
			"the first frame of Tables has columns, and the row its metadata", asTable, "",
			replay.Event{Type: watch.Modified, Object: object(widget)}, false,
			`{"type":"MODIFIED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"","priority":0},{"name":"Age","type":"string","format":"","description":"","priority":0}],"rows":[{"cells":["w","7s"],"conditions":[{"type":"Completed","status":"True"}],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"w","namespace":"ns","resourceVersion":"5"}}}]}}`,
		},
		{
			"later frames have none, and no object where none is asked for", asTable, "includeObject=None",
			replay.Event{Type: watch.Modified, Object: object(widget)}, true,
			`{"type":"MODIFIED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},"columnDefinitions":null,"rows":[{"cells":["w","7s"],"conditions":[{"type":"Completed","status":"True"}],"object":null}]}}`,
		},
		{
			"the end of the initial events can be told all the same", asTable, "includeObject=None",
			replay.Event{Type: watch.Bookmark, Object: object(end)}, true,
			`{"type":"BOOKMARK","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"6"},"columnDefinitions":null,"rows":[{"cells":["","7s"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"6"}}}]}}`,
		},
		{
			"whole objects in rows", strings.Replace(asTable, "v=v1", "v=v1beta1", 1), "includeObject=Object",
			replay.Event{Type: watch.Modified, Object: object(widget)}, true,
			`{"type":"MODIFIED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1","metadata":{"resourceVersion":"5"},"columnDefinitions":null,"rows":[{"cells":["w","7s"],"conditions":[{"type":"Completed","status":"True"}],"object":` + widget + `}]}}`,
		},
		{
			"an error is no Table", asTable, "",
			replay.Event{Type: watch.Error, Status: gone}, false,
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}`,
		},
		{
			"metadata alone", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "",
			replay.Event{Type: watch.Added, Object: object(widget)}, false,
			`{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"w","namespace":"ns","resourceVersion":"5"}}}`,
		},
	} {
		t.Run(c.story, func(t *testing.T) {
			m := NewMaker(widgets, printed)
			got, err := m.Frame(form(t, widgets, Stream, c.accept, c.query), c.event, !c.later)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want+"\n" {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			head, body, tail, err := m.Parts(form(t, widgets, Stream, c.accept, c.query), c.event, !c.later)
			if got := string(head) + string(body) + string(tail); err != nil || got != c.want+"\n" {
				t.Errorf("in parts: %v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
}

// An object as Readers spell it is in the stream as it is: nothing of it is copied or
// kept, whatever the event.
func TestPartsShareTheObject(t *testing.T) {
	m := NewMaker(nodes, Options{})
	o := object(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"12"}}`)
	for _, kind := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		head, body, tail, err := m.Parts(form(t, nodes, Stream, "", ""), replay.Event{Type: kind, Object: o}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(head)+string(body)+string(tail), `{"type":"`+string(kind)+`","object":`+string(o.Raw())+"}\n"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if &body[0] != &o.Raw()[0] {
			t.Errorf("%s: the object was copied", kind)
		}
	}
}

// A bookmark of a built-in kind has the members that its Go type can't leave
// out, as a server's has.
func TestBookmarkOfATypedKind(t *testing.T) {
	m := NewMaker(nodes, Options{})
	o := object(`{"apiVersion":"v1","kind":"Node","metadata":{"resourceVersion":"12"}}`)
	got, err := m.Frame(form(t, nodes, Stream, "", ""), replay.Event{Type: watch.Bookmark, Object: o}, true)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(got) || rawjson.Get(got, "object", "status", "nodeInfo", "kubeletVersion") == nil {
		t.Errorf("a bookmark without its zero values: %s", got)
	}
	if v := rawjson.Text(got, "object", "metadata", "resourceVersion"); v != "12" {
		t.Errorf("version %q of %s", v, got)
	}
}

// Watchers of one Form share a frame; a Table is shared for a second of the
// tape's clock.
func TestFramesAreShared(t *testing.T) {
	now := time.Unix(100, 0)
	m := NewMaker(nodes, Options{Printer: printed.Printer, Now: func() time.Time { return now }})
	ev := replay.Event{Type: watch.Added, Object: object(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`)}
	frame := func(f Form, first bool) []byte {
		got, err := m.Frame(f, ev, first)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	same := func(a, b []byte) bool { return &a[0] == &b[0] }
	plain, proto := form(t, nodes, Stream, "", ""), form(t, nodes, Stream, "application/vnd.kubernetes.protobuf", "")
	if !same(frame(plain, true), frame(plain, false)) || !same(frame(proto, true), frame(proto, false)) {
		t.Error("a frame was made twice")
	}
	rows := form(t, nodes, Stream, asTable, "")
	first, later := frame(rows, true), frame(rows, false)
	now = now.Add(900 * time.Millisecond)
	if !same(first, frame(rows, true)) || !same(later, frame(rows, false)) || same(first, later) {
		t.Error("a Table isn't shared for its second")
	}
	now = now.Add(100 * time.Millisecond)
	if got := frame(rows, false); !strings.Contains(string(got), `"101s"`) {
		t.Errorf("a Table with an old age: %s", got)
	}
}

// A second Maker over the same objects has frames of its own: it may shift
// their times in another way.
func TestMakersDontShare(t *testing.T) {
	shifted := NewMaker(nodes, Options{Shift: func(raw []byte) ([]byte, error) {
		return []byte(strings.Replace(string(raw), "2020", "2026", 1)), nil
	}})
	o := object(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","creationTimestamp":"2020-01-01T00:00:00Z"}}`)
	ev := replay.Event{Type: watch.Added, Object: o}
	for m, want := range map[*Maker]string{NewMaker(nodes, Options{}): "2020", shifted: "2026"} {
		for _, accept := range []string{"", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"} {
			got, err := m.Frame(form(t, nodes, Stream, accept, ""), ev, false)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got), want+"-01-01") {
				t.Errorf("want %s in %s", want, got)
			}
		}
	}
}

// What can't be framed is an error that says what it was.
func TestFrameRefuses(t *testing.T) {
	m := NewMaker(nodes, Options{})
	for want, ev := range map[string]replay.Event{
		`type "ODD"`:   {Type: "ODD", Object: object(`{}`)},
		`type "ADDED"`: {Type: watch.Added},
	} {
		_, err := m.Frame(Form{}, ev, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
	if _, err := m.Frame(form(t, nodes, Stream, asTable, ""), replay.Event{Type: watch.Added, Object: object(`{}`)}, true); err == nil {
		t.Error("a Table without a printer")
	}
	_, err := m.Frame(form(t, nodes, Stream, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", ""),
		replay.Event{Type: watch.Added, Object: object(`{}`)}, true)
	if s, ok := err.(apierrors.APIStatus); !ok || s.Status().Code != http.StatusNotAcceptable {
		t.Errorf("got %v (%T), want a 406", err, err)
	}
}

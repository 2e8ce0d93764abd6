package media

import (
	"bytes"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

func write(t *testing.T, m *Maker, f Form, l *replay.List) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.List(f, l, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Lists, byte for byte.
func TestLists(t *testing.T) {
	remaining := int64(3)
	l := func(r timeline.Resource, raw ...string) *replay.List {
		l := &replay.List{Resource: r, ResourceVersion: "9"}
		for _, text := range raw {
			l.Items = append(l.Items, object(text))
		}
		return l
	}
	page := l(nodes, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}`)
	page.Continue, page.Remaining = "next", &remaining
	widget := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`
	for _, c := range []struct {
		story, accept, query string
		list                 *replay.List
		want                 string
	}{
		{
			"items of a built-in kind go without their kind", "", "",
			l(nodes, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}`, `{"apiVersion":"v1","metadata":{"name":"b"},"kind":"Node","spec":{}}`),
			`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"spec":{}}]}` + "\n",
		},
		{
			"those of a custom resource have one, and the list a continue", "", "",
			l(widgets, widget, `{"metadata":{"name":"v"}}`),
			`{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"9","continue":""},"items":[` + widget +
				`,{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"v"}}]}` + "\n",
		},
		{
			"a page", "", "", page,
			`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"next","remainingItemCount":3},"items":[{"metadata":{"name":"a"}}]}` + "\n",
		},
		{
			"without a version", "", "", &replay.List{Resource: nodes, Continue: "next"},
			`{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"next"},"items":[]}` + "\n",
		},
		{
			"nothing", "", "", l(nodes),
			`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}` + "\n",
		},
		{
			"a Table", asTable, "includeObject=None", page,
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9","continue":"next","remainingItemCount":3},"columnDefinitions":[{"name":"Name","type":"string","format":"name","description":"","priority":0},{"name":"Age","type":"string","format":"","description":"","priority":0}],"rows":[{"cells":["a","7s"],"object":null}]}` + "\n",
		},
		{
			"metadata", "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io", "", page,
			`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1beta1","metadata":{"resourceVersion":"9","continue":"next","remainingItemCount":3},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":{"name":"a"}}]}` + "\n",
		},
		{
			"indented", "", "pretty=true", l(nodes, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}`),
			"{\n  \"kind\": \"NodeList\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\n    \"resourceVersion\": \"9\"\n  },\n  \"items\": [\n    {\n      \"metadata\": {\n        \"name\": \"a\"\n      }\n    }\n  ]\n}",
		},
		{
			"YAML", "application/yaml", "", l(widgets, widget),
			"apiVersion: example.com/v1\nitems:\n- apiVersion: example.com/v1\n  kind: Widget\n  metadata:\n    name: w\nkind: WidgetList\nmetadata:\n  continue: \"\"\n  resourceVersion: \"9\"\n",
		},
	} {
		t.Run(c.story, func(t *testing.T) {
			r := c.list.Resource
			got := write(t, NewMaker(r, printed), form(t, r, Collection, c.accept, c.query), c.list)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A representation of the wrong number is refused before anything is written,
// in the words of the server.
func TestRepresentationOfTheWrongNumber(t *testing.T) {
	var b bytes.Buffer
	m := NewMaker(nodes, Options{})
	err := m.List(form(t, nodes, Collection, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", ""), &replay.List{Resource: nodes}, &b)
	if got := apierrors.ReasonForError(err); got != "NotAcceptable" || b.Len() != 0 ||
		err.Error() != "you requested PartialObjectMetadata, but the requested object is a list (*core.NodeList)" {
		t.Errorf("got %v (%s) and %q", err, got, b.String())
	}
	_, err = NewMaker(widgets, Options{}).Object(form(t, widgets, Single, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", ""), object(`{}`))
	if s, ok := err.(apierrors.APIStatus); !ok || s.Status().Code != http.StatusInternalServerError || err.Error() != "content is not a list" {
		t.Errorf("got %v", err)
	}
	_, err = NewMaker(pods, Options{}).Object(form(t, pods, Single, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", ""), object(`{}`))
	if s, ok := err.(apierrors.APIStatus); !ok || s.Status().Code != http.StatusNotAcceptable ||
		err.Error() != "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Pod)" {
		t.Errorf("got %v", err)
	}
}

// A list asks for its printer once, not for each row: making one may be work.
func TestOnePrinterForAList(t *testing.T) {
	asked := 0
	m := NewMaker(nodes, Options{Printer: func() Printer { asked++; return names{} }})
	item := object(`{"metadata":{"name":"a"}}`)
	write(t, m, form(t, nodes, Collection, asTable, ""), &replay.List{Resource: nodes, Items: []*replay.Object{item, item, item}})
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

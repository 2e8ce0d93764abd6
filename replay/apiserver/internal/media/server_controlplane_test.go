//go:build controlplane

package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver/internal/tables"
	"github.com/nodesim/nodesim/timeline"
)

// real is a kube-apiserver.
type real struct {
	t      *testing.T
	ctx    context.Context
	client *http.Client
	url    string
}

const (
	definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
	someNode   = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"NAME","annotations":{"zone":"a<b"}},"spec":{"providerID":"x"}}`
	someWidget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"NAME","annotations":{"a":"1"}},"size":12345678901,"half":0.5}`
)

// What a real kube-apiserver answers, and what is made here of the same objects,
// for every Accept header: code, type and body.
func TestAgainstServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	client, url := testcluster.Shared(t).HTTP(t)
	s := &real{t: t, ctx: ctx, client: client, url: url}
	custom := widgets
	custom.Namespaced = false
	s.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	for _, name := range []string{"one", "two"} {
		s.create("/api/v1/nodes", strings.Replace(someNode, "NAME", name, 1))
		s.create("/apis/example.com/v1/widgets", strings.Replace(someWidget, "NAME", name, 1))
	}
	for path, r := range map[string]timeline.Resource{
		"/api/v1/nodes": nodes, "/apis/example.com/v1/widgets": custom,
		"/apis/scheduling.k8s.io/v1/priorityclasses":              {Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass", Resource: "priorityclasses"},
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"},
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":         {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Resource: "clusterroles"},
	} {
		var crd []byte
		if r == custom {
			crd = []byte(definition)
		}
		m := NewMaker(r, Options{Printer: func() Printer { return tables.For(r, crd) }, Now: time.Now})
		for _, accept := range []string{
			"", "*/*", "application/json", "application/yaml", protobufAccept, clientGo, kubectlGet, asTable,
			strings.Replace(asTable, "v=v1", "v=v1beta1", 1), "application/yaml;as=Table;v=v1;g=meta.k8s.io",
			protobufAccept + ";as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v3;g=meta.k8s.io",
			"application/json" + partialAccept, "application/json" + partialsAccept, "application/json" + partialsBeta, "application/yaml" + partialsAccept,
			protobufAccept + partialAccept, protobufAccept + partialsAccept, protobufAccept + partialsBeta,
			"application/json" + strings.Replace(partialAccept, "v=v1", "v=v1beta1", 1), protobufAccept + strings.Replace(partialAccept, "v=v1", "v=v1beta1", 1),
			"application/*", "application/cbor", "application/cbor,application/json", "text/html", ";;=,/", "application/json;pretty=1", "application/json;stream=watch", "application/json;stream=other",
		} {
			for _, query := range []string{"", "includeObject=None", "includeObject=Object", "includeObject=Some", "pretty=true"} {
				if !inScheme(r) && isBuiltIn(r) && (strings.HasPrefix(accept, protobufAccept) || strings.Contains(accept, "Metadata")) {
					continue // see the package comment: no protobuf of what client-go has no type of
				}
				if query != "" && query != "pretty=true" && !strings.Contains(accept, "Table") {
					continue
				}
				t.Run(r.Resource+" "+accept+" "+query, func(t *testing.T) {
					one := *s
					one.t = t
					one.compare(path, r, m, accept, query)
				})
			}
		}
	}
}

func (s *real) create(path, body string) {
	s.t.Helper()
	for {
		code, _, answer := s.do(http.MethodPost, path, "application/json", strings.NewReader(body))
		if code == http.StatusCreated {
			return
		}
		if code != http.StatusNotFound || s.ctx.Err() != nil { // a definition takes a while
			s.t.Fatalf("%d: %s", code, answer)
		}
	}
}

func (s *real) do(method, path, accept string, body io.Reader) (code int, contentType string, answer []byte) {
	s.t.Helper()
	r := s.open(method, path, accept, body)
	defer func() { _ = r.Body.Close() }()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, r.Header.Get("Content-Type"), answer
}

func (s *real) open(method, path, accept string, body io.Reader) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx, method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	r, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *real) compare(path string, r timeline.Resource, m *Maker, accept, query string) {
	cluster := replay.NewCluster(&timeline.Header{Resources: []timeline.Resource{r}})
	_, _, items := s.do(http.MethodGet, path, "application/json", nil)
	for item := range rawjson.Elements(rawjson.Get(items, "items")) {
		name := rawjson.Text(item, "metadata", "name")
		_, _, raw := s.do(http.MethodGet, path+"/"+url.PathEscape(name), "application/json", nil)
		compact, err := rawjson.Compact(nil, raw)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := cluster.Apply(timeline.Event{Type: timeline.Added, Resource: r.Resource, Name: name, Object: compact}); err != nil {
			s.t.Fatal(err)
		}
	}
	cluster.Settle()
	l, err := cluster.List(gvr(r), "", metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(l.Items) == 0 {
		s.t.Fatalf("nothing at %s: %s", path, items)
	}
	name := url.PathEscape(l.Items[0].Name())
	answer := func(what What, make func(f Form, w *bytes.Buffer) error) (code int, contentType string, body []byte) {
		f, err := Negotiate(asks(accept, query), r, what)
		var b bytes.Buffer
		if err == nil {
			if err = make(f, &b); err == nil {
				return http.StatusOK, f.ContentType(), b.Bytes()
			}
		}
		status, ok := err.(apierrors.APIStatus)
		if !ok {
			s.t.Fatal(err)
		}
		st := status.Status()
		f = ForStatus(asks(accept, query))
		return int(st.Code), f.ContentType(), Status(f, &st)
	}
	code, contentType, body := s.do(http.MethodGet, path+"/"+name+"?"+query, accept, nil)
	gotCode, gotType, got := answer(Single, func(f Form, w *bytes.Buffer) error {
		o, err := m.Object(f, l.Items[0])
		w.Write(o)
		return err
	})
	s.same("get", gotCode, code, gotType, contentType, got, body)
	code, contentType, body = s.do(http.MethodGet, path+"?"+query, accept, nil)
	l.ResourceVersion = versionOf(s.t, contentType, body)
	gotCode, gotType, got = answer(Collection, func(f Form, w *bytes.Buffer) error { return m.List(f, l, w) })
	s.same("list", gotCode, code, gotType, contentType, got, body)
	s.compareWatch(path, r, m, accept, query, l)
}

// age is a cell that depends on when it was made.
var age = regexp.MustCompile(`^\d+[smhd](\d+[sm])?$`)

func (s *real) same(what string, gotCode, code int, gotType, contentType string, got, body []byte) {
	s.t.Helper()
	if gotCode != code || gotType != contentType {
		s.t.Fatalf("%s: got %d %s, want %d %s\n%s", what, gotCode, gotType, code, contentType, body)
	}
	if strings.HasPrefix(contentType, protobufAccept) {
		if !bytes.Equal(got, body) {
			s.t.Fatalf("%s: got\n%q, want\n%q", what, got, body)
		}
		return
	}
	if end, want := bytes.HasSuffix(got, []byte("\n")), bytes.HasSuffix(body, []byte("\n")); end != want || bytes.Count(got, []byte("\n")) != bytes.Count(body, []byte("\n")) {
		s.t.Errorf("%s: lines\n%s, want\n%s", what, got, body)
	}
	if d := cmp.Diff(ageless(s.t, body), ageless(s.t, got)); d != "" {
		s.t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// ageless parses JSON or YAML, with the ages in Tables made alike.
func ageless(t *testing.T, text []byte) any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err, string(text))
	}
	table := v
	if o, ok := v["object"].(map[string]any); ok {
		table = o
	}
	rows, _ := table["rows"].([]any)
	for _, row := range rows {
		if v["type"] == "BOOKMARK" {
			// The server prints an object without defaults, the printer with.
			delete(row.(map[string]any), "cells")
			continue
		}
		cells := row.(map[string]any)["cells"].([]any)
		for i := range cells {
			if c, ok := cells[i].(string); ok && age.MatchString(c) {
				cells[i] = "AGE"
			}
		}
	}
	return v
}

// both knows the kinds of client-go, of definitions, and of meta.k8s.io.
var both = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(metav1.AddMetaToScheme(s))
	utilruntime.Must(metav1beta1.AddMetaToScheme(s))
	return s
}()

func versionOf(t *testing.T, contentType string, body []byte) string {
	t.Helper()
	if strings.HasPrefix(contentType, protobufAccept) {
		o, _, err := protobuf.NewSerializer(both, both).Decode(body, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := o.(metav1.ListInterface); ok {
			return l.GetResourceVersion()
		}
		m, err := meta.CommonAccessor(o)
		if err != nil {
			t.Fatal(err)
		}
		return m.GetResourceVersion()
	}
	var o struct {
		Metadata struct {
			ResourceVersion string `yaml:"resourceVersion"`
		}
	}
	if err := yaml.Unmarshal(body, &o); err != nil {
		t.Fatal(err, string(body))
	}
	return o.Metadata.ResourceVersion
}

// compareWatch holds the initial events of a streamed list, and their end,
// against frames made here.
func (s *real) compareWatch(path string, r timeline.Resource, m *Maker, accept, query string, l *replay.List) {
	const initial = "&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=10"
	answer := s.open(http.MethodGet, path+"?"+query+initial, accept, nil)
	defer func() { _ = answer.Body.Close() }()
	contentType := answer.Header.Get("Content-Type")
	f, err := Negotiate(asks(accept, query), r, Stream)
	if err != nil {
		body, readErr := io.ReadAll(answer.Body)
		if readErr != nil {
			s.t.Fatal(readErr)
		}
		st := err.(apierrors.APIStatus).Status()
		f = ForStatus(asks(accept, query))
		s.same("watch", int(st.Code), answer.StatusCode, f.ContentType(), contentType, Status(f, &st), body)
		return
	}
	if answer.StatusCode != http.StatusOK || f.ContentType() != contentType {
		s.t.Fatalf("watch: got %s, want %d %s", f.ContentType(), answer.StatusCode, contentType)
	}
	frames := json.NewDecoder(answer.Body)
	for i := range len(l.Items) + 1 {
		o, kind := (*replay.Object)(nil), watch.Bookmark
		if i < len(l.Items) {
			o, kind = l.Items[i], watch.Added
		}
		if f.shape == partialList {
			if _, err := m.Frame(f, replay.Event{Type: watch.Added, Object: l.Items[0]}, true); err == nil {
				s.t.Error("a list in a frame, which the server doesn't send")
			}
			if rest, _ := io.ReadAll(answer.Body); len(rest) > 0 {
				s.t.Errorf("the server sends %q", rest)
			}
			return
		}
		var want []byte
		if f.encoding == asProtobuf {
			want = s.protobufFrame(answer.Body)
		} else {
			var raw json.RawMessage
			if err := frames.Decode(&raw); err != nil {
				s.t.Fatal(err)
			}
			want = append(raw, '\n')
		}
		if kind == watch.Bookmark && m.bare && !m.typed {
			return // without its Go type, the bookmark lacks zero values: see the package comment
		}
		if kind == watch.Bookmark {
			o = s.endMark(r, f, want)
		}
		got, err := m.Frame(f, replay.Event{Type: kind, Object: o}, i == 0)
		if err != nil {
			s.t.Fatal(err)
		}
		s.same("frame", 200, 200, contentType, contentType, got, want)
	}
}

func (s *real) protobufFrame(r io.Reader) []byte {
	s.t.Helper()
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		s.t.Fatal(err)
	}
	frame := slices.Concat(head, make([]byte, binary.BigEndian.Uint32(head)))
	if _, err := io.ReadFull(r, frame[4:]); err != nil {
		s.t.Fatal(err)
	}
	return frame
}

// endMark is the bookmark after the initial events, at the version of the
// server's.
func (s *real) endMark(r timeline.Resource, f Form, frame []byte) *replay.Object {
	s.t.Helper()
	var version string
	if f.encoding == asProtobuf {
		var e metav1.WatchEvent
		if err := e.Unmarshal(frame[4:]); err != nil {
			s.t.Fatal(err)
		}
		version = versionOf(s.t, protobufAccept, e.Object.Raw)
	} else {
		version = rawjson.Text(frame, "object", "metadata", "resourceVersion")
	}
	text := appendType(nil, r.Kind, r.APIVersion())
	text = rawjson.AppendString(append(text, `,"metadata":{"resourceVersion":`...), version)
	return object(string(append(text, `,"annotations":{"k8s.io/initial-events-end":"true"}}}`...)))
}

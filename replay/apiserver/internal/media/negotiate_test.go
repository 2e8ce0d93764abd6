package media

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/timeline"
)

const (
	kubectlGet = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	clientGo   = "application/vnd.kubernetes.protobuf,application/json"
	unrouted   = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	all        = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	streams    = "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
)

// What clients send, and what they get for it.
func TestNegotiate(t *testing.T) {
	for _, c := range []struct {
		story    string
		resource timeline.Resource
		what     What
		accept   string
		want     Form
		typ      string
		refusal  string
	}{
		{"nothing", nodes, Single, "", Form{}, "application/json", ""},
		{"anything", nodes, Collection, "*/*", Form{}, "application/json", ""},
		{"any application", widgets, Stream, "application/*", Form{stream: true}, "application/json", ""},
		{"which routes don't know", nodes, Single, "application/*", Form{}, "", unrouted},
		{"kubectl get", nodes, Collection, kubectlGet, Form{shape: table}, "application/json", ""},
		{"kubectl get -w", widgets, Stream, kubectlGet, Form{shape: table, stream: true}, "application/json", ""},
		{"a typed client", nodes, Collection, clientGo, Form{encoding: asProtobuf}, "application/vnd.kubernetes.protobuf", ""},
		{"its watch", nodes, Stream, clientGo, Form{encoding: asProtobuf, stream: true}, "application/vnd.kubernetes.protobuf;stream=watch", ""},
		{"a typed client of a custom resource", widgets, Single, clientGo, Form{}, "application/json", ""},
		{"a custom resource has no protobuf", widgets, Single, "application/vnd.kubernetes.protobuf", Form{}, "", all},
		{"nor has its watch", widgets, Stream, "application/vnd.kubernetes.protobuf;stream=watch", Form{}, "", all},
		{"but its metadata has", widgets, Single, protobufAccept + partialAccept, Form{encoding: asProtobuf, shape: partial}, "application/vnd.kubernetes.protobuf", ""},
		{"a metadata client's list", nodes, Collection, protobufAccept + partialsAccept + ",application/json" + partialsAccept + ",application/json", Form{encoding: asProtobuf, shape: partialList}, "application/vnd.kubernetes.protobuf", ""},
		{"an older one", nodes, Single, "application/json" + partialsBeta, Form{shape: partialList, beta: true}, "application/json", ""},
		{"a Table in protobuf", nodes, Single, protobufAccept + ";as=Table;v=v1;g=meta.k8s.io", Form{}, "", all},
		{"or else in JSON", nodes, Single, protobufAccept + ";as=Table;v=v1;g=meta.k8s.io," + asTable, Form{shape: table}, "application/json", ""},
		{"a Table of a version that isn't", nodes, Single, "application/json;as=Table;v=v2;g=meta.k8s.io", Form{}, "", all},
		{"a kind that isn't", nodes, Single, "application/json;as=Chair;v=v1;g=meta.k8s.io", Form{}, "", all},
		{"YAML", nodes, Single, "application/yaml", Form{encoding: asYAML}, "application/yaml", ""},
		{"a stream of YAML", nodes, Stream, "application/yaml", Form{}, "", streams},
		{"CBOR is off", nodes, Single, "application/cbor", Form{}, "", unrouted},
		{"for custom resources, too", widgets, Single, "application/cbor", Form{}, "", all},
		{"CBOR or JSON", nodes, Stream, "application/cbor,application/json;q=0.9", Form{stream: true}, "application/json", ""},
		{"pretty by the type", nodes, Single, "application/json;pretty=1", Form{pretty: true}, "application/json", ""},
		{"a preference", nodes, Single, "application/json;q=0.1,application/yaml;q=0.9", Form{encoding: asYAML}, "application/yaml", ""},
		{"text", nodes, Stream, "text/html", Form{}, "", unrouted + ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"},
		{"garbage", widgets, Collection, "\x00;;=,/", Form{}, "", all},
	} {
		t.Run(c.story, func(t *testing.T) {
			got, err := Negotiate(asks(c.accept, ""), c.resource, c.what)
			if c.refusal != "" {
				s, ok := err.(apierrors.APIStatus)
				if !ok || s.Status().Code != http.StatusNotAcceptable || s.Status().Message != c.refusal {
					t.Fatalf("got %+v and %v, want a 406 that says %s", got, err, c.refusal)
				}
				return
			}
			if err != nil || got != c.want || got.ContentType() != c.typ {
				t.Errorf("got %+v, %q and %v; want %+v, %q", got, got.ContentType(), err, c.want, c.typ)
			}
		})
	}
}

// A program that knows a custom resource doesn't make it a built-in one.
func TestCustomResourceInClientGosScheme(t *testing.T) {
	kind := kindOf(widgets)
	scheme.Scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
	if !scheme.Scheme.Recognizes(kind) {
		t.Fatal("not registered")
	}
	if f := form(t, widgets, Single, clientGo, ""); f != (Form{}) {
		t.Errorf("got %+v, want JSON", f)
	}
}

// The text is indented for those who read it themselves, but not in a stream.
func TestPretty(t *testing.T) {
	for _, c := range []struct {
		agent, query string
		what         What
		want         bool
	}{
		{"", "", Single, false},
		{"curl/8.5", "", Single, true},
		{"Wget/1.2", "", Collection, true},
		{"Mozilla/5.0 (X11)", "", Collection, true},
		{"Mozilla/5.0 (X11)", "pretty=false", Collection, false},
		{"kubectl/v1.36.3", "pretty=true", Single, true},
		{"curl/8.5", "pretty=true", Stream, false},
	} {
		r := asks("", c.query)
		r.Header.Set("User-Agent", c.agent)
		f, err := Negotiate(r, nodes, c.what)
		if err != nil || f.pretty != c.want {
			t.Errorf("%+v: got %+v, %v", c, f, err)
		}
	}
}

// What the rows of a Table carry, and what is refused.
func TestIncludeObject(t *testing.T) {
	for query, want := range map[string]include{
		"": includeMetadata, "includeObject=Metadata": includeMetadata, "includeObject=None": includeNone, "includeObject=Object": includeObject,
	} {
		if f := form(t, nodes, Collection, asTable, query); f.include != want {
			t.Errorf("%s: got %+v", query, f)
		}
	}
	_, err := Negotiate(asks(asTable, "includeObject=All"), nodes, Collection)
	if !apierrors.IsBadRequest(err) || !strings.HasPrefix(err.Error(), "Unable to convert to Table as requested: includeObject: Invalid value") {
		t.Errorf("got %v", err)
	}
	if _, err := Negotiate(asks("", "includeObject=All"), nodes, Collection); err != nil {
		t.Errorf("without a Table: %v", err)
	}
}

// Errors come in what the client accepts; one who accepts nothing that there is
// gets JSON to read.
func TestStatus(t *testing.T) {
	st := &metav1.Status{Message: "no", Reason: "Gone", Code: 410}
	compact := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"Gone","code":410}` + "\n"
	indented := "{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n  \"status\": \"Failure\",\n  \"message\": \"no\",\n  \"reason\": \"Gone\",\n  \"code\": 410\n}"
	for accept, want := range map[string]string{
		"":                 compact,
		kubectlGet:         compact,
		asTable:            indented,
		"text/css":         indented,
		clientGo:           "k8s\x00\n\f\n\x02v1\x12\x06Status\x12\x1e\n\x06\n\x00\x12\x00\x1a\x00\x12\aFailure\x1a\x02no\"\x04Gone0\x9a\x03\x1a\x00\"\x00",
		"application/yaml": "apiVersion: v1\ncode: 410\nkind: Status\nmessage: \"no\"\nmetadata: {}\nreason: Gone\nstatus: Failure\n",
	} {
		f := ForStatus(asks(accept, ""))
		if got := string(Status(f, st)); got != want {
			t.Errorf("%q (%s): got\n%q, want\n%q", accept, f.ContentType(), got, want)
		}
	}
	if st.Kind != "" {
		t.Error("the caller's Status was written to")
	}
	for _, f := range []Form{{}, {pretty: true}, {encoding: asYAML}, {encoding: asProtobuf}} {
		if len(Status(f, nil)) == 0 {
			t.Errorf("%+v: nothing for a nil Status", f)
		}
	}
}

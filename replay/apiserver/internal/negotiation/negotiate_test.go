package negotiation

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	original "k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/client-go/kubernetes/scheme"
)

// tables lets a client ask for a Table.
type tables struct{ emptyEndpointRestrictions }

func (tables) AllowsMediaTypeTransform(_, sub string, to *schema.GroupVersionKind) bool {
	return to == nil || to.Kind == "Table" && sub != "vnd.kubernetes.protobuf"
}

// Whatever is asked for, the answer is k8s.io/apiserver's.
func TestNegotiatesAsTheOriginal(t *testing.T) {
	accepts := []string{
		"", "*/*", "application/*", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor",
		"text/html", "text/html, */*;q=0.1", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
		"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", "application/vnd.kubernetes.protobuf,application/json;q=0.9",
		"application/json;stream=watch", "application/json;stream=other", "application/json;sv=v1", "application/json;pretty=1;export=1",
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;profile=local;unknown=1", ";;;", "application/json;q=0",
		"application/yaml;q=0.2, application/json;q=0.1",
	}
	queries := []string{"", "pretty=true", "pretty=false", "pretty=x"}
	agents := []string{"", "curl/8", "Mozilla/5.0 (X11)", "kubectl/v1.37.0"}
	for _, accept := range accepts {
		for _, query := range queries {
			for _, agent := range agents {
				req := &http.Request{URL: &url.URL{RawQuery: query}, Header: http.Header{"Accept": {accept}, "User-Agent": {agent}}}
				for _, restrictions := range []EndpointRestrictions{DefaultEndpointRestrictions, tables{}} {
					terms, info, err := NegotiateOutputMediaType(req, scheme.Codecs, restrictions)
					wantTerms, wantInfo, wantErr := original.NegotiateOutputMediaType(req, scheme.Codecs, restrictions)
					got, want := fmt.Sprintf("%+v %+v %#v", terms, info, status(err)), fmt.Sprintf("%+v %+v %#v", wantTerms, wantInfo, status(wantErr))
					if got != want {
						t.Errorf("Accept %q ?%s by %q:\n%s: want\n%s", accept, query, agent, got, want)
					}
					info, err = NegotiateOutputMediaTypeStream(req, scheme.Codecs, restrictions)
					wantInfo, wantErr = original.NegotiateOutputMediaTypeStream(req, scheme.Codecs, restrictions)
					got, want = fmt.Sprintf("%+v %#v", info, status(err)), fmt.Sprintf("%+v %#v", wantInfo, status(wantErr))
					if got != want {
						t.Errorf("Accept %q of a watch:\n%s: want\n%s", accept, got, want)
					}
				}
			}
		}
	}
	types, streams := MediaTypesForSerializer(scheme.Codecs)
	wantTypes, wantStreams := original.MediaTypesForSerializer(scheme.Codecs)
	if fmt.Sprint(types, streams) != fmt.Sprint(wantTypes, wantStreams) {
		t.Errorf("types %v, %v: want %v, %v", types, streams, wantTypes, wantStreams)
	}
}

// status is an error as a client sees it.
func status(err error) metav1.Status {
	var is interface{ Status() metav1.Status }
	if errors.As(err, &is) {
		return is.Status()
	}
	return metav1.Status{}
}

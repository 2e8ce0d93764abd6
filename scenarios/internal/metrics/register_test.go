package metrics

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// way is a way to an API server.
type way func(*http.Request) (*http.Response, error)

func (w way) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

// An API server that hangs after the first write doesn't keep Register: it ends with its context, and says so.
func TestRegisterOnAServerThatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked []string
	config := &rest.Config{Host: "http://example.invalid", Transport: way(func(r *http.Request) (*http.Response, error) {
		_, resource, _ := strings.Cut(r.URL.Path, "/v1/")
		asked = append(asked, r.Method+" "+resource)
		code, body := http.StatusCreated, io.Reader(r.Body)
		switch asked[len(asked)-1] {
		case "GET apiservices/" + apiServiceName:
			code, body = http.StatusNotFound, strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		case "POST namespaces/kube-system/services": // as it was sent
		default:
			cancel()
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: r}, nil
	})}
	r, err := Register(ctx, config, Source{}, Options{})
	if r != nil || err == nil || !strings.Contains(err.Error(), "write APIService") || !strings.Contains(err.Error(), "remove Service") {
		t.Errorf("Register: %v, %v; want that neither was the APIService written nor the Service removed", r, err)
	}
	if got := strings.Join(asked, ", "); !strings.HasSuffix(got, "POST apiservices, DELETE namespaces/kube-system/services/nodesim-metrics") {
		t.Errorf("requests %s", got)
	}
}

package metrics

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
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

// What the API server says of the listener decides; what it said last is in the error.
func TestAvailable(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		want    string
	}{
		"at once":    {[]string{`{"type":"Available","status":"True"}`}, ""},
		"late":       {[]string{``, `{"type":"Available","status":"False","message":"no route"}`, `{"type":"Available","status":"True"}`}, ""},
		"never":      {[]string{`{"type":"Available","status":"False","message":"no route to 10.0.0.1"}`}, "no route to 10.0.0.1"},
		"never told": {[]string{``}, "hasn't tried it yet"},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			config := &rest.Config{Host: "http://example.invalid", Transport: way(func(r *http.Request) (*http.Response, error) {
				body := `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"x"},"status":{"conditions":[` + c.answers[min(asked, len(c.answers)-1)] + `]}}`
				asked++
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})}
			client, err := dynamic.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err = (&Registration{client: client}).Available(ctx, clock.RealClock{})
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		})
	}
}

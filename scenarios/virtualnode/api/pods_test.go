package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/utils/ptr"
)

// ask sends a request to a handler.
func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func pods(names ...string) PodListerFunc {
	return func(context.Context) ([]*corev1.Pod, error) {
		list := []*corev1.Pod{nil}
		for _, name := range names {
			list = append(list, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}})
		}
		return list, nil
	}
}

func TestListings(t *testing.T) {
	h := PodHandler(PodHandlerConfig{GetPods: pods("web-0"), GetPodsFromKubernetes: pods("web-0", "web-1")}, true)
	for path, want := range map[string][]string{"/pods": {"web-0", "web-1"}, "/runningpods/": {"web-0"}} {
		w := ask(h, "GET", path)
		var list corev1.PodList
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, pod := range list.Items {
			names = append(names, pod.Name)
		}
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || list.Kind != "PodList" || list.APIVersion != "v1" || !slices.Equal(names, want) {
			t.Errorf("%s: %d %s %s/%s %v, want 200 application/json v1/PodList %v", path, w.Code, w.Header().Get("Content-Type"),
				list.APIVersion, list.Kind, names, want)
		}
	}
	if got := ask(PodHandler(PodHandlerConfig{GetPodsFromKubernetes: pods()}, false), "GET", "/pods").Body.String(); !strings.Contains(got, `"items":[]`) {
		t.Errorf("no pods: %s, want an empty list of items", got)
	}
}

func TestPathsAndVerbs(t *testing.T) {
	nothing, all := PodHandler(PodHandlerConfig{}, true), PodHandler(everything(), true)
	for _, c := range []struct {
		h            http.Handler
		method, path string
		status       int
		location     string
	}{
		{nothing, "GET", "/pods", 501, ""},
		{nothing, "GET", "/runningpods/", 501, ""},
		{nothing, "GET", "/containerLogs/shop/web-0/app", 501, ""},
		{nothing, "POST", "/exec/shop/web-0/app", 501, ""},
		{nothing, "GET", "/attach/shop/web-0/app", 501, ""},
		{nothing, "POST", "/portForward/shop/web-0", 501, ""},
		{nothing, "GET", "/stats/summary", 404, ""},
		{nothing, "GET", "/metrics/resource", 404, ""},
		{all, "GET", "/stats/summary", 200, ""},
		{all, "GET", "/stats/summary/", 200, ""},
		{all, "GET", "/metrics/resource", 200, ""},
		{all, "GET", "/metrics/resource/", 200, ""},
		{all, "GET", "/", 404, ""},
		{all, "GET", "/healthz", 404, ""},
		{all, "GET", "/exec/shop/web-0", 404, ""},
		{all, "POST", "/pods", 405, ""},
		{all, "POST", "/containerLogs/shop/web-0/app", 405, ""},
		{all, "DELETE", "/exec/shop/web-0/app", 405, ""},
		{all, "GET", "/pods/", 301, "/pods"},
		{all, "GET", "/runningpods", 301, "/runningpods/"},
		{all, "GET", "/containerLogs/shop/web-0/app/?follow=true", 301, "/containerLogs/shop/web-0/app?follow=true"},
		{all, "POST", "/portForward/shop/web-0/", 301, "/portForward/shop/web-0"},
		{all, "POST", "/exec/shop/web-0/app?command=ls&output=1", 400, ""},      // no upgrade
		{all, "POST", "/exec/shop/web-0/app?output=1", 400, ""},                 // no command
		{all, "POST", "/exec/shop/web-0/app?command=ls", 400, ""},               // no stream
		{all, "POST", "/exec/shop/web-0/app?command=ls&input=true", 400, ""},    // no stream: not "1"
		{all, "POST", "/exec/shop/web-0/app?command=ls&error=1&tty=1", 400, ""}, // two streams on a terminal
		{all, "POST", "/attach/shop/web-0/app?input=1", 400, ""},                // no upgrade
		{all, "POST", "/portForward/shop/web-0", 400, ""},                       // no upgrade
		{all, "GET", "/containerLogs/shop/web-0/app?tailLines=-1", 400, ""},
	} {
		w := ask(c.h, c.method, c.path)
		if w.Code != c.status || w.Header().Get("Location") != c.location {
			t.Errorf("%s %s: %d to %q, want %d to %q", c.method, c.path, w.Code, w.Header().Get("Location"), c.status, c.location)
		}
	}
	if got := ask(PodHandler(everything(), false), "GET", "/runningpods/").Code; got != 404 {
		t.Errorf("running pods without debug: %d, want 404", got)
	}
}

// everything has a function for each route.
func everything() PodHandlerConfig {
	return PodHandlerConfig{
		RunInContainer:        func(context.Context, string, string, string, []string, AttachIO) error { return nil },
		AttachToContainer:     func(context.Context, string, string, string, AttachIO) error { return nil },
		PortForward:           func(context.Context, string, string, int32, io.ReadWriteCloser) error { return nil },
		GetContainerLogs:      lines("one\n"),
		GetPods:               pods(),
		GetPodsFromKubernetes: pods(),
		GetStatsSummary:       func(context.Context) (*statsv1alpha1.Summary, error) { return nil, nil },
		GetMetricsResource:    func(context.Context) ([]*dto.MetricFamily, error) { return nil, nil },
	}
}

func TestBothAttachmentsOnOneMux(t *testing.T) {
	mux := http.NewServeMux()
	AttachPodRoutes(everything(), mux, false)
	AttachPodMetricsRoutes(PodMetricsConfig{GetMetricsResource: func(context.Context) ([]*dto.MetricFamily, error) {
		return []*dto.MetricFamily{nil, {}, {
			Name: ptr.To("node_cpu_usage_seconds_total"), Type: dto.MetricType_COUNTER.Enum(),
			Metric: []*dto.Metric{{Counter: &dto.Counter{Value: ptr.To(1.5)}}},
		}}, nil
	}}, mux)
	for path, want := range map[string]int{
		"/pods": 200, "/stats/summary": 501, "/stats/summary/": 501, "/metrics/resource": 200, "/metrics/resource/": 200, "/metrics/resource/more": 404,
	} {
		if got := ask(mux, "GET", path).Code; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	w := ask(mux, "GET", "/metrics/resource")
	const want = "# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total 1.5\n"
	if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "text/plain; version=0.0.4" {
		t.Errorf("metrics: %s %q, want text/plain; version=0.0.4 %q", w.Header().Get("Content-Type"), got, want)
	}
	AttachMetricsRoutes(PodMetricsConfig{}, http.NewServeMux())
}

type typed struct{ notFound, invalidInput bool }

func (typed) Error() string        { return "typed" }
func (e typed) NotFound() bool     { return e.notFound }
func (e typed) InvalidInput() bool { return e.invalidInput }

type caused struct{ cause error }

func (caused) Error() string  { return "caused" }
func (e caused) Cause() error { return e.cause }

type ouroboros struct{}

func (ouroboros) Error() string     { return "ouroboros" }
func (o ouroboros) Unwrap() []error { return []error{o, o} }

func TestErrorsHaveAStatus(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"plain":           {errors.New("no"), 500},
		"not found":       {typed{notFound: true}, 404},
		"invalid input":   {typed{invalidInput: true}, 400},
		"typed as no":     {typed{}, 500},
		"caused":          {caused{caused{typed{notFound: true}}}, 404},
		"wrapped":         {fmt.Errorf("pod: %w", typed{invalidInput: true}), 400},
		"joined":          {errors.Join(errors.New("no"), fmt.Errorf("pod: %w", caused{typed{notFound: true}})), 404},
		"of the API":      {fmt.Errorf("pod: %w", apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web-0")), 404},
		"own cause":       {ouroboros{}, 500},
		"cause of no use": {caused{nil}, 500},
	} {
		h := PodHandler(PodHandlerConfig{GetPodsFromKubernetes: func(context.Context) ([]*corev1.Pod, error) { return nil, c.err }}, false)
		w := ask(h, "GET", "/pods")
		if w.Code != c.status || w.Body.String() != c.err.Error() || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d %s %q, want %d text/plain %q", name, w.Code, w.Header().Get("Content-Type"), w.Body, c.status, c.err)
		}
	}
}

package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/utils/ptr"
)

// ownMux is a mux of single handlers, under paths that are not a kubelet's.
func ownMux() *http.ServeMux {
	echo := func(_ context.Context, namespace, pod, container string, a AttachIO) error {
		_, err := io.WriteString(a.Stdout(), namespace+"/"+pod+"/"+container)
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/logs/{namespace}/{pod}/{container}", HandleContainerLogs(lines("one\n")))
	mux.HandleFunc("/run/{namespace}/{pod}/{container}", HandleContainerExec(
		func(ctx context.Context, namespace, pod, container string, cmd []string, a AttachIO) error {
			return echo(ctx, namespace, pod, container+" "+strings.Join(cmd, " "), a)
		}, WithExecStreamIdleTimeout(time.Hour), WithExecStreamCreationTimeout(time.Hour)))
	mux.HandleFunc("/join/{namespace}/{pod}/{container}", HandleContainerAttach(echo))
	mux.HandleFunc("/portForward/{namespace}/{pod}", HandlePortForward(
		func(_ context.Context, namespace, pod string, _ int32, stream io.ReadWriteCloser) error {
			_, err := io.WriteString(stream, namespace+"/"+pod)
			return err
		}, WithPortForwardStreamIdleTimeout(time.Hour), WithPortForwardCreationTimeout(10*time.Millisecond)))
	mux.HandleFunc("/running", HandleRunningPods(pods("web-0")))
	mux.HandleFunc("/stats", HandlePodStatsSummary(func(context.Context) (*statsv1alpha1.Summary, error) {
		return &statsv1alpha1.Summary{Node: statsv1alpha1.NodeStats{NodeName: "virtual"}}, nil
	}))
	mux.HandleFunc("/metrics", HandlePodMetricsResource(func(context.Context) ([]*dto.MetricFamily, error) {
		return []*dto.MetricFamily{{
			Name: ptr.To("up"), Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: ptr.To(1.0)}}},
		}}, nil
	}))
	return mux
}

func TestSingleHandlers(t *testing.T) {
	for path, want := range map[string]string{
		"/logs/shop/web-0/app": "one\n",
		"/running":             `"name":"web-0"`,
		"/stats":               `"nodeName":"virtual"`,
		"/metrics":             "up 1\n",
	} {
		if w := ask(ownMux(), "GET", path); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %q, want 200 and %q", path, w.Code, w.Body, want)
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"logs": HandleContainerLogs(nil), "exec": HandleContainerExec(nil), "attach": HandleContainerAttach(nil),
		"port-forward": HandlePortForward(nil), "running pods": HandleRunningPods(nil), "stats": HandlePodStatsSummary(nil),
		"metrics": HandlePodMetricsResource(nil),
	} {
		if w := ask(h, "GET", "/"); w.Code != http.StatusNotImplemented {
			t.Errorf("%s of no function: %d, want 501", name, w.Code)
		}
	}
}

func TestSingleStreamHandlers(t *testing.T) {
	server := httptest.NewServer(ownMux())
	defer server.Close()
	for path, want := range map[string]string{
		"/run/shop/web-0/app?command=ls&command=-l&output=1": "shop/web-0/app ls -l",
		"/join/shop/web-0/app?output=1":                      "shop/web-0/app",
	} {
		u, err := url.Parse(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		for name, protocol := range protocols {
			executor, err := protocol(&rest.Config{Host: server.URL}, u)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out}); err != nil || out.String() != want {
				t.Errorf("%s over %s: %q, %v, want %q", path, name, out.String(), err, want)
			}
		}
	}
}

// The option bounds the time for opening the streams, and the others' defaults stay.
func TestSinglePortForwardHandler(t *testing.T) {
	server := httptest.NewServer(ownMux())
	defer server.Close()
	u, err := url.Parse(server.URL + "/portForward/shop/web-0")
	if err != nil {
		t.Fatal(err)
	}
	dialer, err := spdyDialer(&rest.Config{Host: server.URL}, u)
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := dialer.Dial("portforward.k8s.io")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	errs, err := conn.CreateStream(http.Header{"streamType": {"error"}, "port": {"80"}, "requestID": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 100)
	if n, err := errs.Read(text); !strings.Contains(string(text[:n]), "timed out waiting for streams") {
		t.Errorf("read %q, %v, want that the streams came too late", text[:n], err)
	}
}

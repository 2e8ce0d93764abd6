package export_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/replay/analysis"
)

// receiver is a collector: OpenTelemetry's own types read what it gets.
type receiver struct {
	t  *testing.T
	mu sync.Mutex
	// answers are the statuses of the next requests; then 200.
	answers []int
	times   []time.Time
	header  http.Header
	spans   []*tracev1.ResourceSpans
	refused int64
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil || req.Method != http.MethodPost || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		r.t.Errorf("found %s %s of %s, %v", req.Method, req.URL.Path, req.Header.Get("Content-Type"), err)
	}
	r.times, r.header = append(r.times, time.Now()), req.Header
	if len(r.answers) > 0 {
		status := r.answers[0]
		r.answers = r.answers[1:]
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("\x12\x04busy")) // google.rpc.Status
		return
	}
	var in collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &in); err != nil {
		r.t.Error(err)
	}
	r.spans = append(r.spans, in.ResourceSpans...)
	out := &collector.ExportTraceServiceResponse{}
	if r.refused > 0 {
		out.PartialSuccess = &collector.ExportTracePartialSuccess{RejectedSpans: r.refused, ErrorMessage: "too old"}
	}
	answer, err := proto.Marshal(out)
	if err != nil {
		r.t.Error(err)
	}
	_, _ = w.Write(answer)
}

// RoundTrip answers without a connection, so that a test may let time pass in its bubble.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Result(), nil
}

// readOTLP reads JSON lines: as protobuf's JSON, but for the ids, which are in hexadecimal and not in base64.
func readOTLP(t *testing.T, text []byte) (out []*tracev1.ResourceSpans) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var doc map[string]any
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		for _, rs := range doc["resourceSpans"].([]any) {
			for _, ss := range rs.(map[string]any)["scopeSpans"].([]any) {
				for _, s := range ss.(map[string]any)["spans"].([]any) {
					s := s.(map[string]any)
					for _, key := range []string{"traceId", "spanId", "parentSpanId"} {
						if id, ok := s[key].(string); ok {
							raw, err := hex.DecodeString(id)
							if err != nil {
								t.Fatal(err)
							}
							s[key] = base64.StdEncoding.EncodeToString(raw)
						}
					}
				}
			}
		}
		again, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var in tracev1.TracesData
		if err := protojson.Unmarshal(again, &in); err != nil {
			t.Fatal(err)
		}
		out = append(out, in.ResourceSpans...)
	}
	return out
}

func start(t *testing.T, r *receiver) *export.Collector {
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	to, err := export.TracesURL(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &export.Collector{URL: to, Client: srv.Client(), Clock: clock.RealClock{}, Header: http.Header{"Api-Key": {"mine"}}}
}

// A collector gets what the file holds, and that is what the analysis holds.
func TestOTLPHoldsTheAnalysis(t *testing.T) {
	for seed := range uint64(20) {
		holdsOTLP(t, made(seed, int(seed)*4))
	}
}

func holdsOTLP(t *testing.T, a *analysis.Analysis) {
	t.Helper()
	r := &receiver{t: t}
	c := start(t, r)
	sent, err := c.Send(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if r.header.Get("Api-Key") != "mine" {
		t.Errorf("found header %v, want the one that was given", r.header)
	}
	file := readOTLP(t, write(t, a, export.OTLP, ""))
	if len(file) != len(r.spans) {
		t.Fatalf("the file has %d messages, the collector got %d", len(file), len(r.spans))
	}
	byID := map[string]*tracev1.Span{}
	names, events, total := map[string]int{}, 0, 0
	for i, rs := range file {
		if !proto.Equal(rs, r.spans[i]) {
			t.Fatalf("message %d: the file has\n%v\nthe collector got\n%v", i, rs, r.spans[i])
		}
		for _, s := range rs.ScopeSpans[0].Spans {
			total++
			events += len(s.Events)
			if byID[string(s.SpanId)] != nil || len(s.SpanId) != 8 || len(s.TraceId) != 16 {
				t.Errorf("span %s has the id %x of trace %x", s.Name, s.SpanId, s.TraceId)
			}
			byID[string(s.SpanId)] = s
			kind, _, _ := strings.Cut(s.Name, " ")
			names[kind]++
			if parent := byID[string(s.ParentSpanId)]; len(s.ParentSpanId) > 0 {
				if parent == nil || string(parent.TraceId) != string(s.TraceId) {
					t.Fatalf("span %s has no parent in its trace before it", s.Name)
				}
				if s.StartTimeUnixNano < parent.StartTimeUnixNano || s.EndTimeUnixNano > parent.EndTimeUnixNano || s.EndTimeUnixNano < s.StartTimeUnixNano {
					t.Errorf("span %s is not within its parent %s", s.Name, parent.Name)
				}
			}
		}
	}
	if total != sent || events != len(a.Findings) || names["roll"] != len(a.Rolls) {
		t.Errorf("found %d spans, %d events and %v, want %d spans, an event for each of %d findings", total, events, names, sent, len(a.Findings))
	}
	inRolls := 0
	for _, n := range a.Nodes {
		in := 0
		for _, r := range a.Rolls {
			from, to := time.Duration(0), a.Tape.Duration
			if n.Joined != nil {
				from = n.Joined.At
			}
			if n.Requested != nil {
				from = n.Requested.At
			}
			if n.Terminated != nil {
				to = n.Terminated.At
			}
			if r.Group == n.Group && r.Pods == "" && from <= r.End.At && to >= r.Start.At {
				in++
			}
		}
		inRolls += max(in, 1) // else in the tape's trace
	}
	if names["node"] != inRolls {
		t.Errorf("found %d spans of nodes, want %d", names["node"], inRolls)
	}
}

// What a collector asks for again is sent again when it says; what it refuses isn't.
func TestOTLPTriesAgain(t *testing.T) {
	a := made(1, 2)
	for _, c := range []struct {
		name    string
		answers []int
		refused int64
		took    time.Duration
		want    string
	}{
		{"again", []int{503, 429, 502, 504}, 0, (7 + 7 + 7 + 8) * time.Second, ""},
		{"never", []int{503, 503, 503, 503, 503}, 0, 29 * time.Second, "503 Service Unavailable: busy"},
		{"refused", []int{400}, 0, 0, "400 Bad Request: busy"},
		{"partly", nil, 3, 0, "it refused 3 spans: too old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{t: t, answers: c.answers, refused: c.refused}
				to := &export.Collector{URL: "http://collector/v1/traces", Client: &http.Client{Transport: r}, Clock: clock.RealClock{}}
				begin := time.Now()
				_, err := to.Send(t.Context(), a)
				if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
					t.Errorf("found %v, want %q", err, c.want)
				}
				if took := time.Since(begin); took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
			})
		})
	}
}

// A collector that isn't there is tried until the context ends.
func TestOTLPObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := start(t, &receiver{t: t})
	if _, err := c.Send(ctx, made(1, 2)); err == nil {
		t.Error("found no error, want the context's")
	}
}

// Spans have times of day, so a tape without one has none.
func TestOTLPWantsAStart(t *testing.T) {
	for _, begin := range []time.Time{{}, time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		a := made(1, 2)
		a.Tape.Start = begin
		if err := export.Write(io.Discard, a, export.OTLP, ""); err == nil || !strings.Contains(err.Error(), "metadata.start") {
			t.Errorf("%s: found %v, want an error that names metadata.start", begin, err)
		}
		for _, f := range []export.Format{export.Perfetto, export.OpenMetrics, export.CSV, export.Parquet} {
			write(t, a, f, export.Nodes)
		}
	}
}

func TestTracesURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://localhost:4318":          "http://localhost:4318/v1/traces",
		"http://localhost:4318/":         "http://localhost:4318/v1/traces",
		"https://otlp.example/a":         "https://otlp.example/a/v1/traces",
		"https://otlp.example/v1/traces": "https://otlp.example/v1/traces",
	} {
		if got, err := export.TracesURL(in); got != want || err != nil {
			t.Errorf("%s: found %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "localhost:4318", "ftp://localhost", "http://", "\x7f"} {
		if got, err := export.TracesURL(in); err == nil {
			t.Errorf("%q: found %s, want an error", in, got)
		}
	}
}

func TestHeaders(t *testing.T) {
	got, err := export.Headers("api-key=my%20key, other=a=b,")
	if err != nil || got.Get("api-key") != "my key" || got.Get("other") != "a=b" || len(got) != 2 {
		t.Errorf("found %v, %v", got, err)
	}
	for _, in := range []string{"key", "=value", "key=%zz"} {
		if _, err := export.Headers(in); err == nil || strings.Contains(err.Error(), "zz") {
			t.Errorf("%q: found %v, want an error without the value", in, err)
		}
	}
}

// Package collector sends nodesim's spans to OpenTelemetry's own collector: its OTLP receiver takes them, and its reader of JSON
// lines reads the file. It is a module of its own, so that the collector isn't one of nodesim's dependencies.
package collector

import (
	"bytes"
	"net"
	"net/http"
	"slices"
	"testing"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/confignet"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

func analyse(t *testing.T, tape string) *analysis.Analysis {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Tape(r, analysis.Options{Options: o, Series: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return a
}

// The collector has the spans that were sent, and reads the same ones from the file.
func TestCollector(t *testing.T) {
	a := analyse(t, "../../examples/surge.yaml")
	got := new(consumertest.TracesSink)
	to := start(t, got)
	sent, err := (&export.Collector{URL: to, Client: http.DefaultClient, Clock: clock.RealClock{}}).Send(t.Context(), a)
	if err != nil || sent == 0 || got.SpanCount() != sent {
		t.Fatalf("sent %d spans, %v: the collector has %d", sent, err, got.SpanCount())
	}
	var file bytes.Buffer
	if err := export.Write(&file, a, export.OTLP, ""); err != nil {
		t.Fatal(err)
	}
	var read []ptrace.Traces
	for line := range bytes.Lines(file.Bytes()) {
		traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, traces)
	}
	if sent, read := texts(t, got.AllTraces()), texts(t, read); !slices.Equal(sent, read) {
		t.Errorf("the collector was sent\n%s\nand reads\n%s", sent, read)
	}
}

// start starts a receiver of OTLP/HTTP, and returns where it takes spans.
func start(t *testing.T, sink *consumertest.TracesSink) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	config.Protocols.HTTP = configoptional.Some(otlpreceiver.HTTPConfig{
		ServerConfig: confighttp.ServerConfig{NetAddr: confignet.AddrConfig{Transport: confignet.TransportTypeTCP, Endpoint: address}}, TracesURLPath: "/v1/traces",
	})
	r, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(factory.Type()), config, sink)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	to, err := export.TracesURL("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func texts(t *testing.T, all []ptrace.Traces) (out []string) {
	t.Helper()
	for _, traces := range all {
		text, err := new(ptrace.JSONMarshaler).MarshalTraces(traces)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

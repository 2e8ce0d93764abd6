package daemon

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bytes"
	"github.com/nodesim/nodesim/internal/promtext"
	corerecorder "github.com/nodesim/nodesim/recorder"
	recorder "github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// The metrics are read by Prometheus' own parser.
func TestMetricsAreRead(t *testing.T) {
	now := time.Unix(1000, 0)
	s := recorder.Stats{
		Recording: true, Waiting: true, Watches: map[string]bool{"nodes": true}, Events: 7, Open: []trigger.Roll{{Group: "a\"b", Began: now.Add(-time.Second), Since: now.Add(-time.Minute)}},
		Drains: map[string]time.Duration{"a\"b": 5 * time.Second}, Tapes: map[trigger.Outcome]int{trigger.Complete: 2},
	}
	var text bytes.Buffer
	for _, f := range families(s, store.UploadState{Waiting: 3}, true, now) {
		if err := promtext.Write(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(&text)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"recording": 1, "waiting": 1, "watch_open": 1, "leader": 1, "rolls_open": 1, "roll_seconds": 60, "drain_seconds": 5, "uploads_waiting": 3, "last_event_timestamp_seconds": 0,
	} {
		if f := got["nodesim_recorder_"+name]; f == nil || len(f.Metric) != 1 || f.Metric[0].Gauge.GetValue() != want {
			t.Errorf("%s: found %v, want %g", name, f, want)
		}
	}
	if f := got["nodesim_recorder_tapes_total"]; f == nil || len(f.Metric) != 3 {
		t.Errorf("tapes_total: found %v, want one of each outcome", f)
	}
}

func TestProbes(t *testing.T) {
	d, err := recorder.New(recorder.Options{Dir: t.TempDir(), Record: corerecorder.Config{REST: &rest.Config{Host: "http://127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	h := (&service{daemon: d, uploader: &store.Uploader{}}).handler()
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/metrics": 200, "/else": 404} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s: found %d, want %d", path, w.Code, want)
		}
	}
}

// A recorder whose node group has no nodes yet does what it can.
func TestReadiness(t *testing.T) {
	for want, is := range map[string]recorder.Stats{
		"recording true": {Recording: true}, "waiting for the first node true": {Waiting: true}, "not recording false": {},
	} {
		if text, ready := readiness(is); fmt.Sprint(text, " ", ready) != want {
			t.Errorf("found %q, %t, want %s", text, ready, want)
		}
	}
}

// Two recorders don't share a folder.
func TestAlone(t *testing.T) {
	dir := t.TempDir()
	release, err := alone(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone(dir); err == nil || !strings.Contains(err.Error(), "another recording is writing it") {
		t.Errorf("found the error %v, want that another one is there", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

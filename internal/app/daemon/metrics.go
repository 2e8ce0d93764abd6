package daemon

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/promtext"
	recorder "github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/store"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/utils/ptr"
)

// families are the metrics, as docs/daemon.md lists them.
func families(s recorder.Stats, up store.UploadState, leads bool, now time.Time) []*dto.MetricFamily {
	rolls, ages, drains := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, r := range s.Open {
		rolls[r.Group]++
		ages[r.Group] = now.Sub(r.Since).Seconds()
	}
	watches := map[string]float64{}
	for resource, open := range s.Watches {
		watches[resource] = truth(open)
	}
	for group, d := range s.Drains {
		drains[group] = d.Seconds()
	}
	tapes, failures := map[string]float64{"complete": 0, "unfinished": 0, "interrupted": 0}, map[string]float64{"record": 0, "history": 0, "tape": 0}
	for outcome, n := range s.Tapes {
		tapes[string(outcome)] = float64(n)
	}
	for kind, n := range s.Errors {
		failures[kind] = float64(n)
	}
	return []*dto.MetricFamily{
		gauge("recording", "1 while it records: a watch that breaks is opened again.", "", one(truth(s.Recording))),
		gauge("waiting", "1 while it waits for the first node of its node group or selector, and can record nothing.", "", one(truth(s.Waiting))),
		gauge("watch_open", "1 while the watch of a resource that is recorded is open.", "resource", watches),
		gauge("leader", "1 in the replica that makes tapes.", "", one(truth(leads))),
		gauge("rolls_open", "Rolls that are under way.", "group", rolls),
		gauge("roll_seconds", "Time since a roll that is under way began.", "group", ages),
		gauge("drain_seconds", "Time since the node of the group that drains longest was first on its way out.", "group", drains),
		counter("events_total", "Lines that were recorded.", "", one(float64(s.Events))),
		counter("gaps_total", "Lines that say that events may be missing.", "", one(float64(s.Gaps))),
		gauge("last_gap_timestamp_seconds", "Time of the last line that says that events may be missing; 0 where there was none.", "", one(seconds(s.LastGap))),
		gauge("last_event_timestamp_seconds", "Time of the last line; 0 before the first.", "", one(seconds(s.Last))),
		gauge("history_bytes", "Size of the recording that is kept.", "", one(float64(s.HistoryBytes))),
		gauge("tapes_bytes", "Size of the folder of tapes.", "", one(float64(s.TapesBytes))),
		counter("tapes_total", "Tapes that were finished.", "outcome", tapes),
		counter("errors_total", "Errors that didn't end the recorder.", "kind", failures),
		gauge("uploads_waiting", "Tapes that the store doesn't have.", "", one(float64(up.Waiting))),
		gauge("upload_oldest_timestamp_seconds", "End of the oldest roll whose tape waits; 0 where none does.", "", one(seconds(up.Oldest))),
		counter("uploads_total", "Tapes that the store has taken.", "", one(float64(up.Uploaded))),
		counter("upload_failures_total", "Uploads that failed.", "", one(float64(up.Failures))),
	}
}

func (s *service) metrics(w http.ResponseWriter, _ *http.Request) {
	var text bytes.Buffer
	for _, f := range families(s.daemon.Stats(), s.uploader.State(), s.elected == nil || s.elected.leads(), time.Now()) {
		if err := promtext.Write(&text, f); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(text.Bytes())
}

func one(f float64) map[string]float64 { return map[string]float64{"": f} }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func gauge(name, help, label string, values map[string]float64) *dto.MetricFamily {
	return family(dto.MetricType_GAUGE, name, help, label, values, func(m *dto.Metric, f float64) { m.Gauge = &dto.Gauge{Value: &f} })
}

func counter(name, help, label string, values map[string]float64) *dto.MetricFamily {
	return family(dto.MetricType_COUNTER, name, help, label, values, func(m *dto.Metric, f float64) { m.Counter = &dto.Counter{Value: &f} })
}

func family(kind dto.MetricType, name, help, label string, values map[string]float64, set func(*dto.Metric, float64)) *dto.MetricFamily {
	f := &dto.MetricFamily{Name: ptr.To("nodesim_recorder_" + name), Help: ptr.To(help), Type: kind.Enum()}
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		m := &dto.Metric{}
		if label != "" {
			m.Label = []*dto.LabelPair{{Name: ptr.To(label), Value: ptr.To(k)}}
		}
		set(m, values[k])
		f.Metric = append(f.Metric, m)
	}
	return f
}

// Package promtext writes metrics in the text format of Prometheus.
package promtext

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	dto "github.com/prometheus/client_model/go"
)

// Write writes a family of metrics in Prometheus's text format, as expfmt of prometheus/common does, which links three
// packages more. Names are those that each version of Prometheus reads.
func Write(to *bytes.Buffer, family *dto.MetricFamily) error {
	name := family.GetName()
	if !plainName().MatchString(name) {
		return fmt.Errorf("metric %q: want a name of letters, digits, colons and _", name)
	}
	if family.Help != nil {
		fmt.Fprintf(to, "# HELP %s %s\n", name, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(family.GetHelp()))
	}
	kind := family.GetType()
	if kind == dto.MetricType_GAUGE_HISTOGRAM {
		kind = dto.MetricType_HISTOGRAM // the format has no type of its own for it
	}
	fmt.Fprintf(to, "# TYPE %s %s\n", name, strings.ToLower(kind.String()))
	for _, m := range family.Metric {
		samples, err := samplesOf(kind, m)
		if err != nil {
			return fmt.Errorf("metric %q: %w", name, err)
		}
		for _, s := range samples {
			to.WriteString(name + s.suffix)
			if err := writeLabels(to, m.Label, s.label); err != nil {
				return fmt.Errorf("metric %q: %w", name, err)
			}
			to.WriteString(" " + number(s.value))
			if m.TimestampMs != nil {
				fmt.Fprintf(to, " %d", m.GetTimestampMs())
			}
			to.WriteByte('\n')
		}
	}
	return nil
}

// plainName is a name of a metric. That of a label has no colon.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`) })

// A sample is one line of a metric.
type sample struct {
	suffix string
	label  string // of a quantile or a bucket, with its value
	value  float64
}

// samplesOf are the lines of one metric. It has to have what its family's type says.
func samplesOf(kind dto.MetricType, m *dto.Metric) ([]sample, error) {
	switch {
	case kind == dto.MetricType_COUNTER && m.Counter != nil:
		return []sample{{value: m.Counter.GetValue()}}, nil
	case kind == dto.MetricType_GAUGE && m.Gauge != nil:
		return []sample{{value: m.Gauge.GetValue()}}, nil
	case kind == dto.MetricType_UNTYPED && m.Untyped != nil:
		return []sample{{value: m.Untyped.GetValue()}}, nil
	case kind == dto.MetricType_SUMMARY && m.Summary != nil:
		var all []sample
		for _, q := range m.Summary.Quantile {
			all = append(all, sample{"", `quantile="` + number(q.GetQuantile()) + `"`, q.GetValue()})
		}
		return append(all, sample{"_sum", "", m.Summary.GetSampleSum()}, sample{"_count", "", float64(m.Summary.GetSampleCount())}), nil
	case kind == dto.MetricType_HISTOGRAM && m.Histogram != nil:
		return samplesOfHistogram(m.Histogram), nil
	}
	return nil, fmt.Errorf("found no %s in it: want one, as its family says", strings.ToLower(kind.String()))
}

// samplesOfHistogram has a last bucket without a bound. Counts may be given as floats.
func samplesOfHistogram(h *dto.Histogram) []sample {
	count := orElse(h.GetSampleCountFloat(), h.GetSampleCount())
	var all []sample
	unbounded := false
	for _, b := range h.Bucket {
		all = append(all, sample{"_bucket", `le="` + number(b.GetUpperBound()) + `"`, orElse(b.GetCumulativeCountFloat(), b.GetCumulativeCount())})
		unbounded = unbounded || math.IsInf(b.GetUpperBound(), 1)
	}
	if !unbounded {
		all = append(all, sample{"_bucket", `le="+Inf"`, count})
	}
	return append(all, sample{"_sum", "", h.GetSampleSum()}, sample{"_count", "", count})
}

func orElse(f float64, n uint64) float64 {
	if f == 0 {
		return float64(n)
	}
	return f
}

func writeLabels(to *bytes.Buffer, labels []*dto.LabelPair, last string) error {
	var all []string
	for _, l := range labels {
		if name := l.GetName(); !plainName().MatchString(name) || strings.Contains(name, ":") {
			return fmt.Errorf("label %q: want a name of letters, digits and _", name)
		}
		all = append(all, l.GetName()+`="`+strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(l.GetValue())+`"`)
	}
	if last != "" {
		all = append(all, last)
	}
	if len(all) > 0 {
		to.WriteString("{" + strings.Join(all, ",") + "}")
	}
	return nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

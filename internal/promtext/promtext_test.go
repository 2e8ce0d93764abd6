package promtext

import (
	"bytes"
	"math"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"k8s.io/utils/ptr"
)

// TestWrite compares the text with expfmt's.
func TestWrite(t *testing.T) {
	labels := []*dto.LabelPair{{Name: ptr.To("pod"), Value: ptr.To("a\"b\\c\nd")}, {Name: ptr.To("namespace"), Value: ptr.To("")}}
	for _, family := range []*dto.MetricFamily{
		{Name: ptr.To("node_cpu_usage_seconds_total"), Help: ptr.To("Of \\ the\nnode"), Type: dto.MetricType_COUNTER.Enum(), Metric: []*dto.Metric{
			{Counter: &dto.Counter{Value: ptr.To(12.5)}, TimestampMs: ptr.To(int64(-1700000000000))}, {Counter: &dto.Counter{}, Label: labels},
		}},
		{Name: ptr.To("a:b"), Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{
			{Gauge: &dto.Gauge{Value: ptr.To(math.Inf(-1))}}, {Gauge: &dto.Gauge{Value: ptr.To(math.NaN())}}, {Gauge: &dto.Gauge{Value: ptr.To(1.5e21)}},
			{Gauge: &dto.Gauge{Value: ptr.To(-1.0)}}, {Gauge: &dto.Gauge{Value: ptr.To(1e-7)}}, {Gauge: &dto.Gauge{Value: ptr.To(1.0)}},
		}},
		{Name: ptr.To("u"), Help: ptr.To(""), Type: dto.MetricType_UNTYPED.Enum(), Metric: []*dto.Metric{{Untyped: &dto.Untyped{Value: ptr.To(2.0)}, Label: labels[:1]}}},
		{Name: ptr.To("s"), Type: dto.MetricType_SUMMARY.Enum(), Metric: []*dto.Metric{{Label: labels, Summary: &dto.Summary{
			SampleCount: ptr.To(uint64(3)), SampleSum: ptr.To(4.25), Quantile: []*dto.Quantile{{Quantile: ptr.To(0.99), Value: ptr.To(7.0)}},
		}}}},
		{Name: ptr.To("h"), Type: dto.MetricType_HISTOGRAM.Enum(), Metric: []*dto.Metric{
			{Histogram: &dto.Histogram{SampleCount: ptr.To(uint64(3)), SampleSum: ptr.To(4.25), Bucket: []*dto.Bucket{{UpperBound: ptr.To(0.5), CumulativeCount: ptr.To(uint64(2))}}}},
			{Label: labels, Histogram: &dto.Histogram{SampleCountFloat: ptr.To(3.5), Bucket: []*dto.Bucket{{UpperBound: ptr.To(math.Inf(1)), CumulativeCountFloat: ptr.To(3.5)}}}},
		}},
		{Name: ptr.To("g"), Type: dto.MetricType_GAUGE_HISTOGRAM.Enum(), Metric: []*dto.Metric{{Histogram: &dto.Histogram{SampleCount: ptr.To(uint64(1))}}}},
	} {
		var got, want bytes.Buffer
		if err := Write(&got, family); err != nil {
			t.Errorf("%s: %v", family.GetName(), err)
		}
		if _, err := expfmt.MetricFamilyToText(&want, family); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("found\n%s\nexpfmt writes\n%s", got.String(), want.String())
		}
	}
}

// TestWriteRefuses proves that nothing that a reader would misread is written.
func TestWriteRefuses(t *testing.T) {
	gauge := &dto.Metric{Gauge: &dto.Gauge{}}
	for want, family := range map[string]*dto.MetricFamily{
		`metric ""`:    {Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{gauge}},
		`metric "a b"`: {Name: ptr.To("a b"), Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{gauge}},
		"no counter":   {Name: ptr.To("a"), Type: dto.MetricType_COUNTER.Enum(), Metric: []*dto.Metric{gauge}},
		`label "a:b"`: {Name: ptr.To("a"), Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{
			{Gauge: &dto.Gauge{}, Label: []*dto.LabelPair{{Name: ptr.To("a:b")}}},
		}},
	} {
		if err := Write(&bytes.Buffer{}, family); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, want one about %s", err, want)
		}
	}
}

package export

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// writeOpenMetrics writes the figures of a tape in OpenMetrics 1.0
// (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md). Only gauges and histograms are used, for
// which Prometheus' older text format has the same lines, so that both can be read from it: a tape is over, so that nothing
// counts on.
func writeOpenMetrics(w io.Writer, a *analysis.Analysis) error {
	m := &metrics{Writer: bufio.NewWriterSize(w, 64<<10)}
	m.tape(a)
	m.rolls(a)
	m.nodes(a)
	m.workloads(a)
	m.budgets(a)
	m.findings(a)
	m.line("# EOF")
	return m.Flush()
}

type metrics struct{ *bufio.Writer }

// labels are pairs of a name and a value.
type labels []string

// line writes a line; Flush returns the error of any write.
func (m *metrics) line(parts ...string) {
	for _, p := range append(parts, "\n") {
		_, _ = m.WriteString(p)
	}
}

// family begins a metric. One whose name ends in seconds has that unit.
func (m *metrics) family(name, kind, help string) {
	m.line("# HELP ", name, " ", help)
	m.line("# TYPE ", name, " ", kind)
	if strings.HasSuffix(name, "_seconds") {
		m.line("# UNIT ", name, " seconds")
	}
}

func (m *metrics) sample(name string, l labels, v float64) {
	var b strings.Builder
	for i := 0; i < len(l); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(l[i] + `="` + escapeLabel.Replace(text(l[i+1])) + `"`)
	}
	set := ""
	if b.Len() > 0 {
		set = "{" + b.String() + "}"
	}
	m.line(name, set, " ", number(v))
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// distinct are the labels of n things that have different names. Written as text, two names may be one: then the last label says
// the how manyth it is.
func distinct(n int, of func(i int) labels) []labels {
	all, taken, twins := make([]labels, n), map[string]bool{}, map[string]int{}
	for i := range all {
		l := labels(texts(of(i)))
		name, key := l[len(l)-1], strings.Join(l, "\x00")
		for written := key; taken[written]; written = strings.Join(l, "\x00") {
			twins[key]++
			l[len(l)-1] = name + " (" + strconv.Itoa(twins[key]+1) + ")"
		}
		taken[strings.Join(l, "\x00")] = true
		all[i] = l
	}
	return all
}

// bounds are the upper bounds of histograms, in seconds: of a grace period up to an hour.
var bounds = []float64{1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, math.Inf(1)}

// histograms collects observations by their labels, in the order of the first ones.
type histograms struct {
	order []string
	by    map[string]*observations
}

type observations struct {
	labels labels
	values []time.Duration
}

func (h *histograms) add(d time.Duration, l ...string) {
	l = texts(l)
	key := strings.Join(l, "\x00")
	if h.by[key] == nil {
		if h.by == nil {
			h.by = map[string]*observations{}
		}
		h.by[key] = &observations{labels: l}
		h.order = append(h.order, key)
	}
	h.by[key].values = append(h.by[key].values, d)
}

func (m *metrics) histogram(name, help string, h histograms) {
	m.family(name, "histogram", help)
	slices.Sort(h.order)
	for _, key := range h.order {
		o := h.by[key]
		var sum time.Duration
		for _, d := range o.values {
			sum += d
		}
		for _, bound := range bounds {
			within := 0
			for _, d := range o.values {
				if seconds(d) <= bound {
					within++
				}
			}
			le := number(bound)
			if !strings.ContainsAny(le, ".I") {
				le += ".0" // OpenMetrics, "Considerations: Canonical Numbers"
			}
			m.sample(name+"_bucket", append(slices.Clone(o.labels), "le", le), float64(within))
		}
		m.sample(name+"_sum", o.labels, seconds(sum))
		m.sample(name+"_count", o.labels, float64(len(o.values)))
	}
}

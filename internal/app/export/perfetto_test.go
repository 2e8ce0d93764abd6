package export_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/replay/analysis"
)

// perfettoTrace is a trace as a reader of https://github.com/google/perfetto, folder protos/perfetto/trace, sees it. The reader
// knows nothing of the writer: the numbers are those of the files that the comments name.
type perfettoTrace struct {
	tracks map[uint64]perfettoTrack
	order  []uint64
	events []perfettoEvent
}

type perfettoTrack struct {
	name    string
	parent  uint64
	counter bool
}

type perfettoEvent struct {
	at                     uint64
	kind, track            uint64
	category, name         string
	counter                int64
	flows, terminatedFlows []uint64
	args                   map[string]string
}

// fields calls visit with each field of a message.
func fields(t *testing.T, m []byte, visit func(number protowire.Number, v uint64, b []byte)) {
	t.Helper()
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			t.Fatalf("found no tag: %v", protowire.ParseError(n))
		}
		m = m[n:]
		var v uint64
		var b []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(m)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(m)
		default:
			t.Fatalf("field %d: found wire type %d", number, kind)
		}
		if n < 0 {
			t.Fatalf("field %d: %v", number, protowire.ParseError(n))
		}
		visit(number, v, b)
		m = m[n:]
	}
}

func readPerfetto(t *testing.T, text []byte) *perfettoTrace {
	t.Helper()
	tr := &perfettoTrace{tracks: map[uint64]perfettoTrack{}}
	fields(t, text, func(number protowire.Number, _ uint64, packet []byte) {
		if number != 1 { // trace.proto: Trace.packet
			t.Fatalf("field %d of the trace: want packets only", number)
		}
		var at, sequence uint64
		fields(t, packet, func(number protowire.Number, v uint64, b []byte) {
			switch number { // trace_packet.proto: TracePacket
			case 8:
				at = v
			case 10:
				sequence = v
			case 6: // clock_snapshot
			case 60:
				tr.track(t, b)
			case 11:
				tr.event(t, at, b)
			default:
				t.Errorf("field %d of a packet", number)
			}
		})
		if sequence == 0 {
			t.Error("a packet has no trusted_packet_sequence_id")
		}
	})
	return tr
}

func (tr *perfettoTrace) track(t *testing.T, m []byte) {
	var id uint64
	var k perfettoTrack
	fields(t, m, func(number protowire.Number, v uint64, b []byte) {
		switch number { // track_event/track_descriptor.proto: TrackDescriptor
		case 1:
			id = v
		case 2:
			k.name = string(b)
		case 5:
			k.parent = v
		case 8:
			k.counter = true
		case 11, 12: // child_ordering, sibling_order_rank
		default:
			t.Errorf("field %d of a track", number)
		}
	})
	if _, ok := tr.tracks[id]; ok || id == 0 {
		t.Errorf("track %s has uuid %d, which is 0 or another's", k.name, id)
	}
	if _, ok := tr.tracks[k.parent]; !ok && k.parent != 0 {
		t.Errorf("track %s comes before its parent", k.name)
	}
	tr.tracks[id], tr.order = k, append(tr.order, id)
}

func (tr *perfettoTrace) event(t *testing.T, at uint64, m []byte) {
	e := perfettoEvent{at: at, args: map[string]string{}}
	fields(t, m, func(number protowire.Number, v uint64, b []byte) {
		switch number { // track_event/track_event.proto: TrackEvent
		case 4:
			name, value := annotation(t, b)
			e.args[name] = value
		case 9:
			e.kind = v
		case 11:
			e.track = v
		case 22:
			e.category = string(b)
		case 23:
			e.name = string(b)
		case 30:
			e.counter = int64(v)
		case 47:
			e.flows = append(e.flows, v)
		case 48:
			e.terminatedFlows = append(e.terminatedFlows, v)
		default:
			t.Errorf("field %d of an event", number)
		}
	})
	if _, ok := tr.tracks[e.track]; !ok {
		t.Errorf("event %s is on a track that isn't there", e.name)
	}
	tr.events = append(tr.events, e)
}

func annotation(t *testing.T, m []byte) (name, value string) {
	fields(t, m, func(number protowire.Number, v uint64, b []byte) {
		switch number { // track_event/debug_annotation.proto: DebugAnnotation
		case 10:
			name = string(b)
		case 2:
			value = fmt.Sprint(v == 1)
		case 4:
			value = fmt.Sprint(int64(v))
		case 5:
			value = fmt.Sprint(math.Float64frombits(v))
		case 6:
			value = string(b)
		case 12:
			_, one := annotation(t, b)
			value = strings.TrimPrefix(value+","+one, ",")
		default:
			t.Errorf("field %d of an annotation", number)
		}
	})
	return name, value
}

// perfettoSlice is a begin with its end.
type perfettoSlice struct {
	perfettoEvent
	end uint64
}

// slices pairs begins with ends as the trace processor does: by track, the last begin first.
func (tr *perfettoTrace) slices(t *testing.T) (out []perfettoSlice) {
	open := map[uint64][]int{}
	var last uint64
	for _, e := range tr.events {
		if e.at < last {
			t.Errorf("event %s at %d comes after one at %d", e.name, e.at, last)
		}
		last = e.at
		switch e.kind {
		case 1: // TYPE_SLICE_BEGIN
			open[e.track] = append(open[e.track], len(out))
			out = append(out, perfettoSlice{perfettoEvent: e})
		case 2: // TYPE_SLICE_END
			stack := open[e.track]
			if len(stack) == 0 {
				t.Fatalf("a slice of track %s ends that didn't begin", tr.tracks[e.track].name)
			}
			out[stack[len(stack)-1]].end = e.at
			open[e.track] = stack[:len(stack)-1]
		}
	}
	for track, stack := range open {
		for _, i := range stack {
			t.Errorf("slice %s of track %s has no end", out[i].name, tr.tracks[track].name)
		}
	}
	return out
}

func write(t *testing.T, a *analysis.Analysis, format export.Format, rows export.Rows) []byte {
	t.Helper()
	var b, again bytes.Buffer
	if err := export.Write(&b, a, format, rows); err != nil {
		t.Fatal(err)
	}
	if err := export.Write(&again, a, format, rows); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("written again, %s has other bytes (%v)", format, err)
	}
	return b.Bytes()
}

// What a trace holds is what the analysis holds.
func TestPerfettoHoldsTheAnalysis(t *testing.T) {
	for seed := range uint64(20) {
		holdsPerfetto(t, made(seed, int(seed)))
	}
}

func holdsPerfetto(t *testing.T, a *analysis.Analysis) {
	t.Helper()
	tr := readPerfetto(t, write(t, a, export.Perfetto, ""))
	begin := uint64(a.Tape.Start.UnixNano())
	type life struct {
		category, name string
		from, to       time.Duration
	}
	var got, want []life
	out, in := map[uint64]perfettoSlice{}, map[uint64]perfettoSlice{}
	pods := 0
	for _, s := range tr.slices(t) {
		if s.category == "phase" || s.category == "wait" || s.category == "roll" || s.category == "path" {
			got = append(got, life{s.category, s.name, time.Duration(s.at - begin), time.Duration(s.end - begin)})
		}
		for _, f := range s.flows {
			out[f] = s
		}
		for _, f := range s.terminatedFlows {
			in[f] = s
		}
	}
	instants, counters := 0, 0
	for _, e := range tr.events {
		switch e.kind {
		case 3: // TYPE_INSTANT
			instants++
		case 4: // TYPE_COUNTER
			counters++
			if !tr.tracks[e.track].counter {
				t.Errorf("a value is on track %s, which has no counter", tr.tracks[e.track].name)
			}
		}
	}
	for _, r := range a.Rolls {
		want = append(want, life{"roll", "roll: " + string(r.Outcome), r.Start.At, r.End.At})
		for _, s := range r.Path {
			want = append(want, life{"path", string(s.Phase), s.From.At, s.To.At})
		}
	}
	for _, n := range a.Nodes {
		for _, s := range n.Spans {
			want = append(want, life{"phase", string(s.Phase), s.From.At, s.To.At})
		}
		for _, w := range n.Waits {
			want = append(want, life{"wait", string(w.Kind), w.From.At, w.To.At})
		}
	}
	less := func(a, b life) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(got, less)
	slices.SortFunc(want, less)
	if !slices.Equal(got, want) {
		t.Errorf("found slices %v, want %v", got, want)
	}
	levels := 0
	for _, b := range a.Budgets {
		levels += len(b.Allowed)
	}
	for _, w := range a.Workloads {
		levels += len(w.Available)
	}
	if counters != levels || instants != len(a.Findings)+len(a.Tape.Gaps)+len(a.Tape.Marks) {
		t.Errorf("found %d values and %d instants, want %d and one for each finding, gap and mark", counters, instants, levels)
	}
	nodes := 0
	for _, id := range tr.order {
		switch name := tr.tracks[id].name; {
		case strings.HasPrefix(name, "node "):
			nodes++
		case strings.HasPrefix(name, "pod "):
			pods++
		}
	}
	if nodes != len(a.Nodes) || pods != len(a.Pods) {
		t.Errorf("found tracks of %d nodes and %d pods, want %d and %d", nodes, pods, len(a.Nodes), len(a.Pods))
	}
	if len(out) != len(in) {
		t.Errorf("%d flows begin and %d end", len(out), len(in))
	}
	for id, from := range out {
		if to, ok := in[id]; !ok || to.at < from.at || to.args["workload"] != from.args["workload"] {
			t.Errorf("flow %d goes from %+v to %+v: want a later pod of its workload", id, from, in[id])
		}
	}
}

// A pod moves to the one that has its name, or else to the first that was created since.
func TestPodsMove(t *testing.T) {
	at := func(s int) *analysis.Moment { return &analysis.Moment{At: time.Duration(s) * time.Second, Line: s} }
	drained := analysis.Node{Name: "old", DrainBegan: at(10)}
	a := &analysis.Analysis{Nodes: []analysis.Node{drained}, Pods: []analysis.Pod{
		{Namespace: "shop", Name: "db-0", UID: "1", Workload: "StatefulSet/shop/db", Node: "old", Deleted: at(11), Gone: at(12), Evicted: true},
		{Namespace: "shop", Name: "db-1", UID: "2", Workload: "StatefulSet/shop/db", Node: "old", Deleted: at(13), Gone: at(14), Evicted: true},
		{Namespace: "shop", Name: "db-1", UID: "3", Workload: "StatefulSet/shop/db", Node: "new", Created: at(14)},
		{Namespace: "shop", Name: "db-0", UID: "4", Workload: "StatefulSet/shop/db", Node: "new", Created: at(15)},
		{Namespace: "shop", Name: "web-a", UID: "5", Workload: "Deployment/shop/web", Node: "old", Deleted: at(20)}, // deleted by a drain
		{Namespace: "shop", Name: "web-b", UID: "6", Workload: "Deployment/shop/web", Node: "new", Created: at(19)}, // too early for it
		{Namespace: "shop", Name: "web-c", UID: "7", Workload: "Deployment/shop/web", Node: "new", Created: at(21)},
		{Namespace: "shop", Name: "web-d", UID: "8", Workload: "Deployment/shop/web", Node: "new", Deleted: at(30)}, // scaled down
		{Namespace: "shop", Name: "web-e", UID: "9", Workload: "Deployment/shop/web", Node: "new", Created: at(31)},
		{Namespace: "shop", Name: "lost", UID: "10", Workload: "Deployment/shop/web", Node: "gone", Gone: at(32)}, // with its node
		{Namespace: "shop", Name: "web-f", UID: "11", Workload: "Deployment/shop/web", Created: at(33)},
		{Namespace: "shop", Name: "bare", UID: "12", Workload: "Pod/shop/bare", Node: "old", Deleted: at(20), Evicted: true},
	}}
	a.Tape.Start, a.Tape.Duration = time.Unix(1, 0), time.Minute
	tr := readPerfetto(t, write(t, a, export.Perfetto, ""))
	from, to := map[uint64]string{}, map[uint64]string{}
	for _, s := range tr.slices(t) {
		name := strings.TrimPrefix(tr.tracks[s.track].name, "pod shop/")
		for _, f := range s.flows {
			from[f] = name
		}
		for _, f := range s.terminatedFlows {
			to[f] = name
		}
	}
	var got []string
	for f, name := range from {
		got = append(got, name+" to "+to[f])
	}
	slices.Sort(got)
	want := []string{"db-0 to db-0", "db-1 to db-1", "lost to web-f", "web-a to web-c"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

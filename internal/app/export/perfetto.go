package export

import (
	"bufio"
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of Perfetto's trace that are written, in https://github.com/google/perfetto, folder protos/perfetto/trace.
const (
	tracePacket protowire.Number = 1 // trace.proto, Trace

	packetClockSnapshot   protowire.Number = 6 // trace_packet.proto, TracePacket
	packetTimestamp       protowire.Number = 8
	packetSequence        protowire.Number = 10 // trusted_packet_sequence_id
	packetTrackEvent      protowire.Number = 11
	packetTrackDescriptor protowire.Number = 60

	snapshotClocks protowire.Number = 1 // clock_snapshot.proto, ClockSnapshot
	clockID        protowire.Number = 1 // ClockSnapshot.Clock
	clockTimestamp protowire.Number = 2

	descriptorUUID     protowire.Number = 1 // track_event/track_descriptor.proto, TrackDescriptor
	descriptorName     protowire.Number = 2
	descriptorParent   protowire.Number = 5
	descriptorCounter  protowire.Number = 8
	descriptorOrdering protowire.Number = 11 // child_ordering
	descriptorRank     protowire.Number = 12 // sibling_order_rank
	counterUnit        protowire.Number = 3  // track_event/counter_descriptor.proto, CounterDescriptor

	eventAnnotations protowire.Number = 4 // track_event/track_event.proto, TrackEvent
	eventType        protowire.Number = 9
	eventTrack       protowire.Number = 11
	eventCategories  protowire.Number = 22
	eventName        protowire.Number = 23
	eventCounter     protowire.Number = 30 // counter_value
	eventFlows       protowire.Number = 47
	eventLastFlows   protowire.Number = 48 // terminating_flow_ids

	annotationBool   protowire.Number = 2 // track_event/debug_annotation.proto, DebugAnnotation
	annotationInt    protowire.Number = 4
	annotationDouble protowire.Number = 5
	annotationString protowire.Number = 6
	annotationName   protowire.Number = 10
	annotationArray  protowire.Number = 12 // array_values
)

// Values of enums in the same files.
const (
	clockRealtime    = 1 // ClockSnapshot.Clock.BuiltinClocks
	clockBoottime    = 6
	orderingExplicit = 3 // TrackDescriptor.ChildTracksOrdering: by rank
	unitCount        = 2 // CounterDescriptor.Unit
	typeSliceBegin   = 1 // TrackEvent.Type
	typeSliceEnd     = 2
	typeInstant      = 3
	typeCounter      = 4
)

// trace is a trace that is being put together. Events are kept until the end, since those of a trace are in the order of time.
type trace struct {
	base   uint64 // of timestamps: the tape's beginning
	seed   string
	used   map[uint64]bool
	head   []message // descriptors
	events []timed
}

type timed struct {
	at time.Duration
	message
}

// writePerfetto writes a trace: a track for the tape and its rolls, tracks of groups with those of their nodes in them, and in
// these the tracks of their waits and pods; flows from pods that left a node to those that came for them; findings, marks and
// gaps as instants; budgets and workloads as counters.
func writePerfetto(w io.Writer, a *analysis.Analysis) error {
	base, ok := epoch(a)
	t := &trace{base: uint64(base), seed: a.Tape.Name + "\x00" + a.Tape.Start.String(), used: map[uint64]bool{}}
	if ok {
		t.clocks()
	}
	t.tape(a)
	t.groups(a)
	t.counters(a)

	slices.SortStableFunc(t.events, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	out := bufio.NewWriterSize(w, 64<<10)
	var buf message
	for _, m := range t.head {
		buf = buf[:0]
		buf.bytes(tracePacket, m)
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	for _, e := range t.events {
		var packet message
		packet.varint(packetTimestamp, t.base+uint64(e.at))
		packet.varint(packetSequence, 1)
		packet.bytes(packetTrackEvent, e.message)
		buf = buf[:0]
		buf.bytes(tracePacket, packet)
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Flush()
}

// clocks says that the trace's clock is the time of day.
func (t *trace) clocks() {
	var snapshot, packet message
	for _, id := range []uint64{clockRealtime, clockBoottime} {
		var c message
		c.varint(clockID, id)
		c.varint(clockTimestamp, t.base)
		snapshot.bytes(snapshotClocks, c)
	}
	packet.varint(packetTimestamp, t.base)
	packet.varint(packetSequence, 1)
	packet.bytes(packetClockSnapshot, snapshot)
	t.head = append(t.head, packet)
}

// track adds a track and returns its uuid. Tracks of one parent are shown by their rank, those of the same rank by their name.
// key tells it from all others of this parent.
func (t *trace) track(parent uint64, name, key string, rank int, counter bool) uint64 {
	h := fnv.New64a()
	for _, part := range []string{t.seed, name, key} {
		h.Write([]byte(part + "\x00"))
	}
	h.Write(protowire.AppendVarint(nil, parent))
	id := h.Sum64()
	for id == 0 || t.used[id] {
		id++
	}
	t.used[id] = true
	var d, packet message
	d.varint(descriptorUUID, id)
	d.string(descriptorName, name)
	if parent != 0 {
		d.varint(descriptorParent, parent)
	}
	if counter {
		var c message
		c.varint(counterUnit, unitCount)
		d.bytes(descriptorCounter, c)
	}
	d.varint(descriptorOrdering, orderingExplicit)
	d.varint(descriptorRank, uint64(rank))
	packet.varint(packetSequence, 1)
	packet.bytes(packetTrackDescriptor, d)
	t.head = append(t.head, packet)
	return id
}

// arg is an argument of an event. Empty ones are left out.
type arg struct {
	name  string
	value any // string, int, bool, time.Duration, []string
}

// slice adds a slice, and what is added within it: events of the same time stay in the order in which they were added, so that
// the slices of a track nest.
func (t *trace) slice(track uint64, category, name string, from, to time.Duration, args []arg, within ...func()) {
	t.begin(event(typeSliceBegin, track, category, name, args), track, from, to, within...)
}

func (t *trace) begin(e message, track uint64, from, to time.Duration, within ...func()) {
	t.events = append(t.events, timed{from, e})
	for _, add := range within {
		add()
	}
	var last message
	last.varint(eventType, typeSliceEnd)
	last.varint(eventTrack, track)
	t.events = append(t.events, timed{max(from, to), last})
}

func (t *trace) instant(track uint64, category, name string, at time.Duration, args []arg) {
	t.events = append(t.events, timed{at, event(typeInstant, track, category, name, args)})
}

// counter adds a counter track with its values.
func (t *trace) counter(parent uint64, name string, rank int, levels []analysis.Level) {
	if len(levels) == 0 {
		return
	}
	id := t.track(parent, name, "", rank, true)
	for _, l := range levels {
		var e message
		e.varint(eventType, typeCounter)
		e.varint(eventTrack, id)
		e.varint(eventCounter, uint64(l.Value))
		t.events = append(t.events, timed{l.At, e})
	}
}

func event(kind, track uint64, category, name string, args []arg) message {
	var e message
	e.varint(eventType, kind)
	e.varint(eventTrack, track)
	e.string(eventCategories, category)
	e.string(eventName, name)
	for _, a := range args {
		if m := a.annotation(); m != nil {
			e.bytes(eventAnnotations, m)
		}
	}
	return e
}

func (a arg) annotation() message {
	var m message
	m.string(annotationName, a.name)
	switch v := a.value.(type) {
	case string:
		if v == "" {
			return nil
		}
		m.string(annotationString, text(v))
	case int:
		if v == 0 {
			return nil
		}
		m.varint(annotationInt, uint64(v))
	case bool:
		if !v {
			return nil
		}
		m.varint(annotationBool, 1)
	case time.Duration:
		m.double(annotationDouble, seconds(v))
	case []string:
		if len(v) == 0 {
			return nil
		}
		for _, s := range v {
			var value message
			value.string(annotationString, text(s))
			m.bytes(annotationArray, value)
		}
	}
	return m
}

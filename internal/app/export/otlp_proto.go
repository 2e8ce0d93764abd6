package export

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nodesim/nodesim/replay/analysis"
)

// The fields of OpenTelemetry's spans that are written, in https://github.com/open-telemetry/opentelemetry-proto, folder
// opentelemetry/proto. Those of a request are those of TracesData.
const (
	requestResourceSpans protowire.Number = 1 // collector/trace/v1/trace_service.proto, ExportTraceServiceRequest

	resourceSpansResource protowire.Number = 1 // trace/v1/trace.proto, ResourceSpans
	resourceSpansScopes   protowire.Number = 2
	scopeSpansScope       protowire.Number = 1 // ScopeSpans
	scopeSpansSpans       protowire.Number = 2
	spanTrace             protowire.Number = 1 // Span
	spanID                protowire.Number = 2
	spanParent            protowire.Number = 4
	spanName              protowire.Number = 5
	spanKind              protowire.Number = 6
	spanStart             protowire.Number = 7
	spanEnd               protowire.Number = 8
	spanAttributes        protowire.Number = 9
	spanEvents            protowire.Number = 11
	spanStatus            protowire.Number = 15
	eventTime             protowire.Number = 1 // Span.Event
	eventTitle            protowire.Number = 2
	eventAttributes       protowire.Number = 3
	statusMessage         protowire.Number = 2 // Status
	statusCode            protowire.Number = 3

	resourceAttributes protowire.Number = 1 // resource/v1/resource.proto, Resource
	scopeName          protowire.Number = 1 // common/v1/common.proto, InstrumentationScope
	keyValueKey        protowire.Number = 1 // KeyValue
	keyValueValue      protowire.Number = 2
	valueString        protowire.Number = 1 // AnyValue
	valueBool          protowire.Number = 2
	valueInt           protowire.Number = 3
	valueDouble        protowire.Number = 4
	valueArray         protowire.Number = 5
	arrayValues        protowire.Number = 1 // ArrayValue
)

// Values of enums in the same files.
const (
	kindInternal = 1 // Span.SpanKind
	statusError  = 2 // Status.StatusCode
)

// otlpProto is a request with these spans.
func otlpProto(a *analysis.Analysis, some []span) []byte {
	var res, name, scoped, spansOf, request message
	res.attributes(resourceAttributes, resource(a))
	name.string(scopeName, scope)
	scoped.bytes(scopeSpansScope, name)
	for _, s := range some {
		scoped.bytes(scopeSpansSpans, s.proto())
	}
	spansOf.bytes(resourceSpansResource, res)
	spansOf.bytes(resourceSpansScopes, scoped)
	request.bytes(requestResourceSpans, spansOf)
	return request
}

func (s span) proto() message {
	var m message
	m.bytes(spanTrace, s.trace[:])
	m.bytes(spanID, s.id[:])
	if s.parent != [8]byte{} {
		m.bytes(spanParent, s.parent[:])
	}
	m.string(spanName, s.name)
	m.varint(spanKind, kindInternal)
	m.fixed64(spanStart, s.from)
	m.fixed64(spanEnd, s.to)
	m.attributes(spanAttributes, s.attributes)
	for _, e := range s.events {
		var event message
		event.fixed64(eventTime, e.at)
		event.string(eventTitle, e.name)
		event.attributes(eventAttributes, e.attributes)
		m.bytes(spanEvents, event)
	}
	if s.failed != "" {
		var status message
		status.string(statusMessage, s.failed)
		status.varint(statusCode, statusError)
		m.bytes(spanStatus, status)
	}
	return m
}

func (m *message) attributes(field protowire.Number, all []attribute) {
	for _, a := range all {
		var value, pair message
		switch v := a.value.(type) {
		case string:
			value.string(valueString, v)
		case int:
			value.varint(valueInt, uint64(v))
		case bool:
			value.varint(valueBool, protowire.EncodeBool(v))
		case float64:
			value.double(valueDouble, v)
		case []string:
			var array message
			for _, s := range v {
				var one message
				one.string(valueString, s)
				array.bytes(arrayValues, one)
			}
			value.bytes(valueArray, array)
		}
		pair.string(keyValueKey, a.key)
		pair.bytes(keyValueValue, value)
		m.bytes(field, pair)
	}
}

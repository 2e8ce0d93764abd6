package export

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/nodesim/nodesim/replay/analysis"
)

type object = map[string]any

// otlpJSON is a message with these spans as one line of JSON with its end: names in camel case, ids in hexadecimal, enums as
// numbers, 64-bit numbers as strings (https://github.com/open-telemetry/opentelemetry-proto, docs/specification.md, "JSON
// Protobuf Encoding").
func otlpJSON(a *analysis.Analysis, some []span) ([]byte, error) {
	var list []object
	for _, s := range some {
		o := object{
			"traceId": hex.EncodeToString(s.trace[:]), "spanId": hex.EncodeToString(s.id[:]), "name": s.name, "kind": kindInternal,
			"startTimeUnixNano": strconv.FormatUint(s.from, 10), "endTimeUnixNano": strconv.FormatUint(s.to, 10),
		}
		if s.parent != [8]byte{} {
			o["parentSpanId"] = hex.EncodeToString(s.parent[:])
		}
		put(o, "attributes", jsonAttributes(s.attributes))
		var events []object
		for _, e := range s.events {
			event := object{"name": e.name, "timeUnixNano": strconv.FormatUint(e.at, 10)}
			put(event, "attributes", jsonAttributes(e.attributes))
			events = append(events, event)
		}
		put(o, "events", events)
		if s.failed != "" {
			o["status"] = object{"code": statusError, "message": s.failed}
		}
		list = append(list, o)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(object{"resourceSpans": []object{{
		"resource":   object{"attributes": jsonAttributes(resource(a))},
		"scopeSpans": []object{{"scope": object{"name": scope}, "spans": list}},
	}}})
	return b.Bytes(), err
}

func put(o object, key string, list []object) {
	if len(list) > 0 {
		o[key] = list
	}
}

func jsonAttributes(all []attribute) (out []object) {
	for _, a := range all {
		out = append(out, object{"key": a.key, "value": jsonValue(a.value)})
	}
	return out
}

func jsonValue(v any) object {
	switch v := v.(type) {
	case string:
		return object{"stringValue": v}
	case int:
		return object{"intValue": strconv.Itoa(v)}
	case bool:
		return object{"boolValue": v}
	case float64:
		return object{"doubleValue": v}
	case []string:
		var values []object
		for _, s := range v {
			values = append(values, object{"stringValue": s})
		}
		return object{"arrayValue": object{"values": values}}
	}
	return object{}
}

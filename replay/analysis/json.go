package analysis

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// AppendJSON appends the JSON form: one line without a line end, with every key as the fields' tags have it. Durations are
// decimal seconds, as in a feed: "92.412s". What noderoll.OneLine would replace is escaped, so that the line is safe to print
// and nothing is lost.
func (a *Analysis) AppendJSON(dst []byte) []byte { return appendValue(dst, reflect.ValueOf(a).Elem()) }

// MarshalJSON is AppendJSON. encoding/json escapes <, > and & on top of it.
func (a *Analysis) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
)

// appendValue appends a value of the types of an Analysis.
func appendValue(dst []byte, v reflect.Value) []byte {
	switch v.Type() {
	case durationType:
		dst = append(dst, '"')
		return append(noderoll.AppendSeconds(dst, time.Duration(v.Int())), '"')
	case timeType:
		text, _ := json.Marshal(v.Interface()) // a time that was read from a header
		return append(dst, text...)
	}
	switch v.Kind() {
	case reflect.String:
		return noderoll.AppendQuoted(dst, v.String())
	case reflect.Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, "null"...)
		}
		return appendValue(dst, v.Elem())
	case reflect.Slice:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, v.Index(i))
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	return append(appendFields(dst, v, len(dst)), '}')
}

// appendFields appends the fields of a struct; those of one that is embedded are among them. The object began at a place.
func appendFields(dst []byte, v reflect.Value, begun int) []byte {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			dst = appendFields(dst, v.Field(i), begun)
			continue
		}
		key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if (options == "omitempty" || options == "omitzero") && empty(v.Field(i)) {
			continue
		}
		if len(dst) > begun {
			dst = append(dst, ',')
		}
		dst = append(noderoll.AppendQuoted(dst, key), ':')
		dst = appendValue(dst, v.Field(i))
	}
	return dst
}

func empty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

package kubejson

import (
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// word is a string that many objects share.
func (d *Decoder) word(w *rawjson.Walker) string {
	s, _ := d.Words.Text(w.Value())
	return s
}

// text is a string of one object.
func text(w *rawjson.Walker) string {
	s, _ := rawjson.Unquote(w.Value())
	return s
}

// instant is a time; what is none is zero.
func instant(w *rawjson.Walker) metav1.Time { return metav1.Time{Time: Time(w.Value())} }

// moment is a time that may be missing.
func moment(w *rawjson.Walker) *metav1.Time {
	raw := w.Value()
	if string(raw) == "null" {
		return nil
	}
	return &metav1.Time{Time: Time(raw)}
}

// Time returns the time that raw is in quotes, or zero.
func Time(raw []byte) (t time.Time) {
	if len(raw) < 2 || raw[0] != '"' || t.UnmarshalText(raw[1:len(raw)-1]) != nil {
		return time.Time{}
	}
	return t
}

// Integer returns the whole number that raw is.
func Integer(raw []byte) (n int64, ok bool) {
	digits := raw
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, b := range digits {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = 10*n + int64(b-'0')
	}
	if len(digits) < len(raw) {
		n = -n
	}
	return n, true
}

func number(w *rawjson.Walker) int64 {
	n, _ := Integer(w.Value())
	return n
}

// small is a whole number of 32 bits; a greater one is cut.
func small(w *rawjson.Walker) int32 { return cut(w.Value()) }

func cut(raw []byte) int32 {
	n, _ := Integer(raw)
	const most = 1<<31 - 1
	return int32(min(max(n, -most), most))
}

// amount is a number or a percentage.
func amount(w *rawjson.Walker) *intstr.IntOrString {
	raw := w.Value()
	if s, ok := rawjson.Unquote(raw); ok {
		v := intstr.FromString(s)
		return &v
	}
	if _, ok := Integer(raw); !ok {
		return nil
	}
	v := intstr.FromInt32(cut(raw))
	return &v
}

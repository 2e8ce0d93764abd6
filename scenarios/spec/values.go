package spec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// enum is a text that is one of a few.
type enum interface{ values() []string }

// valuesOf are the texts that v may be, or none where it is no enum.
func valuesOf(v any) (known []string) {
	switch v := v.(type) {
	case enum:
		return v.values()
	case model.Provider:
		for _, p := range model.Providers() {
			known = append(known, string(p))
		}
	case model.OS:
		for _, p := range model.Providers() {
			for _, os := range model.OSes(p) {
				if !slices.Contains(known, string(os)) {
					known = append(known, string(os))
				}
			}
		}
	}
	return known
}

// plain reports whether v is a mapping of keys, and no value with a form of its own.
func (d *decoder) plain(v reflect.Value) bool {
	switch v.Interface().(type) {
	case time.Time, resource.Quantity, Dist, IntOrPercent, PodSpec, Selector:
		return false
	}
	return true
}

// value fills v if it is a single value, whatever its form.
func (d *decoder) value(n *node, v reflect.Value, path string, r rules) (done bool, err *Error) {
	var wanted string
	switch p := v.Addr().Interface().(type) {
	case *time.Duration:
		*p, wanted = parseDuration(n, r)
	case *time.Time:
		*p, wanted = parseTime(n)
	case *resource.Quantity:
		*p, wanted = parseQuantity(n, r)
	case *IntOrPercent:
		*p, wanted = parseIntOrPercent(n)
	case *Percent:
		*p, wanted = parsePercent(n)
	case *uint64:
		*p, wanted = parseSeed(n)
	case *Scalar:
		*p, wanted = parseScalar(n)
	case *bool:
		*p = n.text == "true"
		if n.kind != isBool || n.text != "true" && n.text != "false" {
			wanted = "true or false"
		}
	case *int:
		*p, wanted = parseInt(n, r)
	case *Dist:
		return true, d.dist(n, p, path, r)
	case *Timings:
		return true, d.timings(n, p, path)
	case *Amounts:
		return true, d.amounts(n, p, path)
	case *PodSpec:
		return true, d.podSpec(n, p, path)
	case *Selector:
		return true, d.selector(n, p, path)
	default:
		return d.word(n, v, path, r)
	}
	if wanted != "" {
		return true, d.at(n, path, n.String(), wanted)
	}
	return true, nil
}

// word fills v if it is text.
func (d *decoder) word(n *node, v reflect.Value, path string, r rules) (bool, *Error) {
	if v.Kind() != reflect.String {
		return false, nil
	}
	if n.kind != isText {
		return true, d.notText(n, path)
	}
	if known := valuesOf(v.Interface()); known != nil {
		if !slices.Contains(known, n.text) {
			err := d.at(n, path, n.String(), list(known))
			err.Remedy = didYouMean(phrase.Closest(n.text, known))
			return true, err
		}
	} else if err := d.form(n, path, r.form); err != nil {
		return true, err
	}
	v.SetString(n.text)
	return true, nil
}

// notText says what there is where text has to be.
func (d *decoder) notText(n *node, path string) *Error {
	e := d.at(n, path, n.String(), "text")
	switch n.kind {
	case isNumber, isBool:
		e.Remedy = fmt.Sprintf("write %.80q, in quotes", n.text)
	case isNull:
		e.Remedy = "leave the key out, or give it a value"
	}
	return e
}

var decimal = lazily(`^-?(0|[1-9][0-9]{0,17})$`)

func parseInt(n *node, r rules) (int, string) {
	least, most := bound(r.min, 0), bound(r.max, math.MaxInt32)
	wanted := fmt.Sprintf("a whole number from %d to %d", least, most)
	if n.kind != isNumber || !decimal.MatchString(n.text) {
		return 0, wanted
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil || i < least || i > most {
		return 0, wanted
	}
	return int(i), ""
}

func bound(text string, fallback int64) int64 {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return fallback
}

func parseSeed(n *node) (uint64, string) {
	i, err := strconv.ParseUint(n.text, 10, 64)
	if n.kind != isNumber || err != nil || len(n.text) > 1 && n.text[0] == '0' {
		return 0, "a whole number from 0 to 18446744073709551615"
	}
	return i, ""
}

var durationForm = lazily(`^-?([0-9]{1,9}(\.[0-9]{1,9})?(h|m|s|ms))+$`)

// duration reads a duration of a sign, digits and units; ok is whether it is one.
func duration(text string) (_ time.Duration, ok bool) {
	if len(text) > 64 || !durationForm.MatchString(text) {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	if err != nil { // it is too long for the type
		d = math.MaxInt64
	}
	return d, true
}

func parseDuration(n *node, r rules) (time.Duration, string) {
	least, _ := duration(r.min)
	most, ok := duration(r.max)
	if !ok {
		most = MaxDuration
	}
	wanted := fmt.Sprintf("a duration from %s to %s, such as 90s or 1h30m", short(least), short(most))
	d, ok := duration(n.text)
	if n.kind != isText || !ok || d < least || d > most {
		return 0, wanted
	}
	return d, ""
}

// short writes a duration without the units that are zero: 2h, not 2h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func parseTime(n *node) (time.Time, string) {
	t, err := time.Parse(time.RFC3339Nano, n.text)
	if n.kind != isText || err != nil || t.Year() < 2000 || t.Year() > 2199 {
		return time.Time{}, `a time from 2000 to 2199 in RFC 3339, such as "2026-11-20T22:00:00Z"`
	}
	return t.UTC(), ""
}

// quantityForm is narrower than Kubernetes' own: no exponents, no letters past tera.
var quantityForm = lazily(`^[0-9]{1,15}(\.[0-9]{1,6})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`)

func quantity(text string) (resource.Quantity, bool) {
	if !quantityForm.MatchString(text) {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

func parseQuantity(n *node, r rules) (resource.Quantity, string) {
	wanted := "a quantity, such as 100m or 128Mi"
	least, hasLeast := quantity(r.min)
	most, hasMost := quantity(r.max)
	switch {
	case hasLeast && hasMost:
		wanted = fmt.Sprintf("a quantity from %s to %s, such as 100m or 128Mi", r.min, r.max)
	case hasMost:
		wanted = fmt.Sprintf("a quantity from 0 to %s, such as 100m or 128Mi", r.max)
	}
	q, ok := quantity(n.text)
	if n.kind != isText && n.kind != isNumber || !ok || hasLeast && q.Cmp(least) < 0 || hasMost && q.Cmp(most) > 0 {
		return resource.Quantity{}, wanted
	}
	return q, ""
}

func parseIntOrPercent(n *node) (IntOrPercent, string) {
	const wanted = `a whole number from 0 to 3500000, or a percentage from "0%" to "100%"`
	if p, ok := percent(n.text); ok && n.kind == isText {
		return IntOrPercent{Value: p, IsPercent: true}, ""
	}
	i, bad := parseInt(n, rules{max: "3500000"})
	if bad != "" {
		return IntOrPercent{}, wanted
	}
	return IntOrPercent{Value: i}, ""
}

var percentForm = lazily(`^(0|[1-9][0-9]?|100)%$`)

func percent(text string) (int, bool) {
	if !percentForm.MatchString(text) {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	return n, err == nil
}

func parsePercent(n *node) (Percent, string) {
	p, ok := percent(n.text)
	if n.kind != isText || !ok {
		return 0, `a percentage from "0%" to "100%"`
	}
	return Percent(p), ""
}

func parseScalar(n *node) (Scalar, string) {
	if n.kind != isText && n.kind != isNumber && n.kind != isBool {
		return "", "a single value"
	}
	return Scalar(n.text), ""
}

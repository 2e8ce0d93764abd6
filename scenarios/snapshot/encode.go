package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// An encoder makes YAML of the types of a scenario file, by their tags.
type encoder struct {
	// draft says that a zero value is one that the file doesn't say; otherwise it is said where the default is another one.
	draft bool
}

// unsaid are keys whose values something else in the file says: its parameters, which have their values where they are used; what a
// podSpec has in its own words; and what follows from the number of nodes.
func (e encoder) unsaid(v reflect.Value) (keys []string) {
	switch is := v.Interface().(type) {
	case spec.File:
		keys = append(keys, "parameters")
	case spec.Workload:
		if is.PodSpec != nil {
			keys = append(keys, spec.NotWithPodSpec()...)
		}
		if is.Kind == spec.KindDaemonSet {
			keys = append(keys, "replicas")
		}
	case spec.Group:
		if is.Min == min(1, is.Nodes) {
			keys = append(keys, "min")
		}
		if is.Max == max(2*is.Nodes, is.Nodes+10) {
			keys = append(keys, "max")
		}
	case spec.Roll:
		for key, usual := range choices(&is) {
			if usual {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// choices are the keys of a roll that its strategy leaves to its users and whose default the strategy knows, with whether the value
// is that.
func choices(r *spec.Roll) map[string]bool {
	has, usual := r.Strategy.Choices(), r.By(r.Strategy)
	all := map[string]bool{}
	for _, c := range []struct {
		key       string
		has, same bool
	}{
		{"maxUnavailable", has.MaxUnavailable, r.MaxUnavailable == usual.MaxUnavailable},
		{"maxSurge", has.MaxSurge, r.MaxSurge == usual.MaxSurge},
		{"budget", has.Budget, r.Budget == usual.Budget},
		{"evictionTimeout", has.EvictionTimeout, r.EvictionTimeout == usual.EvictionTimeout},
		{"joinTimeout", has.JoinTimeout, r.JoinTimeout == usual.JoinTimeout},
		{"settleAfterDrain", has.SettleAfterDrain, r.SettleAfterDrain == usual.SettleAfterDrain},
		{"soak", has.Soak, r.Soak == usual.Soak},
	} {
		if c.has {
			all[c.key] = c.same
		}
	}
	return all
}

// chosen are the keys whose value has to be said even where it is zero.
func (e encoder) chosen(v reflect.Value) (keys []string) {
	if r, is := v.Interface().(spec.Roll); is && !e.draft {
		for key, usual := range choices(&r) {
			if !usual {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// mapping is the node of a struct, on one line where it is short.
func (e encoder) mapping(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	if err := e.fields(n, v, e.unsaid(v)); err != nil {
		return nil, err
	}
	flat(n)
	return n, nil
}

// fields adds those of a struct to its node.
func (e encoder) fields(n *yaml.Node, v reflect.Value, skip []string) error {
	t, chosen := v.Type(), e.chosen(v)
	for i := range t.NumField() {
		f := t.Field(i)
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			if err := e.fields(n, v.Field(i), skip); err != nil {
				return err
			}
			continue
		case key == "-", slices.Contains(skip, key):
			continue
		}
		value, err := e.field(v.Field(i), f)
		if value == nil && err == nil && slices.Contains(chosen, key) {
			value, err = e.value(v.Field(i))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if value != nil {
			n.Content = append(n.Content, text(key), value)
		}
	}
	return nil
}

// field is the node of a field, nil where the file needn't say it.
func (e encoder) field(v reflect.Value, f reflect.StructField) (*yaml.Node, error) {
	fallback, has := f.Tag.Lookup("default")
	counted := f.Tag.Get("yaml") == "min" || f.Tag.Get("yaml") == "max" // a default that isn't in the tag
	if zero(v) && f.Tag.Get("need") == "" && (e.draft || !has && !counted) {
		return nil, nil
	}
	n, err := e.value(v)
	if err != nil {
		return nil, err
	}
	if has && inOneLine(n) == strings.Trim(fallback, "'") {
		return nil, nil
	}
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 && v.Kind() != reflect.Pointer { // all of it has its defaults
		return nil, nil
	}
	return n, nil
}

// zero reports whether a value says nothing. A quantity that was read has a format even then.
func zero(v reflect.Value) bool {
	switch is := v.Interface().(type) {
	case resource.Quantity:
		return is.IsZero()
	case time.Time:
		return is.IsZero()
	}
	return v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

func (e encoder) value(v reflect.Value) (*yaml.Node, error) {
	switch is := v.Interface().(type) {
	case time.Time:
		return text(is.Format(time.RFC3339Nano)), nil
	case time.Duration:
		return text(short(is)), nil
	case resource.Quantity:
		return quantity(is), nil
	case spec.Amounts:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range slices.Sorted(maps.Keys(is)) {
			n.Content = append(n.Content, text(name), quantity(is[name]))
		}
		flat(n)
		return n, nil
	case spec.IntOrPercent:
		if is.IsPercent {
			return text(is.String()), nil
		}
		return number(is.String()), nil
	case spec.Percent:
		return text(is.String()), nil
	case spec.Dist:
		return dist(is), nil
	case spec.Timings:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, t := range is {
			n.Content = append(n.Content, text(t.Name), dist(t.Dist))
		}
		return n, nil
	case spec.PodSpec:
		return ofJSON(is.PodSpec)
	case spec.Selector:
		return ofJSON(is.LabelSelector)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return e.value(v.Elem())
	case reflect.String:
		return text(v.String()), nil
	case reflect.Bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.Bool())}, nil
	case reflect.Struct:
		return e.mapping(v)
	case reflect.Slice:
		return e.list(v)
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			n.Content = append(n.Content, text(key.String()), text(v.MapIndex(key).String()))
		}
		return n, nil
	}
	return number(fmt.Sprint(v.Interface())), nil
}

func (e encoder) list(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		item, err := e.value(v.Index(i))
		if err != nil {
			return nil, err
		}
		switch v.Index(i).Interface().(type) {
		case spec.Member, spec.PlacedPod, spec.InstanceType:
			oneLined(item)
		}
		n.Content = append(n.Content, item)
	}
	if v.Type() == reflect.TypeFor[[]string]() {
		flat(n)
	}
	return n, nil
}

// lineLength is the most that a value on one line has, where it can have several.
const lineLength = 110

// flat puts a value on one line if it is short enough.
func flat(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode && room(n, lineLength) >= 0 {
		oneLined(n)
	}
}

// room is what a value on one line leaves of so many bytes, below 0 where it needs more.
func room(n *yaml.Node, left int) int {
	left -= len(n.Value) + 2
	for i := 0; i < len(n.Content) && left >= 0; i++ {
		left = room(n.Content[i], left)
	}
	return left
}

// oneLined puts a value on one line, whatever is in it.
func oneLined(n *yaml.Node) {
	n.Style |= yaml.FlowStyle
	for _, child := range n.Content {
		if child.Kind != yaml.ScalarNode {
			oneLined(child)
		}
	}
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func number(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// quantity is written without quotes, also where it is a number.
func quantity(q resource.Quantity) *yaml.Node { return number(q.String()) }

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

// dist is a distribution as a file has it.
func dist(d spec.Dist) *yaml.Node {
	pairs := func(all ...any) *yaml.Node {
		n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, one := range all {
			switch one := one.(type) {
			case string:
				n.Content = append(n.Content, text(one))
			case time.Duration:
				n.Content = append(n.Content, text(short(one)))
			case []time.Duration:
				list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
				for _, each := range one {
					list.Content = append(list.Content, text(short(each)))
				}
				n.Content = append(n.Content, list)
			}
		}
		return n
	}
	switch d.Kind {
	case spec.DistLognormal:
		return pairs("median", d.Median, "p95", d.P95)
	case spec.DistUniform:
		return pairs("uniform", []time.Duration{d.Min, d.Max})
	case spec.DistTriangular:
		return pairs("triangular", []time.Duration{d.Min, d.Mode, d.Max})
	case spec.DistNever:
		return text("never")
	case spec.DistFixed:
	}
	return text(short(d.Median))
}

// inOneLine is a value as a tag has it as a default: 5s, {median: 2s, p95: 12s}.
func inOneLine(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+": "+inOneLine(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	for _, item := range n.Content {
		parts = append(parts, inOneLine(item))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// ofJSON is the node of a value of k8s.io/api, in its own words and order, without what isn't there.
func ofJSON(v any) (*yaml.Node, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	n, err := fromJSON(d)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// fromJSON is the node of the decoder's next value; nil of a null, and of what is empty where that says nothing.
func fromJSON(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if token == '{' {
			n.Kind = yaml.MappingNode
		}
		for d.More() {
			key := ""
			if n.Kind == yaml.MappingNode {
				name, err := d.Token()
				if err != nil {
					return nil, err
				}
				key, _ = name.(string)
			}
			value, err := fromJSON(d)
			switch {
			case err != nil:
				return nil, err
			case value == nil, key == "resources" && len(value.Content) == 0:
				continue
			case n.Kind == yaml.MappingNode:
				n.Content = append(n.Content, text(key))
			}
			n.Content = append(n.Content, value)
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		if n.Kind == yaml.MappingNode || len(n.Content) == 0 || n.Content[0].Kind == yaml.ScalarNode {
			flat(n)
		}
		return n, nil
	case string:
		return text(token), nil
	case json.Number:
		return number(token.String()), nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(token)}, nil
	}
	return nil, nil // null
}

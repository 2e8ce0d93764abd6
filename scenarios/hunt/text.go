package hunt

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Read reads the text of a scenario file. A [Result] holds one of these.
func Read(text []byte) (*spec.File, error) {
	d, err := scenarios.Parse("found", text)
	if err != nil {
		return nil, err
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		return nil, err
	}
	return &f.File, nil
}

// Text is a scenario file as text, without what has its default. Read makes the same file of it.
func Text(f *spec.File) ([]byte, error) {
	root := encodeMapping(reflect.ValueOf(f).Elem(), f)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// encodeMapping is the node of a struct, by the tags of package spec: keys, and the texts of defaults.
func encodeMapping(v reflect.Value, f *spec.File) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		key, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case key == "-" || key == "" && option == "":
			continue
		case option == "inline":
			n.Content = append(n.Content, encodeMapping(value, f).Content...)
			continue
		case !said(v.Interface(), key, value, f, field.Tag.Get("default"), field.Tag.Get("need") == "true"):
			continue
		}
		item := encodeValue(value, f)
		if item.Kind == yaml.MappingNode && len(item.Content) == 0 && value.Kind() == reflect.Struct {
			continue // all of it is usual
		}
		n.Content = append(n.Content, text(key), item)
	}
	return n
}

// said reports whether a file has to say a value. A key whose default is computed is left out where the value is that.
func said(of any, key string, v reflect.Value, f *spec.File, fallback string, need bool) bool {
	switch of := of.(type) {
	case spec.Roll:
		if is, known := choice(&of, key); known {
			return is
		}
	case spec.Group:
		switch key {
		case "zones": // of a group with fewer nodes than zones, a file can only leave them out
			return !slices.Equal(of.Zones, usualZones(&of, f))
		case "min":
			return of.Min != min(1, of.Nodes)
		case "max":
			return of.Max != max(2*of.Nodes, of.Nodes+10)
		}
	case spec.Workload:
		if key == "replicas" && of.Kind == spec.KindDaemonSet {
			return false
		}
	case spec.File:
		if key == "parameters" {
			return false
		}
	}
	switch {
	case need:
		return true
	case fallback == "":
		return !empty(v)
	}
	var usual yaml.Node
	if yaml.Unmarshal([]byte(fallback), &usual) != nil || len(usual.Content) == 0 {
		return true
	}
	return !sameNode(encodeValue(v, f), usual.Content[0])
}

// usualZones are those of a group that names none: its members', or the cluster's.
func usualZones(g *spec.Group, f *spec.File) (zones []string) {
	if len(g.Members) == 0 {
		return f.Cluster.Zones
	}
	for _, z := range f.Cluster.Zones {
		if slices.ContainsFunc(g.Members, func(m spec.Member) bool { return m.Zone == z }) {
			zones = append(zones, z)
		}
	}
	return zones
}

// choice reports whether a key of a roll is one that only some strategies have, and whether this one has it with another value
// than its default.
func choice(r *spec.Roll, key string) (said, known bool) {
	has, usual := r.Strategy.Choices(), r.By(r.Strategy)
	switch key {
	case "maxUnavailable":
		return has.MaxUnavailable && r.MaxUnavailable != usual.MaxUnavailable, true
	case "maxSurge":
		return has.MaxSurge && r.MaxSurge != usual.MaxSurge, true
	case "budget":
		return has.Budget && r.Budget != usual.Budget, true
	case "evictionTimeout":
		return has.EvictionTimeout && r.EvictionTimeout != usual.EvictionTimeout, true
	case "joinTimeout":
		return has.JoinTimeout && r.JoinTimeout != usual.JoinTimeout, true
	case "settleAfterDrain":
		return has.SettleAfterDrain && r.SettleAfterDrain != usual.SettleAfterDrain, true
	case "soak":
		return has.Soak && r.Soak != usual.Soak, true
	}
	return false, false
}

func empty(v reflect.Value) bool {
	if q, is := v.Interface().(resource.Quantity); is {
		return q.IsZero()
	}
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// sameNode compares values; durations and quantities as such.
func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	if a.Value == b.Value {
		return true
	}
	x, errX := time.ParseDuration(a.Value)
	y, errY := time.ParseDuration(b.Value)
	return errX == nil && errY == nil && x == y
}

func encodeValue(v reflect.Value, f *spec.File) *yaml.Node {
	switch is := v.Interface().(type) {
	case time.Duration:
		return text(short(is))
	case time.Time:
		return text(is.Format(time.RFC3339Nano))
	case resource.Quantity:
		return text(is.String())
	case spec.IntOrPercent:
		if !is.IsPercent {
			return scalar(strconv.Itoa(is.Value))
		}
		return text(is.String())
	case spec.Percent:
		return text(is.String())
	case spec.Dist:
		return encodeDist(is)
	case spec.Timings:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, t := range is {
			n.Content = append(n.Content, text(t.Name), encodeDist(t.Dist))
		}
		return n
	}
	switch v.Kind() {
	case reflect.Pointer:
		return encodeValue(v.Elem(), f)
	case reflect.String:
		return text(v.String())
	case reflect.Struct:
		n := encodeMapping(v, f)
		if len(n.Content) == 0 || leaf(n) {
			n.Style = yaml.FlowStyle
		}
		return n
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, encodeValue(v.Index(i), f))
		}
		if leaf(n) {
			n.Style = yaml.FlowStyle
		}
		return n
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			n.Content = append(n.Content, text(key.String()), encodeValue(v.MapIndex(key), f))
		}
		return n
	}
	return scalar(fmt.Sprint(v.Interface()))
}

// leaf reports whether a node has nothing but words in it, and few: it is one line then.
func leaf(n *yaml.Node) bool {
	return len(n.Content) <= 8 && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Kind != yaml.ScalarNode || strings.Contains(c.Value, "\n") })
}

func encodeDist(d spec.Dist) *yaml.Node {
	pair := func(key string, of ...time.Duration) *yaml.Node {
		ends := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, one := range of {
			ends.Content = append(ends.Content, text(short(one)))
		}
		return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{text(key), ends}}
	}
	switch d.Kind {
	case spec.DistLognormal:
		n := mapping("median", short(d.Median), "p95", short(d.P95))
		n.Style = yaml.FlowStyle
		return n
	case spec.DistUniform:
		return pair("uniform", d.Min, d.Max)
	case spec.DistTriangular:
		return pair("triangular", d.Min, d.Mode, d.Max)
	case spec.DistNever:
		return text("never")
	}
	return text(short(d.Median))
}

func scalar(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

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

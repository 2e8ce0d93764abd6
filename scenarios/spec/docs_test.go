package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/golden"
)

// The reference in docs/scenarios.md is the code's: each part between its marks
// is what the types and the strategies say.
func TestDocsAreTheCode(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "scenarios.md")
	golden.AssertPart(t, file, "keys", keyTables(t))
	golden.AssertPart(t, file, "strategies", strategyTable())
}

func strategyTable() string {
	var b strings.Builder
	b.WriteString("| strategy | providers | maxUnavailable | maxSurge | budget | evictionTimeout | joinTimeout | settleAfterDrain | soak | force | legacyTaint |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	amount := func(v *IntOrPercent) string {
		if v == nil {
			return ""
		}
		return v.String()
	}
	lasts := func(d *time.Duration) string {
		if d == nil {
			return ""
		}
		return short(*d)
	}
	may := func(ok bool) string {
		if ok {
			return "false"
		}
		return ""
	}
	for _, w := range ways() {
		providers := "all"
		if len(w.providers) > 0 {
			providers = list(w.providers)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", w.strategy, providers,
			amount(w.maxUnavailable), amount(w.maxSurge), amount(w.budget),
			lasts(w.evictionTimeout), lasts(w.joinTimeout), lasts(w.settleAfterDrain), lasts(w.soak), may(w.force), may(w.legacyTaint))
	}
	return b.String()
}

// keyTables are a table for each mapping of a file, the outer ones first.
func keyTables(t *testing.T) string {
	t.Helper()
	var schema struct {
		Properties map[string]struct{ Description string }
		Defs       map[string]struct {
			Description string
			Properties  map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(FileSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	type table struct {
		path string
		of   reflect.Type
	}
	queue, seen := []table{{"", reflect.TypeFor[File]()}}, map[reflect.Type]bool{}
	for len(queue) > 0 {
		now := queue[0]
		queue = queue[1:]
		about, properties, title := "The outermost keys of a file.", schema.Properties, "The file"
		if now.path != "" {
			def := schema.Defs[now.of.Name()]
			about, properties, title = def.Description, def.Properties, "`"+now.path+"`"
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| key | takes | default | meaning |\n|---|---|---|---|\n", title, about)
		for _, f := range fields(now.of) {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			doc := properties[key].Description
			if doc == "" {
				t.Fatalf("%s.%s: no description in the schema", now.of.Name(), key)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", key, cell(takes(f)), preset(f), cell(sentence(key, doc)))
			elem := f.Type
			path := under(now.path, key)
			for elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Slice {
				if elem.Kind() == reflect.Slice {
					path += "[]"
				}
				elem = elem.Elem()
			}
			if isMap(elem) && elem.Name() != "Timing" && !seen[elem] {
				seen[elem] = true
				queue = append(queue, table{path, elem})
			}
		}
	}
	return b.String()[1:]
}

// fields are those of a mapping, inlined ones included.
func fields(t reflect.Type) (all []reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch tag := f.Tag.Get("yaml"); {
		case tag == "-":
		case strings.HasSuffix(tag, ",inline"):
			all = append(all, fields(f.Type)...)
		default:
			all = append(all, f)
		}
	}
	return all
}

func isMap(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[resource.Quantity](), reflect.TypeFor[Dist](), reflect.TypeFor[IntOrPercent](), reflect.TypeFor[PodSpec](), reflect.TypeFor[Selector]():
		return false
	}
	return t.Kind() == reflect.Struct
}

// takes says in words what a key takes.
func takes(f reflect.StructField) string {
	t, many := f.Type, ""
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t != reflect.TypeFor[Timings]() {
		if t.Kind() == reflect.Slice {
			many = "list: "
		}
		t = t.Elem()
	}
	tag := f.Tag
	limits := ""
	if low, high := tag.Get("min"), tag.Get("max"); high != "" {
		if low == "" {
			low = "0"
		}
		limits = ", " + low + " to " + high
	}
	if known := valuesOf(reflect.Zero(t).Interface()); known != nil {
		return many + "`" + strings.Join(known, "` `") + "`"
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return many + "duration" + limits
	case reflect.TypeFor[time.Time]():
		return many + "time"
	case reflect.TypeFor[resource.Quantity]():
		return many + "quantity" + limits
	case reflect.TypeFor[IntOrPercent]():
		return many + "whole number or percentage"
	case reflect.TypeFor[Percent]():
		return many + "percentage"
	case reflect.TypeFor[Dist]():
		if tag.Get("form") == "stop" {
			return "distribution, or `never`"
		}
		return many + "distribution"
	case reflect.TypeFor[Amounts]():
		return "mapping: resource to quantity"
	case reflect.TypeFor[PodSpec]():
		return "a PodSpec of Kubernetes: " + strings.Join(slices.Sorted(maps.Keys(podSpecKeys)), ", ") + "; of containers " + strings.Join(slices.Sorted(maps.Keys(containerKeys)), ", ")
	case reflect.TypeFor[Selector]():
		return "a label selector of Kubernetes: matchLabels, matchExpressions"
	case reflect.TypeFor[Timings]():
		return "mapping: a timing's name to a distribution"
	case reflect.TypeFor[Scalar]():
		return "a value of the type"
	}
	switch t.Kind() {
	case reflect.Bool:
		return many + "`true` `false`"
	case reflect.Int:
		return many + "whole number" + limits
	case reflect.Uint64:
		return many + "whole number"
	case reflect.Map:
		return "mapping: label to value"
	case reflect.Struct:
		return many + "mapping"
	}
	return many + forms[tag.Get("form")].wanted
}

func preset(f reflect.StructField) string {
	if f.Tag.Get("need") == "true" {
		return "**required**"
	}
	d, ok := f.Tag.Lookup("default")
	if !ok {
		return ""
	}
	var text string // without the quotes that YAML wants
	if err := yaml.Unmarshal([]byte(d), &text); err != nil {
		text = d
	}
	return "`" + text + "`"
}

// sentence begins with the key where the description does, else with a capital.
func sentence(key, doc string) string {
	if rest, ok := strings.CutPrefix(doc, key+" "); ok {
		return "`" + key + "` " + rest
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}

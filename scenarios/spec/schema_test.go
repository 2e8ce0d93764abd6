package spec

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/golden"
)

const schemaFile = "schema/scenario.json"

type object = map[string]any

// The committed schema is what the types, their tags and their comments say.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	g := generator{defs: object{}, docs: comments(t)}
	root := g.structure(reflect.TypeFor[File](), true)
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", "https://nodesim.dev/schema/scenario.json"
	root["title"], root["$defs"] = "nodesim scenario", g.defs
	want, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if golden.Updating() {
		if err := os.WriteFile(filepath.FromSlash(schemaFile), want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(FileSchema(), want) {
		t.Errorf("%s is not what the types say; NODESIM_UPDATE=1 go test ./scenarios/spec -run %s writes it anew", schemaFile, t.Name())
	}
}

// comments are the doc comments of the package's types, and of their fields as "Type.Field".
func comments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	text := func(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				ts, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				first, _, _ := strings.Cut(text(gen.Doc), ". ")
				docs[ts.Name.Name] = strings.TrimSuffix(first, ".") + "."
				if st, ok := ts.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						for _, name := range f.Names {
							docs[ts.Name.Name+"."+name.Name] = text(f.Doc)
						}
					}
				}
			}
		}
	}
	return docs
}

type generator struct {
	defs object
	docs map[string]string
}

// structure is the schema of a mapping; its parts may refer to parameters where refs is true.
func (g *generator) structure(t reflect.Type, refs bool) object {
	properties, required := object{}, []string{}
	g.properties(t, refs, properties, &required)
	s := object{"type": "object", "additionalProperties": false, "properties": properties, "description": g.docs[t.Name()]}
	if len(required) > 0 {
		s["required"] = required
	}
	oneOf := func(keys ...string) object {
		var each []object
		for _, key := range keys {
			each = append(each, object{"required": []string{key}})
		}
		return object{"oneOf": each}
	}
	switch t {
	case reflect.TypeFor[Fault]():
		s["allOf"] = []object{oneOf("at", "when", "after"), oneOf(actionKeys()...)}
	case reflect.TypeFor[When]():
		s["allOf"] = []object{oneOf("nodes", "pods")}
	case reflect.TypeFor[ImagePull](), reflect.TypeFor[Crash]():
		s["allOf"] = []object{oneOf("image", "workload")}
	case reflect.TypeFor[Budget]():
		s["allOf"] = []object{oneOf("minAvailable", "maxUnavailable")}
	}
	return s
}

func (g *generator) properties(t reflect.Type, refs bool, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" {
			g.properties(f.Type, refs, properties, required)
			continue
		}
		if key == "-" {
			continue
		}
		below := refs && key != "metadata" && key != "parameters" && key != "apiVersion" && key != "kind"
		p := g.value(f.Type, f.Tag, below)
		doc := g.docs[t.Name()+"."+f.Name]
		if rest, ok := strings.CutPrefix(doc, f.Name+" "); ok {
			doc = key + " " + rest
		}
		p["description"] = doc
		if d, ok := f.Tag.Lookup("default"); ok {
			p["default"] = asJSON(d)
		}
		if f.Tag.Get("need") == "true" {
			*required = append(*required, key)
		}
		properties[key] = p
	}
}

const refPattern = `\$\([a-z][A-Za-z0-9]*\)`

// patterns of the forms; what has none is text of any kind.
var patterns = map[string]string{
	"apiVersion": `^nodesim\.dev/v1$`,
	"kind":       `^Scenario$`,
	"label":      `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`,
	"workload":   `^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`,
	"node":       `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
	"pod":        `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
	"key":        `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`,
	"value":      `^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`,
	"finalizer":  `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`,
	"minor":      `^1\.(2[7-9]|3[0-6])$`,
	"place":      `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`,
	"image":      `^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$`,
	"version":    `^v1\.[0-9]{1,3}\.[0-9]{1,4}([-+][A-Za-z0-9][A-Za-z0-9.+-]{0,62})?$`,
	// A type of machine; which ones there are isn't said here.
	"instanceType": `^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`,
	"parameter":    `^[a-z][A-Za-z0-9]{0,62}$`,
	"line":         `^[^\n]{1,300}$`,
}

const (
	durationPattern = `^([0-9]{1,9}(\.[0-9]{1,9})?(h|m|s|ms))+$`
	quantityPattern = `^[0-9]{1,15}(\.[0-9]{1,6})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`
	percentPattern  = `^(0|[1-9][0-9]?|100)%$`
)

func matching(pattern string, refs bool) object {
	if refs {
		pattern += "|" + refPattern
	}
	return object{"type": "string", "pattern": pattern}
}

func orReference(s object, refs bool) object {
	if !refs {
		return s
	}
	return object{"anyOf": []object{s, {"type": "string", "pattern": "^" + refPattern + "$"}}}
}

func asJSON(yamlText string) (v any) {
	if err := yaml.Unmarshal([]byte(yamlText), &v); err != nil {
		return err.Error()
	}
	if at, ok := v.(time.Time); ok {
		return at.Format(time.RFC3339)
	}
	return v
}

func (g *generator) value(t reflect.Type, tag reflect.StructTag, refs bool) object {
	if t.Kind() == reflect.Pointer {
		return g.value(t.Elem(), tag, refs)
	}
	switch reflect.Zero(t).Interface().(type) {
	case time.Duration:
		return matching(durationPattern, refs)
	case time.Time:
		return matching(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})$`, refs)
	case resource.Quantity:
		return object{"anyOf": []object{matching(quantityPattern, refs), {"type": "number", "minimum": 0}}}
	case IntOrPercent:
		return object{"anyOf": []object{matching(percentPattern, refs), {"type": "integer", "minimum": 0, "maximum": 3500000}}}
	case Percent:
		return matching(percentPattern, refs)
	case Scalar:
		return object{"type": []string{"string", "number", "boolean"}}
	case Dist:
		return g.named("Dist", func() object { return dist(refs) }, tag.Get("form") == "stop")
	case Amounts:
		return object{"type": "object", "propertyNames": matching(patterns["key"], false), "additionalProperties": object{
			"anyOf": []object{matching(quantityPattern, refs), {"type": "number", "minimum": 0}},
		}}
	case PodSpec:
		return object{"$comment": "a v1 PodSpec", "type": "object", "required": []string{"containers"}, "propertyNames": object{"enum": slices.Sorted(maps.Keys(podSpecKeys))}}
	case Selector:
		return object{"$comment": "a v1 LabelSelector", "type": "object", "propertyNames": object{"enum": []string{"matchExpressions", "matchLabels"}}}
	case Timings:
		return object{"type": "object", "additionalProperties": g.named("Dist", func() object { return dist(refs) }, false)}
	}
	if known := valuesOf(reflect.Zero(t).Interface()); known != nil {
		return orReference(object{"enum": known}, refs)
	}
	switch t.Kind() {
	case reflect.Bool:
		return orReference(object{"type": "boolean"}, refs)
	case reflect.Int:
		s := object{"type": "integer", "minimum": 0}
		for key, name := range map[string]string{"minimum": "min", "maximum": "max"} {
			if n, err := strconv.Atoi(tag.Get(name)); err == nil {
				s[key] = n
			}
		}
		return orReference(s, refs)
	case reflect.Uint64:
		return orReference(object{"type": "integer", "minimum": 0}, refs)
	case reflect.String:
		if pattern, ok := patterns[tag.Get("form")]; ok {
			return matching(pattern, refs)
		}
		return object{"type": "string"}
	case reflect.Slice:
		return object{"type": "array", "maxItems": maxItems, "items": g.value(t.Elem(), tag, refs)}
	case reflect.Map:
		return object{
			"type": "object", "maxProperties": maxItems, "propertyNames": matching(patterns["key"], false),
			"additionalProperties": matching(patterns["value"], refs),
		}
	}
	return g.named(t.Name(), func() object { return g.structure(t, refs) }, false)
}

// named puts a schema under $defs once, and refers to it.
func (g *generator) named(name string, schema func() object, never bool) object {
	if _, ok := g.defs[name]; !ok {
		g.defs[name] = object{}
		g.defs[name] = schema()
	}
	ref := object{"$ref": "#/$defs/" + name}
	if never {
		return object{"anyOf": []object{ref, {"const": "never"}}}
	}
	return ref
}

func dist(refs bool) object {
	d := matching(durationPattern, refs)
	many := func(n int) object { return object{"type": "array", "items": d, "minItems": n, "maxItems": n} }
	shape := func(properties object, required ...string) object {
		return object{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
	}
	return object{
		"description": "How long something takes: always the same, or a distribution.",
		"anyOf": []object{
			d, shape(object{"median": d, "p95": d}, "median", "p95"), shape(object{"uniform": many(2)}, "uniform"),
			shape(object{"triangular": many(3)}, "triangular"),
		},
	}
}

// bySchema judges a file by the committed schema.
func bySchema(t testing.TB) func(text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(FileSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("scenario.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("scenario.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		v, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		return s.Validate(v)
	}
}

func TestSchemaDescribesEverything(t *testing.T) {
	var all object
	if err := json.Unmarshal(FileSchema(), &all); err != nil {
		t.Fatal(err)
	}
	count := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(object)
		if !ok {
			return
		}
		for name, p := range m {
			if properties, ok := p.(object); ok && name == "properties" && !strings.Contains(path, "Dist") {
				for key, schema := range properties {
					count++
					if doc, ok := schema.(object)["description"].(string); !ok || !strings.HasSuffix(doc, ".") {
						t.Errorf("%s.%s: description %q, want a sentence", path, key, doc)
					}
				}
			}
			walk(path+"/"+name, p)
		}
	}
	walk("", all)
	if count < 100 {
		t.Errorf("found %d properties, want those of the whole file", count)
	}
}

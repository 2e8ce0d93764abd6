//go:build controlplane

package openapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay/apiserver/internal/openapi"
	"github.com/nodesim/nodesim/timeline"
)

// A realServer is kube-apiserver.
type realServer struct {
	t      *testing.T
	client *http.Client
	host   string
}

func realOne(t *testing.T) realServer {
	t.Helper()
	client, url := testcluster.Shared(t).HTTP(t)
	return realServer{t: t, client: client, host: url}
}

// get asks for JSON.
func (s realServer) get(path, accept string, into any) {
	t := s.t
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	response, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, response.StatusCode, err, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// builtinResources are those with objects that the real server has.
func (s realServer) builtinResources() (all []timeline.Resource) {
	s.t.Helper()
	for _, root := range []string{"/api", "/apis"} {
		var list apidiscovery.APIGroupDiscoveryList
		s.get(root, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", &list)
		for _, g := range list.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					if slices.Contains(r.Verbs, "watch") {
						all = append(all, timeline.Resource{Group: g.Name, Version: v.Version, Kind: r.ResponseKind.Kind, Resource: r.Resource, Namespaced: r.Scope == apidiscovery.ScopeNamespace})
					}
				}
			}
		}
	}
	return all
}

// A spec is a document of v3, as JSON.
type spec struct {
	Paths      map[string]map[string]any `json:"paths"`
	Components struct {
		Schemas map[string]any `json:"schemas"`
	} `json:"components"`
}

// eachDocument calls f with both sides of every document.
func eachDocument(t *testing.T, f func(path string, theirs, ours spec)) {
	t.Helper()
	s := realOne(t)
	resources := s.builtinResources()
	h := handler(func(o *openapi.Options) { o.Resources = resources })
	seen := map[string]bool{}
	for _, r := range resources {
		path := "/openapi/v3/apis/" + r.APIVersion()
		if r.Group == "" {
			path = "/openapi/v3/api/" + r.Version
		}
		if seen[path] {
			continue
		}
		seen[path] = true
		var theirs, ours spec
		s.get(path, "application/json", &theirs)
		if err := json.Unmarshal(ask(h, path, "application/json").Body.Bytes(), &ours); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		f(path, theirs, ours)
	}
	if len(seen) < 15 {
		t.Fatalf("only %d documents were compared", len(seen))
	}
}

// Every schema has the real server's properties, types, formats, references, required fields, defaults, enums, list
// types and keys, patch strategies, merge keys and descriptions.
func TestSchemasAreTheServers(t *testing.T) {
	found := differences{}
	count := 0
	eachDocument(t, func(_ string, theirs, ours spec) {
		for name, schema := range ours.Components.Schemas {
			their, ok := theirs.Components.Schemas[name]
			if !ok {
				found.add(short(name), "schema")
				continue
			}
			count++
			found.schema(short(name), their, schema)
		}
	})
	found.check(t)
	if count < 500 {
		t.Errorf("only %d schemas were compared", count)
	}
}

// short shortens the name of a model: core.v1.Node, meta.v1.Time.
func short(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "io.k8s.api."), "io.k8s.apimachinery.pkg."), "apis.")
}

// differences are places, and in what the two sides differ there.
type differences map[string]bool

func (d differences) add(place, what string) { d[place+": "+what] = true }

// schema compares two schemas, and what is within them.
func (d differences) schema(place string, their, our any) {
	theirs, ok := their.(map[string]any)
	ours, too := our.(map[string]any)
	if !ok || !too {
		if !reflect.DeepEqual(their, our) {
			d.add(place, "schema")
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(union(theirs, ours))) {
		a, b := theirs[key], ours[key]
		switch key {
		case "properties":
			x, _ := a.(map[string]any)
			y, _ := b.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(union(x, y))) {
				switch {
				case y[name] == nil:
					d.add(place+"."+name, "missing")
				case x[name] == nil:
					d.add(place+"."+name, "new")
				default:
					d.schema(place+"."+name, x[name], y[name])
				}
			}
		case "required":
			if !reflect.DeepEqual(sorted(a), sorted(b)) {
				d.add(place, fmt.Sprintf("required %v and %v", sorted(a), sorted(b)))
			}
		case "items", "additionalProperties":
			d.schema(place+"[]", a, b)
		case "x-kubernetes-group-version-kind":
			if !strings.Contains(place, "meta.v1.") && !reflect.DeepEqual(a, b) { // options are of every group that uses them
				d.add(place, key)
			}
		default:
			if !reflect.DeepEqual(a, b) {
				d.add(place, key)
			}
		}
	}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

func sorted(list any) (names []string) {
	all, _ := list.([]any)
	for _, name := range all {
		names = append(names, fmt.Sprint(name))
	}
	slices.Sort(names)
	return names
}

// check reports what was found.
func (d differences) check(t *testing.T) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(d)) {
		t.Errorf("%s", what)
	}
}

// Every path of a replay is one of the real server's, with the same operations, parameters, bodies and answers.
func TestPathsAreTheServers(t *testing.T) {
	found := differences{}
	count := 0
	eachDocument(t, func(_ string, theirs, ours spec) {
		for path, item := range ours.Paths {
			their := theirs.Paths[path]
			if their == nil {
				found.add(path, "path")
				continue
			}
			for _, method := range slices.Sorted(maps.Keys(union(their, item))) {
				if method == "parameters" {
					continue
				}
				count++
				found.operation(method+" "+path, facts(their, method), facts(item, method))
			}
		}
	})
	found.check(t)
	if count < 300 {
		t.Errorf("only %d operations were compared", count)
	}
}

// facts returns what an operation is compared by, as text.
func facts(item map[string]any, method string) map[string]string {
	o, _ := item[method].(map[string]any)
	if o == nil {
		return map[string]string{"operation": "none"}
	}
	all := map[string]string{}
	for _, key := range []string{"operationId", "description", "tags", "x-kubernetes-action", "x-kubernetes-group-version-kind", "responses", "requestBody"} {
		text, _ := json.Marshal(o[key])
		all[key] = string(text)
	}
	var parameters []string
	for _, list := range []any{o["parameters"], item["parameters"]} {
		each, _ := list.([]any)
		for _, p := range each {
			p := maps.Clone(p.(map[string]any))
			delete(p, "description")
			text, _ := json.Marshal(p)
			parameters = append(parameters, string(text))
		}
	}
	slices.Sort(parameters)
	all["parameters"] = strings.Join(parameters, "\n")
	return all
}

func (d differences) operation(place string, theirs, ours map[string]string) {
	for key := range ours {
		if theirs[key] != ours[key] {
			d.add(place, key+" "+theirs[key]+" and "+ours[key])
		}
	}
}

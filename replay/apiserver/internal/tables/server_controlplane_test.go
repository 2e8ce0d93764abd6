//go:build controlplane

package tables

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/testcluster"
	"github.com/nodesim/nodesim/timeline"
)

// TestAgainstServer holds the tables of everything that a real kube-apiserver serves against what this package makes of
// the same objects: of those of testdata, each created with its status, and of those that the server has of its own.
func TestAgainstServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := newServer(t, ctx)
	s.createAll(definitionObject)
	s.establish("widgets.example.com")
	s.createAll(widgetObjects...)
	var objects [][]byte
	for _, file := range filesOfObjects(t, "testdata/*.yaml") {
		objects = append(objects, objectsOf(t, file)...)
	}
	s.createAll(objects...)
	compared := map[string]int{}
	for _, r := range s.resources() {
		compared[r.String()] += s.compare(r)
	}
	for resource := range builtin {
		if compared[resource.String()] == 0 && resource.Resource != "podcertificaterequests" { // which want a signed key
			t.Errorf("%s: found no object on the server, want its rows compared", resource)
		}
	}
	if want := 2 * len(widgetObjects); compared["widgets.example.com"] != want { // in two versions
		t.Errorf("widgets: found %d rows on the server, want %d", compared["widgets.example.com"], want)
	}
}

// server speaks to the API server in bare JSON.
type server struct {
	t           *testing.T
	ctx         context.Context
	client      *http.Client
	url         string
	definitions map[string][]byte
	plurals     map[string]timeline.Resource // by apiVersion/kind
	statuses    map[string]bool              // which resources have the subresource status
	all         []timeline.Resource
}

func newServer(t *testing.T, ctx context.Context) *server {
	t.Helper()
	config := testcluster.Shared(t).Config()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &server{t: t, ctx: ctx, client: client, url: strings.TrimSuffix(config.Host, "/"), definitions: map[string][]byte{}}
}

const asJSON = "application/json"

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// do sends one request and returns the answer's body; an answer that isn't success ends the test.
func (s *server) do(method, path, accept string, body any) []byte {
	s.t.Helper()
	status, answer := s.try(method, path, accept, body)
	if status >= http.StatusMultipleChoices {
		s.t.Fatalf("%s %s: %d: %s", method, path, status, answer)
	}
	return answer
}

func (s *server) try(method, path, accept string, body any) (int, []byte) {
	s.t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.ctx, method, s.url+path, bytes.NewReader(sent))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", asJSON)
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	request.Header.Set("Accept", accept)
	response, err := s.client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, answer
}

// resources are all that can be listed, in all versions.
func (s *server) resources() []timeline.Resource {
	if s.all != nil {
		return s.all
	}
	paths := []string{"/api/v1"}
	var groups metav1.APIGroupList
	s.decode(s.do(http.MethodGet, "/apis", asJSON, nil), &groups)
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			if group.Name != "served.example.com" { // the object of testdata, which nobody serves
				paths = append(paths, "/apis/"+version.GroupVersion)
			}
		}
	}
	s.plurals, s.statuses = map[string]timeline.Resource{}, map[string]bool{}
	for _, path := range paths {
		var list metav1.APIResourceList
		s.decode(s.do(http.MethodGet, path, asJSON, nil), &list)
		for _, r := range list.APIResources {
			group, version, found := strings.Cut(list.GroupVersion, "/")
			if !found {
				group, version = "", list.GroupVersion
			}
			if of, sub, _ := strings.Cut(r.Name, "/"); sub == "status" {
				s.statuses[timeline.Resource{Group: group, Version: version, Resource: of}.String()] = true
			}
			resource := timeline.Resource{Group: group, Version: version, Kind: r.Kind, Resource: r.Name, Namespaced: r.Namespaced}
			if strings.Contains(strings.Join(r.Verbs, " "), "list") {
				s.all = append(s.all, resource)
				s.plurals[list.GroupVersion+"/"+r.Kind] = resource
			}
		}
	}
	return s.all
}

func (s *server) decode(raw []byte, into any) {
	s.t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		s.t.Fatalf("%.100s: %v", raw, err)
	}
}

// path is where the objects of a resource are, in the namespace or in all.
func path(r timeline.Resource, namespace string) string {
	prefix := "/apis/" + r.APIVersion()
	if r.Group == "" {
		prefix = "/api/" + r.Version
	}
	if r.Namespaced && namespace != "" {
		prefix += "/namespaces/" + namespace
	}
	return prefix + "/" + r.Resource
}

// createAll creates the objects, and tries those again that were refused, since some want others to be there.
func (s *server) createAll(objects ...[]byte) {
	s.t.Helper()
	s.resources()
	var refused [][]byte
	for _, object := range objects {
		if s.create(object) != nil {
			refused = append(refused, object)
		}
	}
	for _, object := range refused {
		if err := s.create(object); err != nil {
			s.t.Error(err)
		}
	}
}

// create stores the object and then its status. One with a deletionTimestamp is deleted, held by a finalizer.
func (s *server) create(raw []byte) error {
	s.t.Helper()
	var object map[string]any
	s.decode(raw, &object)
	r, ok := s.plurals[fmt.Sprintf("%s/%s", object["apiVersion"], object["kind"])]
	if !ok {
		return fmt.Errorf("%s %s: found no resource on the server", object["apiVersion"], object["kind"])
	}
	metadata := object["metadata"].(map[string]any)
	_, deleted := metadata["deletionTimestamp"]
	delete(metadata, "deletionTimestamp")
	delete(metadata, "creationTimestamp")
	if deleted {
		metadata["finalizers"] = []string{"example.com/held"}
	}
	at := path(r, "default")
	one := fmt.Sprintf("%s/%s", at, metadata["name"])
	if code, answer := s.try(http.MethodPost, at, asJSON, object); code != http.StatusCreated {
		return fmt.Errorf("create %s: %d: %s", one, code, answer)
	}
	if status, ok := object["status"]; ok && s.statuses[r.String()] {
		s.do(http.MethodPatch, one+"/status", asJSON, map[string]any{"status": status})
	}
	if deleted {
		s.do(http.MethodDelete, one, asJSON, nil)
	}
	return nil
}

// establish waits until the API of a CustomResourceDefinition is served, and keeps its definition.
func (s *server) establish(name string) {
	s.t.Helper()
	plural, group, _ := strings.Cut(name, ".")
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if code, _ := s.try(http.MethodGet, "/apis/"+group+"/v1/"+plural, asJSON, nil); code == http.StatusOK {
			break
		}
		select {
		case <-poll.C:
		case <-s.ctx.Done():
			s.t.Fatalf("%s isn't served: %v", name, s.ctx.Err())
		}
	}
	s.all = nil
	s.definitions[name] = s.do(http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, asJSON, nil)
}

// compare holds the table of all objects of a resource against this package's, and returns how many there are.
func (s *server) compare(r timeline.Resource) int {
	s.t.Helper()
	var table struct {
		ColumnDefinitions []metav1.TableColumnDefinition `json:"columnDefinitions"`
		Rows              []struct {
			Cells      json.RawMessage               `json:"cells"`
			Conditions []metav1.TableRowCondition    `json:"conditions"`
			Object     *metav1.PartialObjectMetadata `json:"object"`
		} `json:"rows"`
	}
	from := time.Now()
	s.decode(s.do(http.MethodGet, path(r, ""), asTable, nil), &table)
	to := time.Now()
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	s.decode(s.do(http.MethodGet, path(r, ""), asJSON, nil), &list)

	p := For(r, s.definitions[r.Resource+"."+r.Group])
	if diff := cmp.Diff(table.ColumnDefinitions, p.Columns()); diff != "" {
		s.t.Errorf("%s of %s: columns: server (-), found (+):\n%s", r.Resource, r.APIVersion(), diff)
	}
	ours := map[string][2]string{} // by namespace and name, as of both ends of the request
	for _, raw := range list.Items {
		var object metav1.PartialObjectMetadata
		s.decode(raw, &object)
		ours[object.Namespace+"/"+object.Name] = [2]string{s.row(p, raw, from), s.row(p, raw, to)}
	}
	for _, row := range table.Rows {
		conditions, err := json.Marshal(row.Conditions)
		if err != nil {
			s.t.Fatal(err)
		}
		want, name := string(row.Cells)+string(conditions), row.Object.Namespace+"/"+row.Object.Name
		if found := ours[name]; found[0] != want && found[1] != want {
			s.t.Errorf("%s of %s %s:\nserver: %s\nfound:  %s", r.Resource, r.APIVersion(), name, want, found[0])
		}
	}
	return len(table.Rows)
}

// row is a row as JSON.
func (s *server) row(p *Printer, raw []byte, now time.Time) string {
	s.t.Helper()
	cells, conditions, err := p.Cells(raw, now)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := json.Marshal(cells)
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := json.Marshal(conditions)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(c) + string(d)
}

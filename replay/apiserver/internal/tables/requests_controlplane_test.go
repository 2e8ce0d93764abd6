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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/timeline"
)

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

func newServer(ctx context.Context, t *testing.T) *server {
	t.Helper()
	client, url := testcluster.Shared(t).HTTP(t)
	return &server{t: t, ctx: ctx, client: client, url: url, definitions: map[string][]byte{}}
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
	defer func() { _ = response.Body.Close() }()
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
			if group.Name != "served.example.com" { // the object of testdata, which isn't served
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

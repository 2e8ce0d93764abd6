package apiserver

import (
	"bytes"
	"log"
	"net/http"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/replay/apiserver/internal/openapi"
	"github.com/nodesim/nodesim/timeline"
)

// catalog holds what a Server serves. It never changes: where clients define resources,
// another one takes its place.
type catalog struct {
	discovery    http.Handler
	openapi      *openapi.Handler
	resources    map[schema.GroupVersionResource]*resource
	subresources func(timeline.Resource) []string
	served       []timeline.Resource          // the keys of resources, in the tape's order
	texts        map[timeline.Resource][]byte // of their definitions, as they were when it was built: requests come later
	definitions  uint64                       // of the Cluster when it was built
}

// catalog returns what is served now.
func (s *Server) catalog() *catalog {
	c := s.built.Load()
	if c.definitions == s.cluster.Definitions() {
		return c
	}
	s.building.Lock()
	defer s.building.Unlock()
	c = s.built.Load()
	now := s.cluster.Definitions()
	if c.definitions == now {
		return c
	}
	next, err := s.build(now)
	if err != nil { // what is served stays as it was until they change again
		was := *c
		next, was.definitions = &was, now
		log.New(os.Stderr, "", 0).Printf("serve what CustomResourceDefinitions define: %v", err)
	}
	s.built.Store(next)
	return next
}

// resource returns what serves a resource already; nil where nothing does.
func (c *catalog) resource(r timeline.Resource) *resource {
	if c == nil {
		return nil
	}
	if has := c.resources[gvr(r)]; has != nil && has.Resource == r {
		return has
	}
	return nil
}

func (s *Server) build(definitions uint64) (*catalog, error) {
	c := &catalog{resources: map[schema.GroupVersionResource]*resource{}, texts: map[timeline.Resource][]byte{}, definitions: definitions}
	was := s.built.Load()
	c.served = s.cluster.Resources()
	for _, r := range c.served {
		c.texts[r] = s.definition(r)
		if had := was.resource(r); had != nil && bytes.Equal(was.texts[r], c.texts[r]) {
			c.resources[gvr(r)] = had // with what it has learnt
			continue
		}
		c.resources[gvr(r)] = s.newResource(r)
	}
	if s.implied != nil {
		r := s.newResource(namespaces)
		r.cluster = s.implied
		c.resources[gvr(namespaces)], c.served = r, append(c.served, namespaces)
	}
	about, err := discovery.New(discovery.Options{
		Resources: c.served, Definitions: s.definition, ServerVersion: s.player.Header().Source.Server,
		Writes: s.writeHandler != nil, Reviews: s.player.Writable(),
	})
	if err != nil {
		return nil, err
	}
	c.discovery, c.subresources = about, about.Subresources
	o := openapi.Options{
		Resources: c.served, Subresources: about.Subresources, Verbs: discovery.Verbs,
		Definitions:   func(r timeline.Resource) []byte { return c.texts[r] },
		ServerVersion: s.player.Header().Source.Server, Writes: s.writeHandler != nil,
	}
	if !s.player.Writable() {
		o.Definitions = s.definition
	}
	c.openapi = openapi.New(o)
	return c, nil
}

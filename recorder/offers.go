package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// acceptOffers asks for all groups with their resources in one document, which servers since 1.30 have, or else for the list
// of groups alone.
const acceptOffers = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// mostOffers bounds a document of discovery, in bytes. That of a cluster with a thousand custom resources has one megabyte.
const mostOffers = 64 << 20

// An offer is one version of a group, as discovery lists it: those of a group are in sequence, the preferred one first.
type offer struct {
	schema.GroupVersion
	resources []metav1.APIResource
	known     bool // whether resources are those of the server
}

// offers asks what the server has, as client-go's discovery client does, which links the clients' types of all groups. A
// version whose resources can't be had (an aggregated API whose server is down) is not known.
func (c *client) offers(ctx context.Context) ([]offer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	core, err := c.offersAt(ctx, "/api")
	if err != nil && !hidden(err) {
		return nil, err
	}
	groups, err := c.offersAt(ctx, "/apis")
	if err != nil {
		return nil, err
	}
	all := append(core, groups...)
	c.fill(ctx, all)
	return all, ctx.Err()
}

// hidden reports whether a server has no core group, as those of an aggregated API.
func hidden(err error) bool {
	var s *statusError
	return errors.As(err, &s) && (s.Code == http.StatusNotFound || s.Code == http.StatusForbidden)
}

// offersAt asks one root. The answer is of one of three kinds.
func (c *client) offersAt(ctx context.Context, root string) ([]offer, error) {
	var answer struct {
		metav1.TypeMeta
		Versions []string                         `json:"versions"` // of APIVersions
		Groups   []metav1.APIGroup                `json:"groups"`   // of an APIGroupList
		Items    []apidiscovery.APIGroupDiscovery `json:"items"`    // of an APIGroupDiscoveryList
	}
	if err := c.getOffers(ctx, root, acceptOffers, &answer); err != nil {
		return nil, err
	}
	var all []offer
	for _, v := range answer.Versions {
		all = append(all, offer{GroupVersion: schema.GroupVersion{Version: v}})
	}
	for _, g := range answer.Groups {
		all = append(all, ofGroup(g)...)
	}
	for _, g := range answer.Items {
		all = append(all, ofDocument(g)...)
	}
	return all, nil
}

func ofGroup(g metav1.APIGroup) []offer {
	var all []offer
	for _, v := range g.Versions {
		o := offer{GroupVersion: schema.GroupVersion{Group: g.Name, Version: v.Version}}
		if v.Version == g.PreferredVersion.Version {
			all = slices.Insert(all, 0, o)
		} else {
			all = append(all, o)
		}
	}
	return all
}

// ofDocument are the versions of a group that come with their resources. Those that the server marks as stale are those of
// an aggregated API that it can't reach.
func ofDocument(g apidiscovery.APIGroupDiscovery) []offer {
	var all, stale []offer
	for _, v := range g.Versions {
		o := offer{GroupVersion: schema.GroupVersion{Group: g.Name, Version: v.Version}, known: true}
		if v.Freshness == apidiscovery.DiscoveryFreshnessStale {
			o.known = false
			stale = append(stale, o)
			continue
		}
		for _, r := range v.Resources {
			if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
				continue
			}
			o.resources = append(o.resources, metav1.APIResource{
				Name: r.Resource, SingularName: r.SingularResource, Namespaced: r.Scope == apidiscovery.ScopeNamespace,
				Kind: r.ResponseKind.Kind, Verbs: r.Verbs, ShortNames: r.ShortNames,
			})
		}
		all = append(all, o)
	}
	return append(all, stale...)
}

// fill asks for the resources of the versions that came without, four at a time, each of them twice.
func (c *client) fill(ctx context.Context, all []offer) {
	var asking sync.WaitGroup
	free := make(chan struct{}, 4)
	for i := range all {
		if all[i].known {
			continue
		}
		free <- struct{}{}
		asking.Go(func() {
			defer func() { <-free }()
			var list metav1.APIResourceList
			for try := 0; try < 2 && !all[i].known; try++ {
				all[i].known = c.getOffers(ctx, all[i].path(), "application/json", &list) == nil
			}
			all[i].resources = list.APIResources
		})
	}
	asking.Wait()
}

// path is where a version's resources are listed.
func (o *offer) path() string {
	if o.Group == "" {
		return "/api/" + o.Version
	}
	return "/apis/" + o.Group + "/" + o.Version
}

func (c *client) getOffers(ctx context.Context, path, accept string, into any) error {
	resp, err := c.get(ctx, path, url.Values{}, http.Header{"Accept": {accept}})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostOffers)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

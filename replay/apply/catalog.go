package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// asker answers what is no resource; see [live.get].
type asker interface {
	get(ctx context.Context, path string) ([]byte, error)
}

// catalog knows what the server serves, as far as it was asked.
type catalog struct {
	ask    asker
	served map[string][]metav1.APIResource // by group version
}

// found describes how the server serves a resource. The zero value is: not at all.
type found struct {
	served bool
	status bool   // status is a subresource: a write of its own
	reason string // why it isn't served
}

// find looks a resource up. What isn't there is asked for again the next time:
// a definition on the tape may make it.
func (c *catalog) find(ctx context.Context, r timeline.Resource) (found, error) {
	if c.ask == nil { // no server: one that has everything
		return found{served: true, status: !isEvent(r) && r.Resource != "leases"}, nil
	}
	gv := r.APIVersion()
	list, ok := c.served[gv]
	if !ok {
		var err error
		if list, err = c.list(ctx, gv); err != nil {
			return found{}, err
		}
	}
	i := slices.IndexFunc(list, func(s metav1.APIResource) bool { return s.Name == r.Resource && s.Namespaced == r.Namespaced })
	if i < 0 {
		delete(c.served, gv)
		return found{reason: fmt.Sprintf("the server has no %s in %s", r.Resource, gv)}, nil
	}
	for _, verb := range []Verb{Create, Patch, Delete, List} {
		if !slices.Contains(list[i].Verbs, string(verb)) {
			return found{reason: fmt.Sprintf("the server has no %s for it", verb)}, nil
		}
	}
	status := slices.ContainsFunc(list, func(s metav1.APIResource) bool { return s.Name == r.Resource+"/status" })
	return found{served: true, status: status}, nil
}

func (c *catalog) list(ctx context.Context, gv string) ([]metav1.APIResource, error) {
	path := "/apis/" + gv
	if !strings.Contains(gv, "/") {
		path = "/api/" + gv
	}
	raw, err := c.ask.get(ctx, path)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("discover %s: %w", gv, err)
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("discover %s: %w", gv, err)
	}
	c.served[gv] = list.APIResources
	return list.APIResources, nil
}

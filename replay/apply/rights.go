package apply

import (
	"context"
	"encoding/json"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/timeline"
)

// right is something that a replay has to be allowed.
type right struct {
	verb Verb
	sub  string
}

func (r right) of(res timeline.Resource) string {
	if r.sub != "" {
		return string(r.verb) + " " + res.String() + "/" + r.sub
	}
	return string(r.verb) + " " + res.String()
}

// rightsOf lists what has to be allowed for a resource.
func rightsOf(res timeline.Resource, status bool) []right {
	needed := []right{{verb: List}, {verb: Get}, {verb: Create}, {verb: Patch}, {verb: Delete}}
	if status {
		needed = append(needed, right{Patch, "status"})
	}
	if isPod(res) {
		needed = append(needed, right{Create, "binding"})
	}
	return needed
}

// denied returns why the user can't replay a resource, or "". It asks the
// server as `kubectl auth can-i` does, which every user may. A server that
// doesn't answer that shows its mind when it is written to.
func (a *Applier) denied(ctx context.Context, res timeline.Resource, status bool) string {
	if a.catalog.ask == nil || a.allowed(ctx, timeline.Resource{Group: "*", Resource: "*"}, right{verb: "*"}) {
		return ""
	}
	for _, needed := range rightsOf(res, status) {
		if !a.allowed(ctx, res, needed) {
			return "the user may not " + needed.of(res)
		}
	}
	return ""
}

func (a *Applier) allowed(ctx context.Context, res timeline.Resource, needed right) bool {
	if allowed, ok := a.may[needed.of(res)]; ok {
		return allowed
	}
	review := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: string(needed.verb), Group: res.Group, Resource: res.Resource, Subresource: needed.sub,
		},
	}}
	review.Kind, review.APIVersion = accessReviews.Kind, accessReviews.APIVersion()
	allowed := needed.verb != "*"
	body, err := json.Marshal(review)
	if err == nil {
		var raw []byte
		if raw, err = a.server.do(ctx, request{verb: Create, resource: accessReviews, body: body, asks: true}); err == nil {
			err = json.Unmarshal(raw, &review)
		}
	}
	if err == nil {
		allowed = review.Status.Allowed
	}
	a.may[needed.of(res)] = allowed
	return allowed
}

// ForeignNodesError says that the cluster has nodes that no replay has made. A
// replay among them could do harm: real workloads may be scheduled to its nodes.
type ForeignNodesError struct {
	Server  string
	Count   int
	Example string
}

// Error implements error.
func (e *ForeignNodesError) Error() string {
	return fmt.Sprintf("cluster %s: found %s that no replay has made, such as %s: want a cluster without, or to be told that this one is meant",
		e.Server, phrase.Count(e.Count, "node"), e.Example)
}

// foreign looks for nodes that no replay has made.
func (a *Applier) foreign(ctx context.Context) error {
	if a.catalog.ask == nil || a.known {
		return nil
	}
	e := &ForeignNodesError{Server: a.host}
	err := a.each(ctx, nodes, "!"+Label, func(o object) error {
		if e.Count++; e.Count == 1 {
			e.Example = text(o, "metadata", "name")
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("look whether the cluster has nodes of its own: %w", err)
	case e.Count > 0:
		return e
	}
	return nil
}

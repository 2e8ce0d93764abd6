package recorder

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/timeline"
)

// MachineResources returns the resources of the objects that providers make nodes for. They are recorded where nothing else is
// asked for, the server has them, and the user may list and watch them.
func MachineResources() []string {
	return []string{"nodeclaims.karpenter.sh", "machines.cluster.x-k8s.io"}
}

// resources are those that the config names, or the default ones.
func (r *Recorder) resources(ctx context.Context, c *client, cat *catalog) ([]timeline.Resource, error) {
	found, err := cat.find(r.cfg.Resources)
	if err != nil || !r.machines {
		return found, err
	}
	for _, name := range MachineResources() {
		i := slices.IndexFunc(cat.entries, func(e entry) bool { return e.String() == name })
		if i < 0 || !slices.Contains(cat.entries[i].verbs, "list") || !slices.Contains(cat.entries[i].verbs, "watch") {
			continue
		}
		res := cat.entries[i].Resource
		verb, err := c.may(ctx, res)
		if s := (*statusError)(nil); errors.As(err, &s) && (s.Code == http.StatusForbidden || s.Code == http.StatusNotFound) {
			r.cfg.Warn(name + ": not recorded: " + refused(verb, res, err).Error())
			continue
		}
		if err != nil && r.cfg.Resume != nil {
			return nil, err // neither that they may be read nor that they may not
		}
		found = append(found, res) // whatever else is wrong shows where all resources are listed
	}
	return found, nil
}

// same refuses a tape with other resources than the default ones of now.
func (r *Recorder) same(ctx context.Context, c *client, cat *catalog, tape []timeline.Resource) error {
	for _, name := range MachineResources() {
		_, group, _ := strings.Cut(name, ".")
		if slices.ContainsFunc(cat.failed, func(of string) bool { return strings.HasPrefix(of, group+"/") || of == group }) {
			return nil // its server may be away
		}
	}
	found, err := r.resources(ctx, c, cat)
	if err != nil {
		return err
	}
	e := &OtherResourcesError{}
	for _, res := range tape {
		e.Tape = append(e.Tape, res.String())
	}
	for _, res := range found {
		e.Found = append(e.Found, res.String())
	}
	if slices.Equal(slices.Sorted(slices.Values(e.Tape)), slices.Sorted(slices.Values(e.Found))) {
		return nil
	}
	return e
}

// may asks for one object of a resource, and for a watch of a second. It returns the verb of the request that failed, and why it did.
func (c *client) may(ctx context.Context, res timeline.Resource) (verb string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the watch
	for _, request := range []struct {
		verb  string
		query url.Values
	}{
		{"list", url.Values{"limit": {"1"}}},
		{"watch", url.Values{"watch": {"true"}, "timeoutSeconds": {"1"}}},
	} {
		resp, err := c.get(ctx, path(res), request.query, http.Header{})
		if err != nil {
			return request.verb, err
		}
		_ = resp.Body.Close() // only the status counts
	}
	return "", nil
}

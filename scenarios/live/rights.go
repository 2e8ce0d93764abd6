package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/kubeclient"
)

// A right is a permission that a live run needs.
type right struct {
	verb, group, resource, sub string
}

// String is the right as `kubectl auth can-i` takes it.
func (r right) String() string {
	name := r.resource
	if r.group != "" {
		name += "." + r.group
	}
	if r.sub != "" {
		name += "/" + r.sub
	}
	return r.verb + " " + name
}

// rightsFor lists what has to be allowed: what the kubelets and controllers of the
// scenario do, and what is created for it.
func rightsFor(created []schema.GroupVersionResource) []right {
	var all []right
	of := func(group, resource, sub string, verbs ...string) {
		for _, r := range rightsOf(group, resource, sub, verbs...) {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	of("", "nodes", "", "list", "watch", "get", "create", "patch", "delete")
	of("", "nodes", "status", "patch")
	of("", "pods", "", "list", "watch", "get", "patch", "delete")
	of("", "pods", "status", "update")
	of("", "pods", "eviction", "create")
	of("", "events", "", "list", "watch", "create", "patch")
	of("coordination.k8s.io", "leases", "", "get", "create", "update", "delete")
	of("policy", "poddisruptionbudgets", "", "list", "watch")
	if hasDisks(created) {
		of("", "persistentvolumeclaims", "", "list", "watch", "delete")
		of("", "persistentvolumes", "", "list", "watch", "create", "delete")
		of("storage.k8s.io", "volumeattachments", "", "list", "watch", "get", "patch", "delete")
		of("storage.k8s.io", "volumeattachments", "status", "patch")
		of("storage.k8s.io", "csinodes", "", "list", "create", "patch", "delete")
	}
	for _, r := range created {
		of(r.Group, r.Resource, "", "list", "get", "create", "delete")
		if r.Group == "apps" && r.Resource != "daemonsets" {
			of(r.Group, r.Resource, "scale", "patch")
		}
	}
	return all
}

func rightsOf(group, resource, sub string, verbs ...string) []right {
	all := make([]right, len(verbs))
	for i, v := range verbs {
		all[i] = right{v, group, resource, sub}
	}
	return all
}

// rights lists the permissions that this live run needs.
func (r *run) rights() []right {
	all := rightsFor(r.resources())
	if r.sim.Placing() {
		all = append(all, right{"create", "", "pods", "binding"})
	}
	if r.scenario.pods != nil {
		all = append(all, right{"patch", "apps", "replicasets", ""})
		if r.file.Roll.Image == "" {
			all = append(all, right{"patch", "", "pods", "resize"})
		}
	}
	return all
}

// MissingRightsError lists the permissions that a live run needs and the user lacks.
type MissingRightsError struct {
	Server string
	// Rights as `kubectl auth can-i` takes them: "patch nodes/status".
	Rights []string
}

// Error implements error.
func (e *MissingRightsError) Error() string {
	return fmt.Sprintf("cluster %s: the user may not %s: want these rights, in the whole cluster", e.Server, strings.Join(e.Rights, ", "))
}

// checkRights refuses a user without all permissions that a live run needs.
func (p *Runner) checkRights(ctx context.Context, client kubeclient.Interface, needed []right) error {
	missing, err := p.missing(ctx, client, needed)
	if err != nil || len(missing) == 0 {
		return err
	}
	return &MissingRightsError{Server: p.config.Host, Rights: missing}
}

// missing asks the server as `kubectl auth can-i` does, which every user may. A
// server that doesn't answer that shows its mind when it is written to.
func (p *Runner) missing(ctx context.Context, client kubeclient.Interface, needed []right) (names []string, err error) {
	may := func(r right) (allowed, answered bool) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.sub},
		}}
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, false
		}
		return review.Status.Allowed, true
	}
	if all, _ := may(right{"*", "*", "*", ""}); all {
		return nil, nil
	}
	for _, r := range needed {
		if allowed, answered := may(r); answered && !allowed {
			names = append(names, r.String())
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return names, nil
}

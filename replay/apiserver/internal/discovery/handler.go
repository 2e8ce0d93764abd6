package discovery

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/nodesim/nodesim/timeline"
)

// Options say what is to be discovered.
type Options struct {
	// Resources are those of the tape. Each group, version and plural may stand once.
	Resources []timeline.Resource

	// Definitions returns the CustomResourceDefinition (apiextensions.k8s.io/v1, as JSON) of a custom resource, or nil
	// where the tape has none. It is called in New alone, once for each resource that isn't built in, and may be nil.
	Definitions func(timeline.Resource) []byte

	// ServerVersion is the version of the recorded server, such as v1.36.3. Where it is missing or can't be read, it
	// is that of the Kubernetes release whose built-in resources this package knows.
	ServerVersion string

	// Writes lists the verbs that write, too.
	Writes bool

	// Reviews lists the reviews of authentication.k8s.io and authorization.k8s.io, too.
	Reviews bool

	// Ready is asked at each /readyz; an error is "not ready". It may be nil, and must be safe for concurrent use.
	Ready func() error
}

// A Handler serves discovery. It never changes, and is safe for concurrent use.
type Handler struct {
	facts              map[timeline.Resource]facts
	info               apiversion.Info
	aggregatedVersions []string
	checks             map[string][]check
	paths              metav1.RootPaths

	groups    map[string]*group // by name
	groupList *metav1.APIGroupList
	core      aggregate // /api
	others    aggregate // /apis
}

// New builds the documents. It fails where a resource has no version, plural or kind, stands twice, or has a
// definition that is no JSON object of that kind.
func New(opts Options) (*Handler, error) {
	h := &Handler{facts: map[timeline.Resource]facts{}, groups: map[string]*group{}, checks: checks(opts.Ready)}
	if err := h.learn(opts); err != nil {
		return nil, err
	}
	var minor int
	h.info, minor = serverVersion(opts.ServerVersion)
	h.aggregatedVersions = aggregatedVersions(minor)

	served := opts.Resources
	if opts.Reviews {
		served = slices.Concat(served, reviews)
		for _, r := range reviews {
			h.facts[r] = reviewFacts(r)
		}
	}
	all := groups(served, func(r timeline.Resource) facts { return h.facts[r] }, opts.Writes)
	var core, others []*group
	for _, g := range all {
		h.groups[g.name] = g
		if g.name == "" {
			core = append(core, g)
		} else {
			others = append(others, g)
		}
	}
	h.groupList = groupList(all)
	h.paths = rootPaths(all, h.checks)
	var errs [2]error
	h.core, errs[0] = aggregateOf(core)
	h.others, errs[1] = aggregateOf(others)
	return h, errors.Join(errs[:]...)
}

// learn collects the facts of each resource.
func (h *Handler) learn(opts Options) error {
	seen := map[string]bool{}
	for _, r := range opts.Resources {
		if r.Version == "" || r.Resource == "" || r.Kind == "" {
			return fmt.Errorf("discovery: resource %+v: want a version, a plural and a kind", r)
		}
		if key := r.APIVersion() + "/" + r.Resource; seen[key] {
			return fmt.Errorf("discovery: resource %s stands twice; want each group, version and plural once", key)
		} else {
			seen[key] = true
		}
		var d *definition
		if opts.Definitions != nil && !builtinGroup(r.Group) {
			var err error
			if d, err = readDefinition(r, opts.Definitions(r)); err != nil {
				return err
			}
		}
		h.facts[r] = factsOf(r, d)
	}
	return nil
}

// Subresources returns the subresources that a resource has, by its definition where it is a custom one. The
// caller must not change the slice.
func (h *Handler) Subresources(r timeline.Resource) []string {
	if f, ok := h.facts[r]; ok {
		return f.names()
	}
	return Subresources(r)
}

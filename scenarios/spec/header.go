package spec

import (
	"slices"
	"strings"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

var (
	nodesResource   = timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	podsResource    = timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	eventsResource  = timeline.Resource{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true}
	budgetsResource = timeline.Resource{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true}
)

// resources returns the resources of the tape: those that a recorder records, and the provider's own kinds.
func (f *File) resources() []timeline.Resource {
	some := []timeline.Resource{nodesResource, podsResource, budgetsResource}
	if f.Cluster.Events {
		some = append(some, eventsResource)
	}
	switch f.Cluster.Provider {
	case ProviderKarpenter:
		some = append(some, kube.NodeClaims)
	case ProviderCAPI:
		some = append(some, kube.Machines)
	}
	return some
}

// lacks says what no simulated tape has: nothing was dropped from its objects,
// since they never had it. The list is a part of every tape, and so of its hash,
// which is why it doesn't follow timeline.DefaultRedaction.
var lacks = []string{
	"**.metadata.managedFields", "**.metadata.annotations (all but known keys)",
	"**.args", "**.command", "**.customData", "**.env", "**.envFrom", "**.envVars", "**.environment",
	"**.extraArgs", "**.extraEnv", "**.kubeletExtraArgs", "**.password", "**.token", "**.userData",
	"**.state.terminated.message", "**.spec (of pods: all but scheduling)", "**.containers (all but name, image, resources)",
	"**.volumes (contents)", "configmaps.data", "configmaps.binaryData",
}

// Header returns the header of the file's tape.
func (f *File) Header() timeline.Header {
	h := timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind,
		Metadata:  timeline.Metadata{Name: f.Metadata.Name},
		Source:    timeline.Origin{Kind: "scenario", Server: "v" + f.Cluster.KubernetesVersion + ".0", Times: "observed"},
		Scope:     timeline.Scope{Provider: string(f.Cluster.Provider)},
		Resources: f.resources(),
		Redaction: slices.Clone(lacks),
		Faults:    f.Stream,
	}
	h.Metadata.Start = timeline.Time{Time: f.Start}
	chance := model.NewStream(f.Seed, "cluster")
	h.Source.Cluster = chance.UUID()
	if w := f.RolledInPlace(); w != nil {
		h.Scope.Namespace, h.Scope.Pods = w.Namespace, "app="+w.Name
	}
	f.scopeNodes(&h.Scope)
	return h
}

// scopeNodes names the nodes that the tape shows: those of the group that the file has or rolls. Where that group is
// split, none has its name, and a selector of all its parts replaces it.
func (f *File) scopeNodes(s *timeline.Scope) {
	group := ""
	if len(f.Groups) == 1 {
		group = f.Groups[0].Name
	} else if f.Roll != nil && len(f.Roll.Groups) == 1 {
		group = f.Roll.Groups[0]
	}
	i := slices.IndexFunc(f.Groups, func(g Group) bool { return g.Name == group })
	if i < 0 {
		return
	}
	split := f.Groups[i].split()
	if len(split) == 1 {
		s.Nodegroup = group
		return
	}
	p, err := noderoll.ProviderByName(s.Provider)
	if err != nil || len(p.PoolLabels) == 0 {
		return // by an annotation, which no selector can name: the tape shows all nodes
	}
	parts := make([]string, len(split))
	for n := range split {
		parts[n] = split[n].Name
	}
	s.Selector = p.PoolLabels[0] + " in (" + strings.Join(parts, ",") + ")"
}

// RolledInPlace is the workload, in f, whose pods the roll changes where they run, or nil.
func (f *File) RolledInPlace() *Workload {
	if f.Roll == nil || f.Roll.Workload == "" {
		return nil
	}
	return f.Workload(f.Roll.Workload)
}

// MachineTimings returns those of the provider's machines with an OS, as the file overrides
// them.
func (f *File) MachineTimings(os OS, v model.Version) (*model.Timings, error) {
	t := model.DefaultTimings(f.Cluster.Provider, os).For(v)
	for _, o := range f.Timings {
		if err := t.Set(o.Name, o.Dist.Model()); err != nil {
			return nil, err
		}
	}
	return &t, nil
}

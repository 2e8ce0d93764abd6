package scenarios

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/objects"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/internal/workloads"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// ActConfig configures a cluster that acts.
type ActConfig struct {
	// AtRest leaves out the scenario's roll and its faults: nothing happens that no client asks for, but for what
	// creates and ends pods and nodes anyway.
	AtRest bool
}

// An Acting is a simulated cluster that takes writes and answers to them. It begins as a scenario does, and doesn't
// end with it. It is a replay.Engine: the objects are with the Player, which knows them whole, and the Acting has a
// view of those that its actors work with. A write of an actor is a patch of what it changes.
//
// An Acting is for one goroutine. The same scenario with the same writes at the same moments makes the same events.
type Acting struct {
	sim       *Simulation
	header    timeline.Header
	made      []timeline.Event
	written   convert.Written
	objects   *objects.Objects
	workloads *workloads.Actor
	attach    *controllers.AttachDetach  // nil where kubelets are kwok's
	machines  map[string]*cloud.Instance // of nodes that clients have created
	leads     leads
	scratch   []byte
}

// Act makes the cluster of the file's beginning.
func (f *File) Act(c ActConfig) (*Acting, error) {
	whole, err := f.Split()
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	a, err := newActing(whole)
	if err != nil {
		return nil, err
	}
	s := a.sim
	if err := s.build(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	if !c.AtRest {
		if err := s.begin(); err != nil {
			return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
		}
	}
	return a, nil
}

// newActing makes a cluster with nothing in it yet.
func newActing(f *File) (*Acting, error) {
	a := &Acting{machines: map[string]*cloud.Instance{}}
	s, err := f.newSimulation(a.emit, nil, f.Start)
	if err != nil {
		return nil, err
	}
	a.sim, s.acting = s, a
	s.header.Resources = offered(slices.Clone(s.header.Resources), slices.Concat(actResources, plainResources))
	if f.Cluster.Provider == spec.ProviderCAPI {
		s.header.Resources = offered(s.header.Resources, []timeline.Resource{roll.MachineDeployments, roll.MachineSets})
	}
	a.header = s.header
	s.env.API.PatchesOnly()
	a.written.Clock = convert.Clock{Scenario: kube.InstantOf(f.Start), Wall: f.Start, Speed: 1}
	a.written.Templates.Traits, a.written.Templates.Resizable = s.traitsOf, true
	a.objects = objects.New(objects.Config{Env: s.env, Header: &a.header, Disk: a.disk})
	s.env.API.Bound(a.objects.Full)
	a.written.Owner = func(uid string) *kube.Owner { return a.workloads.OwnerOf(uid) }
	a.keepWorkloads()
	a.keepClientsNodes()
	return a, nil
}

// actResources are those that clients need beside what a tape of a scenario has.
var actResources = []timeline.Resource{
	{Version: "v1", Kind: "Namespace", Resource: "namespaces"},
	{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
	{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts", Namespaced: true},
	{Version: "v1", Kind: "Service", Resource: "services", Namespaced: true},
	{Version: "v1", Kind: "Endpoints", Resource: "endpoints", Namespaced: true},
	{Version: "v1", Kind: "ReplicationController", Resource: "replicationcontrollers", Namespaced: true},
	{Version: "v1", Kind: "PersistentVolume", Resource: "persistentvolumes"},
	{Version: "v1", Kind: "PersistentVolumeClaim", Resource: "persistentvolumeclaims", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "ControllerRevision", Resource: "controllerrevisions", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "DaemonSet", Resource: "daemonsets", Namespaced: true},
	{Group: "batch", Version: "v1", Kind: "CronJob", Resource: "cronjobs", Namespaced: true},
	{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs", Namespaced: true},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Namespaced: true},
	{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices", Namespaced: true},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Resource: "clusterroles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding", Resource: "clusterrolebindings"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role", Resource: "roles", Namespaced: true},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding", Resource: "rolebindings", Namespaced: true},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass", Resource: "priorityclasses"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass", Resource: "storageclasses"},
}

// Header names the resources that clients can read and write.
func (a *Acting) Header() *timeline.Header { return &a.header }

// Made returns the next event that was made and not returned yet.
func (a *Acting) Made() (ev timeline.Event, ok bool) {
	if len(a.made) == 0 {
		return ev, false
	}
	ev, a.made[0] = a.made[0], timeline.Event{}
	if a.made = a.made[1:]; len(a.made) == 0 {
		a.made = nil
	}
	return ev, true
}

// Due returns when something happens next.
func (a *Acting) Due() (at time.Duration, ok bool) { return a.sim.env.Next() }

// Advance lets time pass up to a moment; what is due then has happened.
func (a *Acting) Advance(to time.Duration) error {
	if a.sim.failed == nil {
		if err := a.sim.env.Run(to); err != nil {
			a.sim.failed = fmt.Errorf("simulate %s: %w", a.sim.file.Metadata.Name, err)
		}
	}
	return a.sim.failed
}

// Close ends the simulation.
func (a *Acting) Close() error {
	a.sim.Close()
	return nil
}

// emit keeps an event until it is asked for.
func (a *Acting) emit(ev timeline.Event) error {
	if ev.Resource == "events" && ev.Type == timeline.Added && a.objects.Terminating(ev.Namespace) {
		a.sim.env.API.LoseEvent(ev.Namespace, ev.Name)
		return nil // the API server refuses it
	}
	a.objects.Saw(&ev)
	if err := a.workloads.Put(&ev); err != nil {
		return err
	}
	a.collected(&ev)
	ev.Patch = bytes.Clone(ev.Patch)
	if ev.Object != nil {
		r, _ := a.header.Lookup(ev.Resource)
		if bytes.HasPrefix(ev.Object, []byte(metadata)) {
			a.scratch = identified(a.scratch[:0], r, &ev)
			ev.Object = a.scratch
		}
		ev.Object = bytes.Clone(ev.Object)
	}
	a.made = append(a.made, ev)
	return nil
}

// metadata is what the objects of the Store begin with. Those that it has no types for have their identity in it.
const metadata = `{"metadata":{`

// identified appends an event's object with its identity, which a tape has beside it.
func identified(b []byte, r timeline.Resource, ev *timeline.Event) []byte {
	b = rawjson.AppendString(append(b, `{"kind":`...), r.Kind)
	b = rawjson.AppendString(append(b, `,"apiVersion":`...), r.APIVersion())
	b = rawjson.AppendString(append(b, `,"metadata":{"name":`...), ev.Name)
	if ev.Namespace != "" {
		b = rawjson.AppendString(append(b, `,"namespace":`...), ev.Namespace)
	}
	b = rawjson.AppendString(append(b, `,"uid":`...), ev.UID)
	b = rawjson.AppendString(append(b, `,"resourceVersion":`...), ev.RV)
	if ev.Object[len(metadata)] != '}' {
		b = append(b, ',')
	}
	return append(b, ev.Object[len(metadata):]...)
}

package roll

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// kops is `kops rolling-update` of an instance group (kubernetes/kops,
// pkg/instancegroups/instancegroups.go). Old nodes are tainted so that the
// scheduler prefers others, all but one. MaxSurge of them are detached from the
// Auto Scaling group, which launches others in their place; they are drained
// last. Then nodes are drained and terminated, MaxSurge and MaxUnavailable
// together at a time, the first of them alone. Before each step the cluster has to
// validate, twice within fifteen seconds: every node of the group is there and Ready, and
// so are the containers of all pods of a critical priority.
//
// A drain whose time is over fails the update.
type kops struct {
	Base
	detached map[string]bool
	valid    int  // successful validations one after the other
	proven   bool // an instance of the new specification was there when the cluster validated
	checked  time.Duration
}

const scheduledForUpdate = "kops.k8s.io/scheduled-for-update"

// Of `kops rolling-update cluster`: validate-count, and ValidateSuccessDuration
// (cmd/kops/rollingupdatecluster.go).
const (
	kopsValidations = 2
	kopsRevalidates = 15 * time.Second
)

// KOps is the rolling update of an instance group.
func KOps(b Base) Strategy { return &kops{Base: b, detached: map[string]bool{}} }

func (s *kops) surge() int {
	if s.cfg.MaxSurge+s.cfg.MaxUnavailable == 0 {
		return 1
	}
	return min(s.cfg.MaxSurge, s.cfg.Size)
}

// Begin taints the old nodes but one, and detaches the last of them.
func (s *kops) Begin() {
	var old []*cloud.Instance
	s.proven = false
	for _, i := range s.cfg.Group.Instances() {
		switch {
		case i.State == cloud.ShuttingDown:
		case s.Roller.old(i):
			old = append(old, i)
		default:
			s.proven = true
		}
	}
	s.valid, s.checked = 0, 0
	clear(s.detached)
	for _, i := range old[max(0, len(old)-s.surge()):] {
		s.detached[i.ID] = true
	}
	for k, i := range old {
		if n := s.env.API.Node(i.Name); n != nil && k > 0 && !n.Unschedulable {
			s.taint(n, kube.Taint{Key: scheduledForUpdate, Effect: "PreferNoSchedule"})
		}
	}
}

func (s *kops) Options(c cycle.Cluster) (cycle.Options, bool) {
	s.validate(c)
	surge, unavailable := s.surge(), min(s.cfg.MaxUnavailable, s.cfg.Size)
	if !s.proven { // noneReady of rollingUpdateInstanceGroup: one instance shows first that the new specification works
		if surge = min(surge, 1); surge > 0 {
			unavailable = 0
		} else {
			unavailable = 1
		}
	}
	o := cycle.Options{
		TargetSize: s.cfg.Size, MaxSurge: cycle.AtMost(surge), MaxUnavailable: cycle.AtMost(unavailable),
		MaxDraining: cycle.AtMost(surge + unavailable),
		Rank: func(id cycle.InstanceID) int {
			if s.detached[string(id)] {
				return 1
			}
			return 0
		},
	}
	if s.valid < kopsValidations {
		o.MayDrain = func(cycle.InstanceID) (bool, string) { return false, "the cluster has not validated" }
	}
	return o, true
}

// validate is one validation of the cluster; the next is due a while later.
func (s *kops) validate(c cycle.Cluster) {
	now := s.env.Now()
	if s.checked != 0 && now-s.checked < kopsRevalidates {
		s.lookAt(s.checked + kopsRevalidates)
		return
	}
	s.checked = now
	if slices.ContainsFunc(c.Instances, s.missing) || slices.ContainsFunc(s.env.API.Pods(), s.fails) {
		s.valid = 0
		s.lookAt(now + kopsRevalidates)
		return
	}
	s.valid++
	if s.valid >= kopsValidations && !s.proven && slices.ContainsFunc(c.Instances, func(in cycle.Instance) bool {
		return in.Config == c.Config && in.State == cycle.Started
	}) {
		s.proven = true
		if s.surge() > 1 {
			s.valid = 0 // the rest of the surge validates before anything is drained
		}
	}
	if s.valid < kopsValidations {
		s.lookAt(now + kopsRevalidates)
	}
}

// missing reports whether an instance keeps the cluster from validating: one that is terminated is missing until its replacement serves.
func (s *kops) missing(in cycle.Instance) bool {
	serves := in.State == cycle.Started && s.ready(in.ID)
	return !serves && in.State != cycle.Draining && in.State != cycle.Drained
}

// fails reports whether a pod keeps the cluster from validating (collectPodFailures of pkg/validation/validate_cluster.go). Those of
// system-node-critical count for the group of their node.
func (s *kops) fails(p *kube.Pod) bool {
	switch p.Template.PriorityClass {
	case "system-node-critical":
		if i := s.env.Cloud.ByNode(p.NodeName); i != nil && i.Group != s.cfg.Group {
			return false
		}
	case "system-cluster-critical":
	default:
		return false
	}
	return p.Phase == "Pending" || p.Phase == "Unknown" || p.Phase != "Succeeded" && slices.ContainsFunc(p.Containers, func(c kube.Container) bool { return !c.Ready })
}

// Waits while the cluster doesn't validate.
func (s *kops) Waits(cycle.Cluster) bool { return s.valid == 0 }

// Remove terminates the instance; the Auto Scaling group replaces it unless it
// is detached.
func (s *kops) Remove(i *cloud.Instance, _ *kube.Node) {
	s.valid, s.checked = 0, s.env.Now()
	shrink := s.detached[i.ID]
	delete(s.detached, i.ID)
	s.env.Cloud.Terminate(i, shrink)
}

// Restore uncordons and takes the taint away.
func (s *kops) Restore(n *kube.Node) {
	s.uncordon(n, "")
	s.untaint(n, scheduledForUpdate)
}

// Says what kops says.
func (s *kops) Says(f Failure, node string) string {
	if f == Undrained {
		return "failed to drain node \"" + node + "\": global timeout reached: " + s.cfg.EvictionTimeout.String()
	}
	return "error validating cluster after removing a node: cluster did not validate within a duration of \"" + s.cfg.JoinTimeout.String() + "\""
}

// KopsController is kops-controller's controller of node labels
// (kubernetes/kops, cmd/kops-controller/controllers): it labels new nodes with
// their instance group and role.
type KopsController struct{}

// kopsLabels is the time from a node's creation to its labels.
var kopsLabels = model.Uniform(200*time.Millisecond, 2*time.Second)

// NewKopsController starts the controller.
func NewKopsController(env *component.Env, shapes Shapes) *KopsController {
	chance := env.Stream("kops-controller")
	env.API.WatchNodes(func(c kube.Change, _, n *kube.Node) {
		if c != kube.Added || n.Labels.Get("kops.k8s.io/instancegroup") != "" {
			return
		}
		env.After(env.Draw(&chance, kopsLabels), func() {
			i := env.Cloud.ByNode(n.Name)
			if i == nil {
				return
			}
			labels := shapes(i).PoolLabels
			env.API.UpdateNode(n, func(n *kube.Node) {
				for _, p := range labels {
					n.Labels = n.Labels.With(p.Key, p.Value)
				}
			})
		})
	})
	return &KopsController{}
}

package roll

import (
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// aksReimage is the upgrade of an AKS agent pool ("Upgrade an Azure Kubernetes
// Service cluster", "Customize node surge upgrade" in Microsoft's
// documentation). It is refused where any budget of the cluster has
// maxUnavailable 0, or 0%. A surge node of the new version joins. Then each old node is
// cordoned and drained, rests for Soak, its Node is deleted, and the machine is reimaged in
// place: it comes back under the same name, as a new Node. In the end the surge
// node is drained and removed. All of it is reported as Events of `upgrader`. A
// drain that takes too long stops the upgrade, or, with Quarantine, that node is
// labelled and left cordoned, and a surge node stays in its place.
type aksReimage struct {
	Base
	first    map[string]bool   // by instance: it was there before
	stage    map[string]string // by instance: what is awaited of its node, aksSurge or aksReimaged
	unsaid   int               // nodes that are back, of which nothing was said yet
	upgrades int               // nodes that there were to upgrade
	lastStep bool              // every node is upgraded
}

const (
	aksSurge    = "surge"
	aksReimaged = "reimaged" // and not registered yet
	aksBack     = "back"     // registered, and not ready yet
)

// AKSReimage is the upgrade of an agent pool; Soak is the pause after the drain of each node.
func AKSReimage(b Base) Strategy {
	s := &aksReimage{Base: b, stage: map[string]string{}}
	b.env.API.WatchNodes(s.nodeChanged)
	b.env.Cloud.Watch(func(c cloud.Change, i *cloud.Instance) {
		if c == cloud.Launched && i.Group == b.cfg.Group && s.first != nil && !s.over {
			s.stage[i.ID] = aksSurge
		}
	})
	return s
}

func (s *aksReimage) Begin() {
	for _, b := range s.env.API.Budgets() {
		// learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/unsatisfiablepdb-error has 0. It says nothing of 0%, which is
		// assumed to be refused as well: of however many pods it is 0.
		if !s.rolled && strings.TrimSuffix(b.MaxUnavailable, "%") == "0" {
			s.cfg.Group.Template = s.cfg.From
			s.end(Outcome{Failed: true, Code: "UnsatisfiablePDB", Reason: "PDB " + b.Namespace + "/" + b.Name + " has maxunavailble == 0 can't proceed with put operation"})
			return
		}
	}
	s.lastStep, s.upgrades = false, 0
	for _, i := range s.cfg.Group.Instances() {
		if s.Roller.old(i) {
			s.upgrades++
		}
	}
	if s.first == nil {
		s.first = map[string]bool{}
		for _, i := range s.cfg.Group.Instances() {
			s.first[i.ID] = true
		}
	}
}

// surge is how many surge nodes join: no more than there are nodes to upgrade ("Configure rolling upgrades").
func (s *aksReimage) surge() int {
	if s.cfg.MaxSurge+s.cfg.MaxUnavailable == 0 {
		return 1
	}
	return min(s.cfg.MaxSurge, max(s.upgrades, 1))
}

func (s *aksReimage) Options(c cycle.Cluster) (cycle.Options, bool) {
	left := s.unsaid
	for i := range c.Instances {
		if in := &c.Instances[i]; in.Config != c.Config || in.State == cycle.Starting {
			left++
		}
	}
	surge := max(s.surge()-s.skips, 0)
	if left == 0 && len(c.Instances) >= s.cfg.Size {
		s.lastStep = true
	}
	if s.lastStep {
		return cycle.Options{TargetSize: s.cfg.Size, MaxDraining: cycle.AtMost(1), Rank: s.surgeFirst}, true
	}
	parallel := s.surge() // MaxUnavailable is for upgrades without surge nodes
	if parallel == 0 {
		parallel = s.cfg.MaxUnavailable
	}
	size := s.cfg.Size + surge
	return cycle.Options{
		TargetSize: size, MaxSurge: cycle.AtMost(0), MaxUnavailable: cycle.AtMost(min(parallel, size)),
		MaxDraining: cycle.AtMost(max(parallel-s.unsaid, 0)),
	}, false
}

func (s *aksReimage) surgeFirst(id cycle.InstanceID) int {
	if s.first[string(id)] {
		return 1
	}
	return 0
}

// report reports an event of the upgrade about a node.
func (s *aksReimage) report(n kube.Reference, reason, message string) {
	s.env.API.Record(kube.Source{Component: "upgrader"}, n, "Normal", reason, message)
}

// upgraderReacts is the reaction time of the upgrader.
var upgraderReacts = model.Uniform(500*time.Millisecond, 3*time.Second)

func (s *aksReimage) nodeChanged(c kube.Change, _, n *kube.Node) {
	if c == kube.Deleted || s.over {
		return
	}
	i := s.env.Cloud.ByNode(n.Name)
	if i == nil || s.stage[i.ID] == "" {
		return
	}
	about := kube.AboutNode(n)
	say := func(message string) {
		s.env.After(s.env.Draw(&s.chance, upgraderReacts), func() { s.report(about, "Upgrade", message) })
	}
	switch stage := s.stage[i.ID]; {
	case stage == aksSurge:
		delete(s.stage, i.ID)
		s.env.After(s.env.Draw(&s.chance, upgraderReacts), func() {
			s.report(about, "Surge", "Created a surge node ["+n.Name+" "+i.Group.Name+"] for agentpool "+i.Group.Name)
		})
	case stage == aksReimaged:
		s.stage[i.ID] = aksBack
		say("Successfully reimaged node: " + n.Name)
	case stage == aksBack && n.Ready():
		delete(s.stage, i.ID)
		s.unsaid++
		s.env.After(s.env.Draw(&s.chance, upgraderReacts), func() { s.upgraded(about) })
	}
}

// upgraded is a node that is done.
func (s *aksReimage) upgraded(n kube.Reference) {
	s.report(n, "Upgrade", "Successfully upgraded node: "+n.Name)
	s.unsaid--
	s.look()
}

func (s *aksReimage) Drain(i *cloud.Instance, n *kube.Node, done func(error)) {
	upgrade := s.Roller.old(i)
	s.cordon(n, "", "")
	if upgrade {
		s.report(kube.AboutNode(n), "Drain", "Draining node: "+n.Name)
	}
	target := s.target
	s.drains.Drain(n, s.eviction(), func(err error) {
		switch {
		case s.target != target || s.over:
		case err != nil || !upgrade:
			done(err)
		default:
			if s.cfg.Soak > 0 {
				s.report(kube.AboutNode(n), "Upgrade", "Soak duration "+s.cfg.Soak.String()+" after draining node: "+n.Name)
			}
			s.env.After(s.cfg.Settle+s.cfg.Soak, func() { s.reimage(i, n, target) })
		}
	})
}

// reimage deletes the Node and boots the machine with the new image. For the
// planner it is a new instance from then on.
func (s *aksReimage) reimage(i *cloud.Instance, n *kube.Node, target cloud.Template) {
	if s.over || s.target != target || !s.working(i) {
		return
	}
	s.report(kube.AboutNode(n), "Upgrade", "Deleting node "+n.Name+" from API server")
	s.env.API.DeleteNode(n)
	s.env.Cloud.Ail(i, func(a *cloud.Ailments) { a.Dead = true })
	s.stage[i.ID] = aksReimaged
	// What Reimage lasts has the machine's boot in it, which the kubelet draws.
	takes := max(s.env.Draw(&s.chance, s.env.Timings.Reimage)-s.env.Timings.Boot.Median(), 0)
	s.env.After(takes, func() {
		if i.State == cloud.ShuttingDown || i.State == cloud.Terminated {
			return
		}
		if s.working(i) {
			s.gone(i)
		}
		s.idle(i)
		if m := s.byID[i.ID]; m != nil {
			m.served = false
		}
		s.progress = s.env.Now()
		s.env.Cloud.Restart(i, target)
		s.look()
		s.turn()
	})
}

// Skips quarantines a node (undrainableNodeBehavior: Cordon).
func (s *aksReimage) Skips(_ *cloud.Instance, n *kube.Node) bool {
	if !s.cfg.Quarantine {
		return false
	}
	s.env.API.UpdateNode(n, func(n *kube.Node) {
		n.Labels = n.Labels.With("kubernetes.azure.com/upgrade-status", "Quarantined")
	})
	return true
}

// Says what the operation's error says.
func (s *aksReimage) Says(f Failure, node string) string {
	if f == Undrained {
		return "Drain node " + node + " failed when evicting pods: Eviction failed with Too Many Requests error. " +
			"This is often caused by a restrictive Pod Disruption Budget (PDB) policy"
	}
	return s.Base.Says(f, node)
}

package scenarios

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// seedMember puts a node there that the file names.
func (s *Simulation) seedMember(c *cloud.Group, g *spec.Group, m *spec.Member, age time.Duration) {
	image, launch := g.From, launchFrom
	if g.Updated(m) {
		image, launch = g.To, launchTo
	}
	image.Version, image.InstanceType = m.Version, m.InstanceType
	image.Image = cmp.Or(m.Image, image.Image)
	i := &cloud.Instance{Name: m.Name, Zone: m.Zone, Template: template(g, image, launch)}
	i.Ailments.KubeletDown = m.NotReady
	if s.members == nil {
		s.members, s.places = map[*cloud.Instance]*spec.Member{}, map[*cloud.Instance]model.Place{}
	}
	s.members[i] = m
	i.Number, i.Group = s.env.Cloud.Launches(), c
	place := s.place(i)
	place.Name = m.Name
	s.places[i] = place
	i.IP, i.ID = place.IP.String(), s.kubelet.Node(s.env.Seed, i).InstanceID
	s.env.Cloud.Adopt(c, i)
	if m.Age > 0 {
		age = m.Age
	}
	seed := s.kubelets.SeedAs
	if s.live != nil {
		seed = s.kubelets.SeedNowAs
	}
	seed(i, age, func(n *kube.Node) {
		if m.Cordoned {
			n.Unschedulable = true
			n.AddTaint(kube.Taint{Key: component.TaintUnschedulable, Effect: component.EffectNoSchedule})
		}
		if m.NotReady && s.live == nil {
			s.silent(n)
		}
	})
}

// silent is a node of whose kubelet nothing has been heard for long: what the node lifecycle controller has written of it
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go).
func (s *Simulation) silent(n *kube.Node) {
	now := s.env.API.Now().Add(-silentFor).Second()
	n.Conditions = slices.Clone(n.Conditions)
	for c := range n.Conditions {
		if is := &n.Conditions[c]; convert.OwnedByKubelet(is.Type) {
			is.Status, is.Reason, is.Message, is.Transition = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", now
			is.Heartbeat = min(is.Heartbeat, now.Add(-time.Minute))
		}
	}
	for _, effect := range []string{component.EffectNoSchedule, component.EffectNoExecute} {
		n.AddTaint(kube.Taint{Key: component.TaintUnreachable, Effect: effect})
	}
}

// silentFor is how long ago a node that isn't ready when the tape begins was found silent.
const silentFor = time.Hour

package kubelet

import (
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Node returns the shape of an instance's node. The same instance has the same
// identity at each call and after a reimage, so that what names instances for
// the cloud can take ID and Name from [Config.Identity].
func (c *Config) Node(seed uint64, i *cloud.Instance) model.NodeShape {
	chance := model.NewStreamAt(seed, uint64(i.Number), "machine")
	n := c.Shape(i).Node(c.Place(i), &chance)
	n.Annotations = slices.DeleteFunc(n.Annotations, unrecorded)
	n.ControlAnnotations = slices.DeleteFunc(n.ControlAnnotations, unrecorded)
	return n
}

// Identity is the identity of an instance's node in [Config.Node]'s shape.
func (c *Config) Identity(seed uint64, i *cloud.Instance) (instance, node string) {
	chance := model.NewStreamAt(seed, uint64(i.Number), "machine")
	return c.Shape(i).Identity(c.Place(i), &chance)
}

// unrecorded are the annotations of nodes that a recorder leaves out by default, and that so are on no tape: they
// steer neither nodes nor drains.
func unrecorded(p model.Pair) bool {
	return p.Key == "kubeadm.alpha.kubernetes.io/cri-socket" || strings.HasPrefix(p.Key, "node.gke.io/last-applied-node-")
}

// shape is the shape of the machine's node, kept while it joins.
func (m *machine) shape() *model.NodeShape {
	if m.joining == nil {
		shape := m.k.cfg.Node(m.k.env.Seed, m.i)
		m.joining = &shape
	}
	return m.joining
}

// newNode is the Node as the kubelet's create request has it, without
// conditions.
func (m *machine) newNode() *kube.Node {
	if m.isDescribed() {
		return m.again()
	}
	shape := m.shape()
	n := &kube.Node{ProviderID: shape.ProviderID, KubeletPort: kubeletPort}
	n.Name = m.i.Name
	n.Labels = Pairs(shape.Labels)
	n.Annotations = Pairs(shape.Annotations)
	for _, t := range shape.Taints {
		n.Taints = append(n.Taints, kube.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	if !n.HasTaint(component.TaintUninitialized, "") {
		// Without a cloud controller manager the kubelet knows it all.
		n.Labels = joined(n.Labels, shape.CloudLabels)
		n.Addresses = addressesOf(shape)
	} else {
		n.Addresses = []kube.Address{{Type: "InternalIP", Address: m.hostIP}, {Type: "Hostname", Address: m.i.Name}}
	}
	// The file system's size is known a moment later.
	n.Capacity = Pairs(shape.Capacity.Capacity()).Without(ephemeral)
	n.Allocatable = Pairs(shape.Allocatable.Allocatable()).Without(ephemeral)
	n.Info = m.info(shape)
	for _, h := range shape.RuntimeHandlers {
		n.Handlers = append(n.Handlers, kube.Handler{Name: h.Name, RecursiveReadOnlyMounts: h.RecursiveReadOnlyMounts, UserNamespaces: h.UserNamespaces})
	}
	return n
}

const (
	kubeletPort = 10250
	ephemeral   = "ephemeral-storage"
)

func (m *machine) info(shape *model.NodeShape) kube.NodeInfo {
	return kube.NodeInfo{
		MachineID: shape.Info.MachineID, SystemUUID: shape.Info.SystemUUID, BootID: m.bootID,
		Kernel: shape.Info.KernelVersion, OSImage: shape.Info.OSImage, Runtime: shape.Info.ContainerRuntimeVersion,
		KubeletVersion: shape.Info.KubeletVersion, ProxyVersion: shape.Info.KubeProxyVersion,
		OS: shape.Info.OperatingSystem, Architecture: shape.Info.Architecture,
	}
}

// refresh updates the rest of the status: the size of the file system once it is known, the versions after a reboot,
// and the images of the node's agents once it is ready.
func (m *machine) refresh(n *kube.Node) {
	if m.isDescribed() {
		n.Info.BootID = m.bootID
		return
	}
	_, known := n.Capacity.Lookup(ephemeral)
	rebooted := n.Info.BootID != m.bootID
	listed := len(n.Images) > 0 || m.trouble != 0
	if (known || m.trouble&model.DiskUnknown != 0) && !rebooted && listed {
		return
	}
	shape := m.shape()
	if rebooted {
		n.Info = m.info(shape)
	}
	if m.trouble&model.DiskUnknown == 0 {
		n.Capacity, n.Allocatable = Pairs(shape.Capacity.Capacity()), Pairs(shape.Allocatable.Allocatable())
	}
	if !listed {
		n.Images = m.k.images.system(m.k.cfg.Shape(m.i))
	}
}

// Initialize fills in what a cloud controller manager knows of an instance's
// node: labels and addresses.
func (k *Kubelets) Initialize(i *cloud.Instance, n *kube.Node) {
	shape := k.shapeOf(i)
	n.Labels = joined(n.Labels, shape.CloudLabels)
	n.Addresses = addressesOf(shape)
}

func (k *Kubelets) shapeOf(i *cloud.Instance) *model.NodeShape {
	if m := k.machines[i]; m != nil {
		return m.shape()
	}
	shape := k.cfg.Node(k.env.Seed, i)
	return &shape
}

// registerCSI writes what the CSI driver and the kubelet write once the driver has registered.
func (m *machine) registerCSI() {
	if m.isDescribed() {
		return
	}
	shape := m.shape()
	m.joining = nil
	if !m.up() {
		return
	}
	if len(shape.CSILabels)+len(shape.CSIAnnotations) == 0 {
		return
	}
	m.k.env.API.UpdateNode(m.node, func(n *kube.Node) {
		n.Labels = joined(n.Labels, shape.CSILabels)
		n.Annotations = joined(n.Annotations, shape.CSIAnnotations)
	})
}

// addExtras writes to a new node what kube-controller-manager and a node problem detector add to the kubelet's
// fields: an annotation and the range for pods at once, conditions within the first minute and in front of the
// kubelet's.
func (m *machine) addExtras() {
	if m.isDescribed() {
		return
	}
	shape := m.shape()
	m.after(m.draw(model.Uniform(10*time.Millisecond, 200*time.Millisecond)), func() {
		m.k.env.API.UpdateNode(m.node, func(n *kube.Node) {
			n.Annotations = joined(n.Annotations, shape.ControlAnnotations)
			n.PodCIDR = shape.PodCIDR
		})
	})
	if extra := model.ExtraConditions(m.k.cfg.Shape(m.i).Provider); len(extra) > 0 {
		m.after(m.draw(model.Uniform(15*time.Second, 50*time.Second)), func() {
			if m.up() {
				m.k.env.API.UpdateNode(m.node, func(n *kube.Node) { n.Conditions = withExtras(n.Conditions, extra, m.now().Second()) })
			}
		})
	}
}

// withExtras puts conditions in front, unless they are there.
func withExtras(conditions kube.Conditions, extra []model.Condition, at kube.Instant) kube.Conditions {
	var front kube.Conditions
	for _, c := range extra {
		if conditions.Get(c.Type) == nil {
			front = append(front, kube.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Heartbeat: at, Transition: at})
		}
	}
	return append(front, conditions...)
}

func addressesOf(shape *model.NodeShape) []kube.Address {
	out := make([]kube.Address, len(shape.Addresses))
	for i, a := range shape.Addresses {
		out[i] = kube.Address{Type: a.Type, Address: a.Address}
	}
	return out
}

// Pairs takes over a list that is sorted by key.
func Pairs(list []model.Pair) kube.Pairs {
	out := make(kube.Pairs, len(list))
	for i, p := range list {
		out[i] = kube.Pair{Key: p.Key, Value: p.Value}
	}
	return out
}

// joined adds pairs; those that are there already get the new value.
func joined(have kube.Pairs, more []model.Pair) kube.Pairs {
	all, own := have, false
	for _, p := range more {
		i, found := slices.BinarySearchFunc(all, p.Key, func(a kube.Pair, k string) int { return strings.Compare(a.Key, k) })
		if found && all[i].Value == p.Value {
			continue
		}
		if !own { // earlier states share it
			all, own = append(make(kube.Pairs, 0, len(have)+len(more)), have...), true
		}
		if found {
			all[i].Value = p.Value
		} else {
			all = slices.Insert(all, i, kube.Pair{Key: p.Key, Value: p.Value})
		}
	}
	return all
}

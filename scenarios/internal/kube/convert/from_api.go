package convert

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// meta takes over what the API server and its clients own of an object's metadata.
func (c Clock) meta(m *kube.Meta, in *metav1.ObjectMeta) {
	m.UID = string(in.UID)
	m.Labels, m.Annotations = pairs(in.Labels), pairs(in.Annotations)
	m.Finalizers = slices.Clone(in.Finalizers)
	if m.Created == 0 {
		m.Created = c.instant(in.CreationTimestamp)
	}
	if o := metav1.GetControllerOfNoCopy(in); o != nil && m.Owner == nil {
		m.Owner = &kube.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: string(o.UID)}
	}
	if in.Generation > 0 {
		m.Generation = in.Generation
	}
	if in.DeletionTimestamp == nil {
		return
	}
	grace := int64(0)
	if in.DeletionGracePeriodSeconds != nil {
		grace = *in.DeletionGracePeriodSeconds
	}
	m.Grace = grace
	if m.Deleting == 0 {
		// The server adds the grace period in seconds of the wall; the scenario counts it in its own seconds.
		patience := time.Duration(min(grace, math.MaxInt32)) * time.Second
		m.Deleting = c.instant(metav1.NewTime(in.DeletionTimestamp.Add(-patience))).Add(patience)
	}
}

func pairs(m map[string]string) kube.Pairs {
	var out kube.Pairs
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, kube.Pair{Key: k, Value: m[k]})
	}
	return out
}

// NodeFromAPI takes over what others than its kubelet have written of a node:
// metadata, schedulability, taints, its range of addresses, volumes, and conditions
// of theirs. silent says that its kubelet isn't heard: then the kubelet's own
// conditions are the server's as well, where they are newer than the last post.
func NodeFromAPI(n *kube.Node, in *corev1.Node, c Clock, silent bool) {
	n.Name = in.Name
	c.meta(&n.Meta, &in.ObjectMeta)
	n.Unschedulable, n.PodCIDR = in.Spec.Unschedulable, in.Spec.PodCIDR
	if in.Spec.ProviderID != "" {
		n.ProviderID = in.Spec.ProviderID
	}
	n.Taints = nil
	for _, t := range in.Spec.Taints {
		one := kube.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)}
		if t.TimeAdded != nil {
			one.Added = c.instant(*t.TimeAdded)
		}
		n.Taints = append(n.Taints, one)
	}
	n.Attached = nil
	for _, v := range in.Status.VolumesAttached {
		n.Attached = append(n.Attached, kube.Attached{Name: string(v.Name), Device: v.DevicePath})
	}
	for i := range in.Status.Conditions {
		is := nodeCondition(&in.Status.Conditions[i], c)
		was := n.Conditions.Get(is.Type)
		switch {
		case was == nil, !OwnedByKubelet(is.Type), silent && is.Status == string(corev1.ConditionUnknown):
			n.Conditions = with(n.Conditions, is)
		}
	}
}

// NodeOfEarlierRun takes over a node whole: that of a machine that is there already.
func NodeOfEarlierRun(n *kube.Node, in *corev1.Node, c Clock) {
	NodeFromAPI(n, in, c, true)
	n.Conditions = nil
	for i := range in.Status.Conditions {
		n.Conditions = append(n.Conditions, nodeCondition(&in.Status.Conditions[i], c))
	}
	n.InUse = nil
	for _, v := range in.Status.VolumesInUse {
		n.InUse = append(n.InUse, string(v))
	}
	n.Addresses = nil
	for _, a := range in.Status.Addresses {
		n.Addresses = append(n.Addresses, kube.Address{Type: string(a.Type), Address: a.Address})
	}
	n.Capacity, n.Allocatable = quantities(in.Status.Capacity), quantities(in.Status.Allocatable)
	n.KubeletPort = int(in.Status.DaemonEndpoints.KubeletEndpoint.Port)
	i := in.Status.NodeInfo
	n.Info = kube.NodeInfo{
		MachineID: i.MachineID, SystemUUID: i.SystemUUID, BootID: i.BootID, Kernel: i.KernelVersion, OSImage: i.OSImage,
		Runtime: i.ContainerRuntimeVersion, KubeletVersion: i.KubeletVersion, ProxyVersion: i.KubeProxyVersion, //nolint:staticcheck // the field is deprecated, and kubelets still fill it in
		OS: i.OperatingSystem, Architecture: i.Architecture,
	}
	n.Images = nil
	for _, image := range in.Status.Images {
		n.Images = append(n.Images, kube.Image{Names: image.Names, Bytes: image.SizeBytes})
	}
	n.Handlers = nil
	for _, h := range in.Status.RuntimeHandlers {
		one := kube.Handler{Name: h.Name}
		if f := h.Features; f != nil {
			one.RecursiveReadOnlyMounts = f.RecursiveReadOnlyMounts != nil && *f.RecursiveReadOnlyMounts
			one.UserNamespaces = f.UserNamespaces != nil && *f.UserNamespaces
		}
		n.Handlers = append(n.Handlers, one)
	}
}

func quantities(list corev1.ResourceList) kube.Pairs {
	m := map[string]string{}
	for name, q := range list {
		m[string(name)] = q.String()
	}
	return pairs(m)
}

// OwnedByKubelet reports whether a condition of a node is the kubelet's.
func OwnedByKubelet(kind string) bool {
	switch corev1.NodeConditionType(kind) {
	case corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
		return true
	}
	return false
}

func nodeCondition(in *corev1.NodeCondition, c Clock) kube.Condition {
	return kube.Condition{
		Type: string(in.Type), Status: string(in.Status), Reason: in.Reason, Message: in.Message,
		Heartbeat: c.instant(in.LastHeartbeatTime), Transition: c.instant(in.LastTransitionTime),
	}
}

// with puts a condition in its place, or after the others, its times included.
func with(cs kube.Conditions, is kube.Condition) kube.Conditions {
	i := slices.IndexFunc(cs, func(o kube.Condition) bool { return o.Type == is.Type })
	if i < 0 {
		return append(slices.Clip(cs), is)
	}
	if cs[i] == is {
		return cs
	}
	next := slices.Clone(cs)
	next[i] = is
	return next
}

package kube

import (
	"slices"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// node writes what differs between two states of a node; from a zero Node it
// writes the whole.
func (w *writer) node(old, n *Node) {
	w.metadata(&old.Meta, &n.Meta, "", "")
	w.begin("spec")
	w.text("podCIDR", old.PodCIDR, n.PodCIDR)
	if old.PodCIDR != n.PodCIDR {
		w.list("podCIDRs")
		w.b = rawjson.AppendString(w.b, n.PodCIDR)
		w.closeList()
	}
	w.text("providerID", old.ProviderID, n.ProviderID)
	w.flag("unschedulable", old.Unschedulable, n.Unschedulable)
	w.taints(old.Taints, n.Taints)
	w.end()
	w.begin("status")
	w.object("capacity", old.Capacity, n.Capacity)
	w.object("allocatable", old.Allocatable, n.Allocatable)
	w.text("phase", old.Phase, n.Phase)
	w.conditions(old.Conditions, n.Conditions, ofNode)
	if !alike(old.Addresses, n.Addresses) {
		w.list("addresses")
		for _, a := range n.Addresses {
			w.item()
			w.brace()
			w.str("type", a.Type)
			w.str("address", a.Address)
			w.close()
		}
		w.closeList()
	}
	whole := old.UID == ""
	w.begin("daemonEndpoints")
	w.begin("kubeletEndpoint")
	w.always("Port", whole, int64(old.KubeletPort), int64(n.KubeletPort))
	w.end()
	w.end()
	w.info(whole, &old.Info, &n.Info)
	w.images(old, n)
	w.volumes(old, n)
	w.end()
}

func (w *writer) taints(old, now []Taint) {
	if alike(old, now) {
		return
	}
	if len(now) == 0 {
		w.null("taints")
		return
	}
	w.list("taints")
	for _, t := range now {
		w.item()
		w.brace()
		w.str("key", t.Key)
		w.str("value", t.Value)
		w.str("effect", t.Effect)
		if t.Added != 0 {
			w.at("timeAdded", t.Added)
		}
		w.close()
	}
	w.closeList()
}

func (w *writer) info(whole bool, old, now *NodeInfo) {
	w.begin("nodeInfo")
	text := func(name, old, now string) {
		if whole || old != now {
			w.name(name)
			w.b = rawjson.AppendString(w.b, now)
		}
	}
	text("machineID", old.MachineID, now.MachineID)
	text("systemUUID", old.SystemUUID, now.SystemUUID)
	text("bootID", old.BootID, now.BootID)
	text("kernelVersion", old.Kernel, now.Kernel)
	text("osImage", old.OSImage, now.OSImage)
	text("containerRuntimeVersion", old.Runtime, now.Runtime)
	text("kubeletVersion", old.KubeletVersion, now.KubeletVersion)
	text("kubeProxyVersion", old.ProxyVersion, now.ProxyVersion)
	text("operatingSystem", old.OS, now.OS)
	text("architecture", old.Architecture, now.Architecture)
	w.end()
}

func (w *writer) images(old, n *Node) {
	same := func(a, b Image) bool { return a.Bytes == b.Bytes && alike(a.Names, b.Names) }
	if !slices.EqualFunc(old.Images, n.Images, same) {
		w.list("images")
		for _, image := range n.Images {
			w.item()
			w.brace()
			w.member("names")
			w.b = append(w.b, '[')
			for _, name := range image.Names {
				w.sep()
				w.b = rawjson.AppendString(w.b, name)
			}
			w.closeList()
			w.int("sizeBytes", image.Bytes)
			w.close()
		}
		w.closeList()
	}
	if !alike(old.Handlers, n.Handlers) {
		w.list("runtimeHandlers")
		for _, h := range n.Handlers {
			w.item()
			w.brace()
			w.strAlways("name", h.Name)
			w.member("features")
			w.brace()
			w.bool("recursiveReadOnlyMounts", h.RecursiveReadOnlyMounts)
			w.bool("userNamespaces", h.UserNamespaces)
			w.close()
			w.close()
		}
		w.closeList()
	}
}

func (w *writer) volumes(old, n *Node) {
	w.strings("volumesInUse", old.InUse, n.InUse)
	if !alike(old.Attached, n.Attached) {
		if len(n.Attached) == 0 {
			w.null("volumesAttached")
		} else {
			w.list("volumesAttached")
			for _, v := range n.Attached {
				w.item()
				w.brace()
				w.str("name", v.Name)
				w.strAlways("devicePath", v.Device)
				w.close()
			}
			w.closeList()
		}
	}
}

package model

import (
	"cmp"
	"strconv"
	"strings"
)

// aks fills in what nodes of an agent pool of AKS have, as nodes of 1.32 to 1.34 had them. A reimaged machine comes
// back under its old name: a roll changes the node image version, besides the versions.
func (sh Shape) aks(out *NodeShape, place Place) {
	pool := NewStream(0, "aks", sh.Cluster, sh.Group)
	set := "aks-" + sh.Group + "-" + strconv.FormatUint(10_000_000+pool.N(90_000_000), 10) + "-vmss"
	out.Name = cmp.Or(place.Name, set+base36(place.Ordinal, 6))
	group := "MC_" + sh.Cluster + "_" + sh.Cluster + "_" + sh.Region
	out.InstanceID = strconv.Itoa(max(place.Ordinal, 0))
	out.ProviderID = "azure:///subscriptions/" + sh.Account + "/resourceGroups/" + strings.ToLower(group) +
		"/providers/Microsoft.Compute/virtualMachineScaleSets/" + set + "/virtualMachines/" + out.InstanceID
	out.Addresses = []Address{{"InternalIP", place.IP.String()}, {"Hostname", out.Name}}
	sku, effective := "Ubuntu", "Ubuntu2204"
	switch sh.OS {
	case AzureLinux:
		sku, effective = "AzureLinux", "AzureLinux3"
	case Windows:
		sku, effective = "Windows2022", "Windows2022"
	}
	out.Labels = []Pair{
		{"agentpool", sh.Group},
		{"kubernetes.azure.com/agentpool", sh.Group},
		{"kubernetes.azure.com/azure-cni-overlay", "true"},
		{"kubernetes.azure.com/cluster", group},
		{"kubernetes.azure.com/consolidated-additional-properties", pool.UUID()},
		{"kubernetes.azure.com/kubelet-identity-client-id", pool.UUID()},
		{"kubernetes.azure.com/kubelet-serving-ca", "cluster"},
		{"kubernetes.azure.com/localdns-state", "disabled"},
		{"kubernetes.azure.com/mode", "user"},
		{"kubernetes.azure.com/node-image-version", sh.Image.ID},
		{"kubernetes.azure.com/nodepool-type", "VirtualMachineScaleSets"},
		{"kubernetes.azure.com/os-sku", sku},
		{"kubernetes.azure.com/os-sku-effective", effective},
		{"kubernetes.azure.com/os-sku-requested", sku},
		{"kubernetes.azure.com/podnetwork-type", "overlay"},
		{"kubernetes.azure.com/role", "agent"},
		{"kubernetes.azure.com/sku-cpu", strconv.Itoa(sh.Machine.CPU)},
		{"kubernetes.azure.com/sku-memory", strconv.FormatInt(sh.Machine.MemoryMi, 10)},
		{"kubernetes.azure.com/storageprofile", "managed"},
		{"kubernetes.azure.com/storagetier", "Premium_LRS"},
		{"storageprofile", "managed"},
		{"storagetier", "Premium_LRS"},
	}
	if sh.CapacityType == Spot {
		out.Labels = append(out.Labels, Pair{"kubernetes.azure.com/priority", "spot"}, Pair{"kubernetes.azure.com/scalesetpriority", "spot"})
		out.Taints = []Taint{{"kubernetes.azure.com/scalesetpriority", "spot", "NoSchedule"}}
	}
	zone := place.Zone
	if zone == "0" {
		zone = ""
	}
	out.CSILabels = []Pair{{"topology.disk.csi.azure.com/zone", zone}}
	out.CSIAnnotations = []Pair{{"csi.volume.kubernetes.io/nodeid", `{"disk.csi.azure.com":"` + out.Name + `","file.csi.azure.com":"` + out.Name + `"}`}}
}

// base36 writes a scale set's ordinal as its machines' names have it: at least so many digits of 0-9 and a-z.
func base36(n, digits int) string {
	text := strconv.FormatInt(int64(max(n, 0)), 36)
	return strings.Repeat("0", max(digits-len(text), 0)) + text
}

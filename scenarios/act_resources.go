package scenarios

import (
	"encoding/json"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/timeline"
)

// plainResources are the further resources of Kubernetes 1.36 (`kubectl api-resources`) whose objects a cluster that acts
// keeps. No actor of it reads them, but for LimitRanges and ResourceQuotas.
var plainResources = []timeline.Resource{
	{Version: "v1", Kind: "LimitRange", Resource: "limitranges", Namespaced: true},
	{Version: "v1", Kind: "PodTemplate", Resource: "podtemplates", Namespaced: true},
	{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas", Namespaced: true},
	{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicy", Resource: "mutatingadmissionpolicies"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicyBinding", Resource: "mutatingadmissionpolicybindings"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy", Resource: "validatingadmissionpolicies"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding", Resource: "validatingadmissionpolicybindings"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Resource: "apiservices"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers", Namespaced: true},
	{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "FlowSchema", Resource: "flowschemas"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "PriorityLevelConfiguration", Resource: "prioritylevelconfigurations"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Resource: "ingresses", Namespaced: true},
	{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass", Resource: "ingressclasses"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "IPAddress", Resource: "ipaddresses"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy", Resource: "networkpolicies", Namespaced: true},
	{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR", Resource: "servicecidrs"},
	{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass", Resource: "runtimeclasses"},
	{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceClass", Resource: "deviceclasses"},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim", Resource: "resourceclaims", Namespaced: true},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaimTemplate", Resource: "resourceclaimtemplates", Namespaced: true},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceSlice", Resource: "resourceslices"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver", Resource: "csidrivers"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode", Resource: "csinodes"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity", Resource: "csistoragecapacities", Namespaced: true},
	{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment", Resource: "volumeattachments"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass", Resource: "volumeattributesclasses"},
}

// offered are a cluster's own resources, and those of a list that aren't among them.
func offered(own, further []timeline.Resource) []timeline.Resource {
	there := map[string]bool{}
	for _, r := range own {
		there[r.Group+"/"+r.Resource] = true
	}
	for _, r := range further {
		if name := r.Group + "/" + r.Resource; !there[name] {
			there[name] = true
			own = append(own, r)
		}
	}
	return own
}

// scheduling takes note of what clients write that says where pods come: the labels of namespaces, which terms of pods
// select, and how many volumes a node takes.
func (a *Acting) scheduling(r timeline.Resource, ev *timeline.Event) error {
	switch {
	case r.Group == "" && r.Resource == "namespaces":
		return a.namespaceLabels(ev)
	case r.Group == storagev1.GroupName && r.Resource == "csinodes":
		return a.volumeLimit(ev)
	}
	return nil
}

func (a *Acting) namespaceLabels(ev *timeline.Event) error {
	var in struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if ev.Type != timeline.Deleted {
		if err := json.Unmarshal(ev.Object, &in); err != nil {
			return err
		}
	}
	a.sim.scheduler.Namespace(ev.Name, convert.LabelsFromAPI(in.Metadata.Labels))
	return nil
}

// volumeLimit reads what a CSINode says of the provider's driver, whose volumes all claims have.
func (a *Acting) volumeLimit(ev *timeline.Event) error {
	var in storagev1.CSINode
	if ev.Type != timeline.Deleted {
		if err := json.Unmarshal(ev.Object, &in); err != nil {
			return err
		}
	}
	most := -1
	for _, d := range in.Spec.Drivers {
		if d.Name == a.sim.driver() && d.Allocatable != nil && d.Allocatable.Count != nil {
			most = int(*d.Allocatable.Count)
		}
	}
	a.sim.scheduler.VolumeLimit(ev.Name, most)
	return nil
}

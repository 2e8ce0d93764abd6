package tables

import "fmt"

// doc is the description of an API type's field, in the words of Kubernetes 1.36.
func doc(of documented, field string) string {
	if description, ok := reworded[fmt.Sprintf("%T.%s", of, field)]; ok {
		return description
	}
	return of.SwaggerDoc()[field]
}

// reworded holds the descriptions that Kubernetes 1.36 words otherwise than the k8s.io/api which this module requires,
// or whose types aren't in there any more, by Go type and JSON field.
var reworded = map[string]string{
	"v1.ClusterRoleBinding.roleRef":          "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
	"v1.IPAddressSpec.parentRef":             "ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.",
	"v1.ResourcePool.name":                   "Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.\n\nIt must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.",
	"v1.RoleBinding.roleRef":                 "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
	"v1.ServiceCIDRSpec.cidrs":               "CIDRs defines the IP blocks in CIDR notation (e.g. \"192.168.0.0/24\" or \"2001:db8::/64\") from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable.",
	"v1.VolumeAttributesClass.driverName":    "Name of the CSI driver This field is immutable.",
	"v1alpha2.LeaseCandidateSpec.leaseName":  "LeaseName is the name of the lease for which this candidate is contending. This field is immutable.",
	"v1alpha2.PodGroupSpec.schedulingPolicy": "SchedulingPolicy defines the scheduling policy for this instance of the PodGroup. Controllers are expected to fill this field by copying it from a PodGroupTemplate. This field is immutable.",
}

package podadmission

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// An Item is an object in a namespace with a quota. Of a pod, a Service and a claim the object itself counts, of any other its
// resource alone.
type Item struct {
	// Resource is the plural and its group: pods, deployments.apps.
	Resource string
	Pod      *corev1.Pod
	Service  *corev1.Service
	Claim    *corev1.PersistentVolumeClaim
	// Times is how many objects this Item stands for; 0 is one.
	Times int64
}

// aliases name counts as quotas did before there was count/ (legacyObjectCountAliases of pkg/quota/v1/evaluator/core/registry.go).
var aliases = map[string]corev1.ResourceName{
	"configmaps": corev1.ResourceConfigMaps, "resourcequotas": corev1.ResourceQuotas,
	"replicationcontrollers": corev1.ResourceReplicationControllers, "secrets": corev1.ResourceSecrets,
}

// aliased is the resource that a name counts, or "".
func aliased(name corev1.ResourceName) string {
	for r, alias := range aliases {
		if alias == name {
			return r
		}
	}
	return ""
}

// ofPods are the names that count something of pods (podResources of pkg/quota/v1/evaluator/core/pods.go).
var ofPods = []corev1.ResourceName{
	corev1.ResourcePods,
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
}

var ofServices = []corev1.ResourceName{corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers}

var ofClaims = []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage}

// byClass is between the name of a StorageClass and what is counted of its claims.
const byClass = ".storageclass.storage.k8s.io/"

// Counts reports whether a name of a quota counts something of a resource (MatchingResources of the evaluators in
// pkg/quota/v1/evaluator/core and apiserver/pkg/quota/v1/generic).
func Counts(name corev1.ResourceName, of string) bool {
	if name == counting(of) {
		return true
	}
	switch of {
	case "pods":
		return slices.Contains(ofPods, name) ||
			huge(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix) ||
			!Native(name) && strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
	case "services":
		return slices.Contains(ofServices, name)
	case "persistentvolumeclaims":
		_, last, classed := strings.Cut(string(name), byClass)
		return slices.Contains(ofClaims, name) || classed && slices.Contains(ofClaims, corev1.ResourceName(last))
	}
	alias, has := aliases[of]
	return has && alias == name
}

// counting is the name that counts the objects of a resource.
func counting(of string) corev1.ResourceName { return corev1.ResourceName("count/" + of) }

// Native reports whether a name is Kubernetes' own (IsNativeResource of pkg/apis/core/v1/helper/helpers.go).
func Native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

var one = *resource.NewQuantity(1, resource.DecimalSI)

// usage is what an object is charged with (Usage of the evaluators).
func (i *Item) usage(now time.Time) corev1.ResourceList {
	all := corev1.ResourceList{counting(i.Resource): one}
	switch {
	case i.Pod != nil:
		podUsage(all, i.Pod, now)
	case i.Service != nil:
		serviceUsage(all, i.Service)
	case i.Claim != nil:
		claimUsage(all, i.Claim)
	default:
		if alias := aliases[i.Resource]; alias != "" {
			all[alias] = one
		}
	}
	if i.Times > 1 {
		for name, q := range all {
			q = q.DeepCopy()
			q.Mul(i.Times)
			all[name] = q
		}
	}
	return all
}

// serviceUsage counts node ports by what is asked for: they are allocated later.
func serviceUsage(all corev1.ResourceList, s *corev1.Service) {
	all[corev1.ResourceServices] = one
	balancers, ports := int64(0), int64(0)
	switch s.Spec.Type {
	case corev1.ServiceTypeNodePort:
		ports = int64(len(s.Spec.Ports))
	case corev1.ServiceTypeLoadBalancer:
		balancers, ports = 1, int64(len(s.Spec.Ports))
		if own := s.Spec.AllocateLoadBalancerNodePorts; own != nil && !*own {
			ports = 0
			for _, p := range s.Spec.Ports {
				if p.NodePort != 0 {
					ports++
				}
			}
		}
	}
	all[corev1.ResourceServicesNodePorts] = *resource.NewQuantity(ports, resource.DecimalSI)
	all[corev1.ResourceServicesLoadBalancers] = *resource.NewQuantity(balancers, resource.DecimalSI)
}

func claimUsage(all corev1.ResourceList, c *corev1.PersistentVolumeClaim) {
	class := c.Annotations[corev1.BetaStorageClassAnnotation]
	if c.Spec.StorageClassName != nil && class == "" {
		class = *c.Spec.StorageClassName
	}
	charge := func(name corev1.ResourceName, q resource.Quantity) {
		all[name] = q
		if class != "" {
			all[corev1.ResourceName(class+byClass)+name] = q
		}
	}
	charge(corev1.ResourcePersistentVolumeClaims, one)
	asked, has := c.Spec.Resources.Requests[corev1.ResourceStorage]
	if !has {
		return
	}
	if given := c.Status.AllocatedResources[corev1.ResourceStorage]; given.Cmp(asked) > 0 {
		asked = given
	}
	asked = asked.DeepCopy()
	asked.RoundUp(0)
	charge(corev1.ResourceRequestsStorage, asked)
}

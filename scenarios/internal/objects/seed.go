package objects

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// SeedCluster adds what every cluster has since it was created.
func (s *Objects) SeedCluster(created time.Time) {
	at := metav1.NewTime(created.Truncate(time.Second))
	chance := s.Env.Stream("priorityclass")
	for _, c := range classes() {
		s.Seed("priorityclasses", c, at, &chance)
	}
	service, endpoints, slice := apiserver()
	s.Seed("services", service, at, &chance)
	s.Seed("endpoints", endpoints, at, &chance)
	s.Seed("endpointslices", slice, at, &chance)
}

// apiserver is the Service by which pods reach the API server, which writes it itself
// (pkg/controlplane/controller/kubernetesservice and pkg/controlplane/reconcilers).
func apiserver() (*corev1.Service, *corev1.Endpoints, *discoveryv1.EndpointSlice) { //nolint:staticcheck // SA1019: it writes them
	const name, address, ip, port, secure = "kubernetes", "172.31.255.1", "10.96.0.1", 6443, "https"
	meta := func(labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Labels: labels}
	}
	one, tcp, at, https := corev1.IPFamilyPolicySingleStack, corev1.ProtocolTCP, int32(port), secure
	inside, yes := corev1.ServiceInternalTrafficPolicyCluster, true
	return &corev1.Service{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: meta(map[string]string{"component": "apiserver", "provider": "kubernetes"}),
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeClusterIP, ClusterIP: ip, ClusterIPs: []string{ip}, SessionAffinity: corev1.ServiceAffinityNone,
				IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: &one, InternalTrafficPolicy: &inside,
				Ports: []corev1.ServicePort{{Name: secure, Protocol: tcp, Port: 443, TargetPort: intstr.FromInt32(port)}},
			},
		}, &corev1.Endpoints{ //nolint:staticcheck // SA1019: as above
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Endpoints"},
			ObjectMeta: meta(map[string]string{discoveryv1.LabelSkipMirror: "true"}),
			Subsets: []corev1.EndpointSubset{{ //nolint:staticcheck // SA1019: as above
				Addresses: []corev1.EndpointAddress{{IP: address}},
				Ports:     []corev1.EndpointPort{{Name: secure, Port: port, Protocol: tcp}},
			}},
		}, &discoveryv1.EndpointSlice{
			TypeMeta:    metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
			ObjectMeta:  meta(map[string]string{discoveryv1.LabelServiceName: name}),
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: &yes}}},
			Ports:       []discoveryv1.EndpointPort{{Name: &https, Port: &at, Protocol: &tcp}},
		}
}

// classes are the two PriorityClasses that every cluster has (SystemPriorityClasses of
// pkg/apis/scheduling/v1/helpers.go).
func classes() []*schedulingv1.PriorityClass {
	preempt := corev1.PreemptLowerPriority
	class := func(name string, value int32, description string) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}, Value: value, Description: description, PreemptionPolicy: &preempt,
		}
	}
	return []*schedulingv1.PriorityClass{
		class("system-node-critical", 2_000_001_000, "Used for system critical pods that must not be moved from their current node."),
		class("system-cluster-critical", 2_000_000_000, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}

// SeedNamespace adds a namespace that has been there since before the tape began, with what each one has.
func (s *Objects) SeedNamespace(name string, created time.Time, chance *model.Stream) {
	at := metav1.NewTime(created.Truncate(time.Second))
	ns := &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
	s.Seed("namespaces", ns, at, chance)
	s.Seed("serviceaccounts", account(name), at, chance)
	s.Seed("configmaps", root(name), at, chance)
}

// Seed adds an object that has been there since before the tape began, unless one of its name is there.
func (s *Objects) Seed(resource string, o metav1.Object, created metav1.Time, chance *model.Stream) {
	uid := chance.UUID()
	if s.Get(resource, o.GetNamespace(), o.GetName()) != nil {
		return
	}
	o.SetUID(types.UID(uid))
	s.Hold(resource, o, created)
}

// Hold is Seed for an object that has its UID.
func (s *Objects) Hold(resource string, o metav1.Object, created metav1.Time) {
	o.SetCreationTimestamp(created)
	d := &kube.Document{Meta: kube.Meta{Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())}, Resource: resource}
	s.Env.API.CreateDocument(d, marshal(o))
}

package simcluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func (f *family) serve(s *corev1.Service) (*corev1.Service, error) {
	return f.k.CoreV1().Services(s.Namespace).Create(f.t.Context(), s, metav1.CreateOptions{})
}

func service(name string, spec corev1.ServiceSpec) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: spec}
}

// slicesOf are the EndpointSlices of a Service.
func (f *family) slicesOf(name string) []discoveryv1.EndpointSlice {
	f.t.Helper()
	l, err := f.k.DiscoveryV1().EndpointSlices("shop").List(f.t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + name})
	if err != nil {
		f.t.Fatal(err)
	}
	return l.Items
}

// A Service gets an address, and says where its pods are.
func TestAService(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx, api := t.Context(), f.k.CoreV1()
		s, err := f.serve(service("web", corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}}))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(s.Spec.ClusterIP, "10.") || !slices.Equal(s.Spec.ClusterIPs, []string{s.Spec.ClusterIP}) || *s.Spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack ||
			s.Spec.Ports[0].TargetPort != intstr.FromInt32(80) || s.Spec.Type != corev1.ServiceTypeClusterIP || *s.Spec.InternalTrafficPolicy != corev1.ServiceInternalTrafficPolicyCluster {
			t.Errorf("the Service: %+v", s.Spec)
		}
		<-time.After(time.Minute)
		list := f.slicesOf("web")
		if len(list) != 1 || len(list[0].Endpoints) != 12 || *list[0].Ports[0].Port != 80 || list[0].OwnerReferences[0].UID != s.UID {
			t.Fatalf("EndpointSlices %+v", list)
		}
		one := list[0].Endpoints[0]
		if !*one.Conditions.Ready || one.Zone == nil || one.NodeName == nil || one.TargetRef.Kind != "Pod" {
			t.Errorf("an endpoint: %+v", one)
		}
		points, err := api.Endpoints("shop").Get(ctx, "web", metav1.GetOptions{})
		if err != nil || len(points.Subsets) != 1 || len(points.Subsets[0].Addresses) != 12 || points.Subsets[0].Ports[0].Port != 80 {
			t.Fatalf("Endpoints %+v: %v", points, err)
		}

		// A pod that ends is one no more, and the next one is.
		gone := one.TargetRef.Name
		if err := api.Pods("shop").Delete(ctx, gone, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		f.c.Eventually(time.Minute, "the end of a pod in the EndpointSlice", func() bool {
			return slices.ContainsFunc(f.slicesOf("web")[0].Endpoints, func(e discoveryv1.Endpoint) bool {
				return e.TargetRef.Name == gone && *e.Conditions.Terminating && !*e.Conditions.Ready
			})
		})
		<-time.After(5 * time.Minute)
		again := f.slicesOf("web")
		if len(again) != 1 || again[0].Name != list[0].Name || len(again[0].Endpoints) != 12 || slices.ContainsFunc(again[0].Endpoints, func(e discoveryv1.Endpoint) bool { return e.TargetRef.Name == gone }) {
			t.Errorf("EndpointSlices afterwards: %+v", again)
		}

		// What a client deletes comes back, and all goes with the Service.
		if err := f.k.DiscoveryV1().EndpointSlices("shop").Delete(ctx, again[0].Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if again = f.slicesOf("web"); len(again) != 1 || len(again[0].Endpoints) != 12 {
			t.Errorf("EndpointSlices that came back: %+v", again)
		}
		if err := api.Services("shop").Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		_, err = api.Endpoints("shop").Get(ctx, "web", metav1.GetOptions{})
		if list := f.slicesOf("web"); len(list) > 0 || !apierrors.IsNotFound(err) {
			t.Errorf("%d EndpointSlices are left; Endpoints: %v", len(list), err)
		}
	})
}

// Services without addresses, without pods, with ports by name and on nodes.
func TestKindsOfServices(t *testing.T) {
	inFamily(t, func(t *testing.T, f *family) {
		ctx := t.Context()
		create := func(name string, spec corev1.ServiceSpec) *corev1.Service {
			t.Helper()
			s, err := f.serve(service(name, spec))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		named := template("named")
		named.Namespace, named.Name = "shop", "named"
		named.Spec.Hostname, named.Spec.Subdomain = "one", "named"
		named.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
		if _, err := f.k.CoreV1().Pods("shop").Create(ctx, &corev1.Pod{ObjectMeta: named.ObjectMeta, Spec: named.Spec}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		port := []corev1.ServicePort{{Name: "web", Port: 80, TargetPort: intstr.FromString("http")}}
		bare := create("named", corev1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"app": "named"}, Ports: port})
		create("nobody", corev1.ServiceSpec{Selector: map[string]string{"app": "nobody"}, Ports: port})
		if s := create("selectorless", corev1.ServiceSpec{ClusterIP: "None"}); *s.Spec.IPFamilyPolicy != corev1.IPFamilyPolicyRequireDualStack || len(s.Spec.IPFamilies) != 2 {
			t.Errorf("without a selector: %+v", s.Spec)
		}
		if s := create("elsewhere", corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"}); s.Spec.ClusterIP != "" || s.Spec.IPFamilyPolicy != nil {
			t.Errorf("elsewhere: %+v", s.Spec)
		}
		outside := create("outside", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Name: "a", Port: 1}, {Name: "b", Port: 2}}})
		if p := outside.Spec.Ports; p[0].NodePort < 30000 || p[0].NodePort > 32767 || p[0].NodePort == p[1].NodePort || outside.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyCluster {
			t.Errorf("on nodes: %+v", outside.Spec)
		}
		<-time.After(time.Minute)
		if l := f.slicesOf("named"); len(l) != 1 || len(l[0].Endpoints) != 1 || *l[0].Ports[0].Port != 8080 || *l[0].Endpoints[0].Hostname != "one" {
			t.Errorf("by name: %+v", l)
		} else if _, has := l[0].Labels[corev1.IsHeadlessService]; !has {
			t.Errorf("labels %v", l[0].Labels)
		}
		if l := f.slicesOf("nobody"); len(l) != 1 || len(l[0].Endpoints) != 0 || len(l[0].Ports) != 0 {
			t.Errorf("without pods: %+v", l)
		}
		if l := f.slicesOf("selectorless"); len(l) != 0 {
			t.Errorf("without a selector: %+v", l)
		}

		// An address stays, and is nobody else's.
		web := create("web", corev1.ServiceSpec{Ports: port})
		s, err := f.k.CoreV1().Services("shop").Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"type":"NodePort","clusterIP":null,"clusterIPs":null}}`), metav1.PatchOptions{})
		if err != nil || s.Spec.ClusterIP != web.Spec.ClusterIP || s.Spec.Ports[0].NodePort == 0 {
			t.Errorf("changed: %+v, %v", s.Spec, err)
		}
		for name, spec := range map[string]corev1.ServiceSpec{
			`Service "x" is invalid: spec.clusterIPs: Invalid value: ["` + web.Spec.ClusterIP + `"]: failed to allocate IP ` + web.Spec.ClusterIP + `: provided IP is already allocated`: {ClusterIP: web.Spec.ClusterIP, Ports: port},
			`Service "x" is invalid: spec.clusterIPs: Invalid value: ["8.8.8.8"]: failed to allocate IP 8.8.8.8: the provided network does not match the current range`:                  {ClusterIP: "8.8.8.8", Ports: port},
			`Service "x" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767`:                        {Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 80}}},
		} {
			if _, err := f.serve(service("x", spec)); err == nil || err.Error() != name {
				t.Errorf("got %v, want %s", err, name)
			}
		}
		_, err = f.k.CoreV1().Services("shop").Patch(ctx, bare.Name, types.MergePatchType, []byte(`{"spec":{"clusterIP":"10.96.0.9","clusterIPs":["10.96.0.9"]}}`), metav1.PatchOptions{})
		if want := `Service "named" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.0.9"]: may not change once set`; err == nil || err.Error() != want {
			t.Errorf("another address: %v", err)
		}
	})
}

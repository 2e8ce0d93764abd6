package inspect

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The decoder reads what encoding/json reads; what it leaves out is
// listed here.
func TestDecoderAgreesWithEncodingJSON(t *testing.T) {
	left := cmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreTypes(metav1.TypeMeta{}, corev1.NodeSystemInfo{}, corev1.EventSource{}),
		cmpopts.IgnoreFields(metav1.ObjectMeta{}, "GenerateName", "ManagedFields"),
		cmpopts.IgnoreFields(metav1.OwnerReference{}, "APIVersion", "Name", "UID", "Controller", "BlockOwnerDeletion"),
		cmpopts.IgnoreFields(corev1.NodeCondition{}, "Message"),
		cmpopts.IgnoreFields(corev1.NodeStatus{}, "Capacity", "Allocatable", "Phase", "Addresses", "DaemonEndpoints", "Images", "VolumesInUse", "VolumesAttached", "Features", "RuntimeHandlers"),
		cmpopts.IgnoreFields(corev1.PodSpec{}, "InitContainers", "Volumes", "RestartPolicy", "TerminationGracePeriodSeconds", "NodeSelector",
			"SchedulerName", "Affinity", "Priority", "PriorityClassName", "TopologySpreadConstraints", "PreemptionPolicy", "DNSPolicy", "EnableServiceLinks", "ServiceAccountName", "DeprecatedServiceAccount", "SecurityContext"),
		cmpopts.IgnoreFields(corev1.Container{}, "ResizePolicy", "TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "Ports", "VolumeMounts", "SecurityContext"),
		cmpopts.IgnoreFields(corev1.Toleration{}, "TolerationSeconds"),
		cmpopts.IgnoreFields(corev1.PodStatus{}, "PodIPs", "HostIP", "HostIPs", "QOSClass", "Message", "Reason"),
		cmpopts.IgnoreFields(corev1.PodCondition{}, "Message", "LastProbeTime"),
		cmpopts.IgnoreFields(corev1.ContainerStatus{}, "Ready", "Image", "Started", "Resources", "AllocatedResources", "User"),
		cmpopts.IgnoreFields(metav1.Condition{}, "Message"),
		cmpopts.IgnoreFields(corev1.ObjectReference{}, "APIVersion", "ResourceVersion", "FieldPath"),
		cmpopts.IgnoreFields(corev1.Event{}, "Action", "ReportingInstance", "Related"),
	}
	for _, name := range []string{"surge", "spot-vanish"} {
		r, err := timeline.Open(filepath.Join("..", "..", "..", "examples", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		c := NewChecker(r.Header(), CheckOptions(r.Header()))
		kinds := map[kind]int{}
		for ev, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			if !ev.Type.Object() {
				continue
			}
			k := c.key(ev.Resource).kind
			kinds[k]++
			want := map[kind]metav1.Object{
				kindNode: &corev1.Node{}, kindPod: &corev1.Pod{}, kindBudget: &policyv1.PodDisruptionBudget{}, kindEvent: &corev1.Event{},
			}[k]
			if err := json.Unmarshal(ev.Object, want); err != nil {
				t.Fatal(err)
			}
			got := c.decoder.object(k, &ev)
			want.SetResourceVersion(ev.RV)
			if diff := cmp.Diff(want, got, left); diff != "" {
				t.Fatalf("%s, line %d (-encoding/json +decoder):\n%s", name, r.Line(), diff)
			}
		}
		if len(kinds) != 4 || r.Close() != nil {
			t.Errorf("%s: compared %v, want all four kinds", name, kinds)
		}
	}
}

package kubejson_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// left is what a Decoder leaves out.
var left = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreTypes(metav1.TypeMeta{}),
	cmpopts.IgnoreFields(metav1.ObjectMeta{}, "Name", "Namespace", "UID", "ResourceVersion", "GenerateName", "ManagedFields"),
	cmpopts.IgnoreFields(metav1.OwnerReference{}, "APIVersion", "Name", "UID", "Controller", "BlockOwnerDeletion"),
	cmpopts.IgnoreFields(corev1.NodeSystemInfo{}, "MachineID", "SystemUUID", "BootID", "KernelVersion", "ContainerRuntimeVersion", "KubeProxyVersion", "OperatingSystem", "Architecture"),
	cmpopts.IgnoreFields(corev1.NodeStatus{}, "Capacity", "Allocatable", "Phase", "Addresses", "DaemonEndpoints", "Images", "VolumesInUse", "VolumesAttached", "Features", "RuntimeHandlers"),
	cmpopts.IgnoreFields(corev1.PodSpec{}, "Volumes", "RestartPolicy", "TerminationGracePeriodSeconds", "NodeSelector",
		"SchedulerName", "Affinity", "Priority", "PriorityClassName", "TopologySpreadConstraints", "PreemptionPolicy", "DNSPolicy", "EnableServiceLinks", "ServiceAccountName", "DeprecatedServiceAccount", "SecurityContext"),
	cmpopts.IgnoreFields(corev1.Container{}, "ResizePolicy", "TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "Ports", "VolumeMounts", "SecurityContext"),
	cmpopts.IgnoreFields(corev1.Toleration{}, "TolerationSeconds"),
	cmpopts.IgnoreFields(corev1.PodStatus{}, "PodIPs", "HostIP", "HostIPs", "QOSClass", "Message", "Reason"),
	cmpopts.IgnoreFields(corev1.PodCondition{}, "LastProbeTime"),
	cmpopts.IgnoreFields(corev1.ContainerStatus{}, "Started", "AllocatedResources", "User"),
	cmpopts.IgnoreFields(corev1.ContainerStateTerminated{}, "ExitCode", "Signal", "ContainerID"),
	cmpopts.IgnoreFields(metav1.Condition{}, "Message"),
	cmpopts.IgnoreFields(corev1.ObjectReference{}, "APIVersion", "ResourceVersion", "FieldPath"),
	cmpopts.IgnoreFields(corev1.Event{}, "Action", "Related"),
}

// decode decodes a text into what encoding/json makes of another.
func decode(d *kubejson.Decoder, into any, raw []byte) {
	switch o := into.(type) {
	case *corev1.Node:
		d.Node(o, raw)
	case *corev1.Pod:
		d.Pod(o, raw)
	case *policyv1.PodDisruptionBudget:
		d.Budget(o, raw)
	case *corev1.Event:
		d.Event(o, raw)
	}
}

// fresh returns an empty object of a resource.
func fresh(resource string) any {
	switch resource {
	case "nodes":
		return &corev1.Node{}
	case "pods":
		return &corev1.Pod{}
	case "poddisruptionbudgets":
		return &policyv1.PodDisruptionBudget{}
	case "events":
		return &corev1.Event{}
	}
	return nil
}

// The Decoder reads what encoding/json reads. Patches make of what a brief one knows
// what the next whole object says.
func TestDecoderAgreesWithEncodingJSON(t *testing.T) {
	tapes, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(tapes) < 4 {
		t.Fatal(tapes, err)
	}
	kinds, patches := map[string]int{}, 0
	for _, name := range tapes {
		r, err := timeline.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		d, brief := kubejson.Decoder{}, kubejson.Decoder{Brief: true}
		type object struct{ resource, namespace, name string }
		before, patched := map[object][]byte{}, map[object]any{}
		for ev, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			want, got := fresh(ev.Resource), fresh(ev.Resource)
			if !ev.Type.Object() || want == nil {
				continue
			}
			kinds[ev.Resource]++
			if err := json.Unmarshal(ev.Object, want); err != nil {
				t.Fatal(err)
			}
			decode(&d, got, ev.Object)
			if diff := cmp.Diff(want, got, left); diff != "" {
				t.Fatalf("%s, line %d (-encoding/json +decoder):\n%s", name, r.Line(), diff)
			}
			key := object{ev.Resource, ev.Namespace, ev.Name}
			was := before[key]
			before[key] = ev.Object
			if ev.Type == timeline.Deleted {
				delete(before, key)
			}
			patch, exact := []byte(nil), false
			if was != nil {
				patch, exact = rawjson.Diff(nil, was, ev.Object)
			}
			whole := fresh(ev.Resource)
			decode(&brief, whole, ev.Object)
			if !exact {
				patched[key] = whole
				continue
			}
			patches++
			decode(&brief, patched[key], patch)
			if diff := cmp.Diff(whole, patched[key], left); diff != "" {
				t.Fatalf("%s, line %d, patch %s (-whole +patched):\n%s", name, r.Line(), patch, diff)
			}
		}
		if r.Close() != nil {
			t.Error(name)
		}
	}
	if len(kinds) != 4 || patches < 100 {
		t.Errorf("compared %v and %d patches, want all four kinds", kinds, patches)
	}
}

// An Event of events.k8s.io is decoded as the API server converts it.
func TestEventOfTheOtherAPI(t *testing.T) {
	const raw = `{"apiVersion":"events.k8s.io/v1","kind":"Event","eventTime":"2026-11-20T22:00:00.500000Z","series":{"count":3,"lastObservedTime":"2026-11-20T22:00:07.000000Z"},` +
		`"reportingController":"c","reportingInstance":"i","reason":"r","regarding":{"kind":"Node","name":"n","namespace":"","uid":"u"},"note":"a \"note\"","type":"Warning",` +
		`"deprecatedSource":{"component":"kubelet","host":"h"},"deprecatedFirstTimestamp":"2026-11-20T22:00:01Z","deprecatedLastTimestamp":"2026-11-20T22:00:02Z","deprecatedCount":2}`
	var e eventsv1.Event
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		t.Fatal(err)
	}
	want := corev1.Event{
		InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Type: e.Type, EventTime: e.EventTime, Source: e.DeprecatedSource,
		FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		Series: &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime},
	}
	var got corev1.Event
	(&kubejson.Decoder{}).Event(&got, []byte(raw))
	if diff := cmp.Diff(want, got, left); diff != "" {
		t.Errorf("-converted +decoded:\n%s", diff)
	}
}

// However many different maps come, a few are held, and each is the one of its text.
func TestSharedMapsAreBounded(t *testing.T) {
	var d kubejson.Decoder
	for i := range 3 * 4096 {
		raw, err := json.Marshal(map[string]int{"n": i})
		if err != nil {
			t.Fatal(err)
		}
		raw = []byte(`{"n":"` + string(raw[5:len(raw)-1]) + `"}`)
		if got := d.Set(raw); len(got) != 1 || `{"n":"`+got["n"]+`"}` != string(raw) {
			t.Fatalf("%s: %v", raw, got)
		}
	}
}

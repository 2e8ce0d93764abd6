package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const canary = "hunter2-do-not-record"

// podWithCanaries hides the canary wherever a pod has room for it.
const podWithCanaries = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default","uid":"u","resourceVersion":"7",
 "labels":{"env":"prod","app":"web"},
 "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hunter2-do-not-record","kubernetes.io/config.mirror":"m","x":"hunter2-do-not-record"},
 "managedFields":[{"manager":"hunter2-do-not-record"}]},
 "spec":{"nodeName":"ip-10-0-1-10","terminationGracePeriodSeconds":30,"hostname":"hunter2-do-not-record","imagePullSecrets":[{"name":"hunter2-do-not-record"}],
  "containers":[{"name":"web","image":"nginx:1.29","\u0065nv":[{"name":"P","value":"hunter2-do-not-record"}],"args":["hunter2-do-not-record"],
   "command":["hunter2-do-not-record"],"livenessProbe":{"exec":{"command":["hunter2-do-not-record"]}},"resources":{"requests":{"cpu":"1"}}}],
  "initContainers":[{"name":"i","image":"b","envFrom":[{"secretRef":{"name":"hunter2-do-not-record"}}]}],
  "volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-0"}},{"name":"cfg","configMap":{"name":"hunter2-do-not-record"}},{"name":"tmp","emptyDir":{}}]},
 "status":{"phase":"Running","containerStatuses":[{"name":"web","state":{"running":{"startedAt":"2026-11-20T22:21:05Z"}},
  "lastState":{"terminated":{"exitCode":1,"reason":"Error","message":"hunter2-do-not-record"}}}]}}`

const podKept = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default","uid":"u","resourceVersion":"7",
 "labels":{"env":"prod","app":"web"},"annotations":{"kubernetes.io/config.mirror":"m"}},
 "spec":{"nodeName":"ip-10-0-1-10","terminationGracePeriodSeconds":30,
  "containers":[{"name":"web","image":"nginx:1.29","resources":{"requests":{"cpu":"1"}}}],
  "initContainers":[{"name":"i","image":"b"}],
  "volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-0"}},{"name":"cfg","configMap":{}},{"name":"tmp","emptyDir":{}}]},
 "status":{"phase":"Running","containerStatuses":[{"name":"web","state":{"running":{"startedAt":"2026-11-20T22:21:05Z"}},
  "lastState":{"terminated":{"exitCode":1,"reason":"Error"}}}]}}`

var podResource = Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}

func wantJSON(t *testing.T, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRedactPod(t *testing.T) {
	got, err := DefaultRedaction().Redact(podResource, []byte(podWithCanaries))
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, podKept)
	var pod corev1.Pod
	if err := json.Unmarshal(got, &pod); err != nil || pod.Spec.Volumes[1].ConfigMap == nil {
		t.Errorf("what is left is no Pod: %v", err)
	}
}

// The same pod as a template, in a Deployment and in a resource of one's own.
func TestRedactTemplates(t *testing.T) {
	for _, res := range []Resource{
		{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
		{Group: "example.com", Version: "v1", Kind: "Farm", Resource: "farms"},
	} {
		in := `{"kind":"` + res.Kind + `","apiVersion":"` + res.APIVersion() + `","metadata":{"name":"x"},"spec":{"replicas":3,"selector":{"matchLabels":{"env":"prod"}},` +
			`"deep":[{"template":` + podWithCanaries + `}]}}`
		want := `{"kind":"` + res.Kind + `","apiVersion":"` + res.APIVersion() + `","metadata":{"name":"x"},"spec":{"replicas":3,"selector":{"matchLabels":{"env":"prod"}},` +
			`"deep":[{"template":` + podKept + `}]}}`
		got, err := DefaultRedaction().Redact(res, []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, got, want)
	}
}

func TestRedactFull(t *testing.T) {
	got, err := FullRedaction().Redact(podResource, []byte(podWithCanaries))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got, []byte("managedFields")) || bytes.Count(got, []byte(canary)) != strings.Count(podWithCanaries, canary)-1 {
		t.Errorf("full drops more or less than managedFields: %s", got)
	}
}

// A resource of one's own may use the names of core's fields for anything.
func TestRedactUnderBorrowedNames(t *testing.T) {
	res := Resource{Group: "example.com", Version: "v1", Kind: "Farm", Resource: "farms"}
	for name, in := range map[string]string{
		"images": `[{"env":[{"name":"P","value":"CANARY"}]}]`, "conditions": `[{"args":["CANARY"]}]`, "taints": `{"command":["CANARY"]}`,
		"capacity": `{"env":{"P":"CANARY"}}`, "nodeInfo": `{"token":"CANARY"}`, "ownerReferences": `[[{"environment":{"P":"CANARY"}}]]`,
		"volumes": `[{"persistentVolumeClaim":{"env":"CANARY"}},{"csi":{"a":"CANARY"}}]`, "labels": `{"x":{"env":"CANARY"}}`,
		"apiServer": `{"extraArgs":{"a":"CANARY"},"extraEnv":[{"value":"CANARY"}]}`, "kubelet": `{"kubeletExtraArgs":{"a":"CANARY"}}`,
		"pod": `{"\u0065nvVars":["CANARY"],"\u0065nvironment":["CANARY"]}`,
	} {
		got, err := DefaultRedaction().Redact(res, []byte(`{"kind":"Farm","apiVersion":"example.com/v1","metadata":{"name":"x"},"spec":{"`+name+`":`+in+`,"kept":1}}`))
		if err != nil || bytes.Contains(got, []byte("CANARY")) || !bytes.Contains(got, []byte(`"`+name+`"`)) || !bytes.Contains(got, []byte(`"kept":1`)) {
			t.Errorf("%s, %v", got, err)
		}
	}
}

// metadata that is no ObjectMeta stays what it is, and managedFields elsewhere
// are somebody's own.
func TestRedactForeignMetadata(t *testing.T) {
	res := Resource{Group: "dapr.io", Version: "v1alpha1", Kind: "Component", Resource: "components", Namespaced: true}
	in := `{"kind":"Component","apiVersion":"dapr.io/v1alpha1","metadata":{"name":"x"},"spec":{"metadata":[{"name":"url","value":"redis:6379"}],"managedFields":["a"]}}`
	for _, r := range []*Redactor{DefaultRedaction(), FullRedaction()} {
		got, err := r.Redact(res, []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, got, in)
	}
}

func TestRedactRefusesSecrets(t *testing.T) {
	secret := `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"p":"aHVudGVyMg=="}}`
	for _, r := range []*Redactor{DefaultRedaction(), FullRedaction()} {
		for _, res := range []Resource{{Version: "v1", Kind: "Secret", Resource: "secrets"}, podResource} {
			if got, err := r.Redact(res, []byte(secret)); !errors.Is(err, ErrSecret) || got != nil {
				t.Errorf("%s as %s: %s, %v", secret, res, got, err)
			}
		}
	}
}

func TestRedactConfigMapData(t *testing.T) {
	res := Resource{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true}
	got, err := DefaultRedaction().Redact(res, []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"a":"b"}}`))
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}`)
}

func TestRedactSaysWhatIsNoJSON(t *testing.T) {
	if _, err := DefaultRedaction().Redact(podResource, []byte(`{"kind":`)); err == nil || !strings.HasPrefix(err.Error(), "pods object: byte 8") {
		t.Errorf("%v", err)
	}
}

func BenchmarkRedactNode(b *testing.B) {
	node := heartbeats(1)[0].Object
	res := Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	r := DefaultRedaction()
	b.SetBytes(int64(len(node)))
	for b.Loop() {
		if _, err := r.Redact(res, node); err != nil {
			b.Fatal(err)
		}
	}
}

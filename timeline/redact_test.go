package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/rawjson"
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

// The same pod as a template of a Deployment. Of a resource of one's own,
// its fields are unknown.
func TestRedactTemplates(t *testing.T) {
	for res, want := range map[Resource]string{
		{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true}: `{"kind":"Deployment","apiVersion":"apps/v1",
			"metadata":{"name":"x"},"spec":{"replicas":3,"selector":{"matchLabels":{"env":"prod"}},"template":{` + podKept[strings.Index(podKept, `"metadata"`):strings.Index(podKept, `,
 "status"`)] + `}}}`,
		{Group: "example.com", Version: "v1", Kind: "Farm", Resource: "farms"}: `{"kind":"Farm","apiVersion":"example.com/v1","metadata":{"name":"x"},"spec":{"replicas":3}}`,
	} {
		in := `{"kind":"` + res.Kind + `","apiVersion":"` + res.APIVersion() + `","metadata":{"name":"x"},"spec":{"replicas":3,"selector":{"matchLabels":{"env":"prod"}},"template":` + podWithCanaries + `}}`
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

// Whole objects, but not what credentials look like, and no Secret in a List
// or a template. managedFields that are no ObjectMeta's are a user's own.
func TestRedactFullMasks(t *testing.T) {
	res := Resource{Group: "example.com", Version: "v1", Kind: "Farm", Resource: "farms"}
	got, err := FullRedaction().Redact(res, []byte(`{"kind":"Farm","apiVersion":"example.com/v1","metadata":{"name":"x","managedFields":[1]},
		"spec":{"managedFields":["a"],"url":"https://u:p@host/","abcdef.0123456789abcdef":1,"key-----BEGIN":{"a":[2]},"objects":[
		{"data":{"a":"b"},"kind":"Secret","apiVersion":"v1","stringData":{"c":"d"},"type":"Opaque"},{"kind":"ConfigMap","apiVersion":"v1","data":{"e":"f"}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"kind":"Farm","apiVersion":"example.com/v1","metadata":{"name":"x"},"spec":{"managedFields":["a"],"url":"https://redacted@host/","objects":[
		{"kind":"Secret","apiVersion":"v1","type":"Opaque"},{"kind":"ConfigMap","apiVersion":"v1","data":{"e":"f"}}]}}`)
}

// Of a kind that the table doesn't have: identity, labels, owners, conditions,
// counts and times.
func TestRedactUnknownKind(t *testing.T) {
	res := Resource{Group: "example.com", Version: "v1", Kind: "Farm", Resource: "farms"}
	kept := `{"kind":"Farm","apiVersion":"example.com/v1","metadata":{"name":"x","uid":"u","resourceVersion":"1","generation":2,
		"creationTimestamp":"2026-11-20T22:21:05Z","labels":{"env":"prod"},"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"b","uid":"c"}],"finalizers":["f"]},
		"spec":{"replicas":3,"expires":"2026-11-20T22:21:05.123456Z"},
		"status":{"phase":"Running","readyReplicas":-1,"restartCount":2,"startedAt":"2026-11-20T22:21:05+01:00",
		"conditions":[{"type":"Ready","status":"True","reason":"Up","message":"it is","lastTransitionTime":"2026-11-20T22:21:05Z"}]}}`
	dropped := strings.NewReplacer(`"spec":{`, `"data":{"a":"hunter2"},"pin":1234,"spec":{"hunter2":["hunter2",{"a":"hunter2"}],"env":"hunter2","pin":1234,"replicaCount":"hunter2",`,
		`"status":{`, `"status":{"url":"hunter2","nested":{"replicas":7},`, `"message":"it is"`, `"message":"it is","extra":"hunter2"`,
		`"restartCount":2`, `"restartCount":2,"at":"2026-11-20 hunter2"`, `"finalizers"`, `"managedFields":[{}],"annotations":{"karpenter.sh/hunter2":"hunter2"},"finalizers"`).Replace(kept)
	got, err := DefaultRedaction().Redact(res, []byte(dropped))
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, strings.Replace(kept, `"finalizers"`, `"annotations":{},"finalizers"`, 1))
}

// What isn't of the form that the table has for it is dropped.
func TestRedactOtherForms(t *testing.T) {
	for in, want := range map[string]string{
		`[]`: `[]`, `"hunter2"`: `{}`, `7`: `{}`, `null`: `null`, `{}`: `{}`,
		`{"metadata":"hunter2","spec":["hunter2",[{"nodeName":"a"}]],"status":{"phase":{"a":"hunter2"},"podIP":["a",{"b":"hunter2"},["c"]]}}`:            `{"spec":[[{"nodeName":"a"}]],"status":{"podIP":["a",["c"]]}}`,
		`{"metadata":{"annotations":["hunter2"]},"spec":{"volumes":{"name":"v","secret":"hunter2"}}}`:                                                    `{"metadata":{},"spec":{"volumes":{"name":"v"}}}`,
		`{"metadata":{"annotations":{"kubernetes.io/config.mirror":{"a":"hunter2"},"kubernetes.io/config.hash":7}},"spec":null,"status":{"phase":null}}`: `{"metadata":{"annotations":{}},"spec":null,"status":{"phase":null}}`,
	} {
		got, err := DefaultRedaction().Redact(podResource, []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, got, want)
	}
}

// Objects are found by their names, so those are never masked, whatever they
// look like: this one is as a bootstrap token is.
func TestRedactKeepsNames(t *testing.T) {
	res := Resource{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true}
	in := `{"kind":"Event","apiVersion":"v1","metadata":{"name":"worker.18a1b2c3d4e5f601","uid":"u"},"involvedObject":{"kind":"Node","name":"abcdef.0123456789abcdef"},"message":"m"}`
	got, err := DefaultRedaction().Redact(res, []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, in)
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

// The recordings in examples/ have no credentials and nothing that a roll
// doesn't need, so redacting them again changes nothing.
func TestRedactLeavesRecordingsAlone(t *testing.T) {
	tapes, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(tapes) < 4 {
		t.Fatalf("found %d tapes in examples, %v", len(tapes), err)
	}
	for _, file := range tapes {
		r, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ev, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			if len(ev.Object) == 0 {
				continue
			}
			res, _ := r.Header().Lookup(ev.Resource)
			got, err := DefaultRedaction().Redact(res, ev.Object)
			if err != nil || !bytes.Equal(got, ev.Object) {
				t.Fatalf("%s: %s %s at %s: %v\n got %s\nwant %s", file, ev.Resource, ev.Name, ev.At, err, got, ev.Object)
			}
			n++
		}
		if err := r.Close(); err != nil || n == 0 {
			t.Errorf("%s: %d objects, %v", file, n, err)
		}
	}
}

// FuzzRedact: what is kept is canonical JSON, redacting it again changes
// nothing, and neither the values of fields that aren't known nor credentials of
// known shapes are in it.
func FuzzRedact(f *testing.F) {
	f.Add(podWithCanaries, "x")
	f.Add(`{"metadata":{"annotations":{"a":"CANARY"}},"spec":{"containers":[{"image":"u:CANARY@r/i","x":1}],"volumes":[{"a":{"b":"CANARY"}}]}}`, "a b")
	f.Add(`[{"status":{"conditions":[{"message":"https://u:CANARY@h"},7,{"x":[]}]}}]`, "\n\"")
	f.Fuzz(func(t *testing.T, object, word string) {
		// The object as it is, and inside of fields that no kind has and in a URL.
		quoted := string(rawjson.AppendString(nil, word))
		url := string(rawjson.AppendString(nil, word+" https://u:"+canary+"@host/ "+word))
		nested := `{"kind":"X","x":` + quoted + `,"spec":{"hidden":"` + canary + `","nodeName":null,"taints":[{"value":` + url + `}],"containers":[{"image":` + url + `,"env":"` + canary + `"}]},"status":{"conditions":[{"message":` + url + `,"x":"` + canary + `"}]}}`
		for _, in := range []string{object, nested} {
			for _, res := range []Resource{podResource, {Version: "v1", Kind: "Node", Resource: "nodes"}, {Group: "a.b", Version: "v1", Kind: "X", Resource: "xs"}} {
				for _, r := range []*Redactor{DefaultRedaction(), FullRedaction()} {
					got, err := r.Redact(res, []byte(in))
					if err != nil {
						continue
					}
					if again, err := r.Redact(res, got); err != nil || !bytes.Equal(got, again) {
						t.Fatalf("%s of %s, then %s, %v", got, in, again, err)
					}
					if in == nested && (!r.full && bytes.Contains(got, []byte(canary)) || bytes.Contains(got, []byte("u:"+canary))) {
						t.Fatalf("found the canary: %s", got)
					}
				}
			}
		}
	})
}

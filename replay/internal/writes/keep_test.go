package writes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/internal/testing/emptycluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// kept is a cluster that keeps what is written, as start has it, a minute after
// noon.
type kept struct {
	*Handler
	t      testing.TB
	player *replay.Player
	events *strings.Builder // what has happened
}

func keeping(t testing.TB) *kept {
	t.Helper()
	h := header()
	h.Resources = slices.Concat(resources, more)
	var objects []timeline.Event
	for line := range strings.Lines(start + "\n\tnamespaces team 60 \"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}") {
		if strings.TrimSpace(line) != "" {
			objects = append(objects, event(t, 0, timeline.Added, strings.TrimSpace(line)))
		}
	}
	p, err := replay.NewEnginePlayer(emptycluster.New(h, 100, objects...), replay.StartPaused())
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{t: t, player: p, events: &strings.Builder{}}
	k.pass(time.Minute)
	p.Subscribe(func(n replay.Note) {
		if n.Kind == replay.Applied {
			fmt.Fprintf(k.events, "%s %s %s %s %s\n", n.Event.At, n.Event.RV, n.Event.Type, n.Event.Resource, n.Event.Name)
		}
	})
	k.Handler = Keep(p, nil)
	return k
}

// pass lets time pass.
func (k *kept) pass(d time.Duration) {
	k.t.Helper()
	if err := k.player.Seek(k.t.Context(), k.player.Position()+d); err != nil {
		k.t.Fatal(err)
	}
}

// does says what a write is answered, and what then happened to the cluster.
func (k *kept) does(what string, r Request, want string, events ...string) {
	k.t.Helper()
	k.events.Reset()
	show := []string{"metadata.resourceVersion"}
	equal(k.t, what, do(k.t, k.Handler, r, show...), want)
	for o, content := range k.Handler.recent {
		w := &write{handler: k.Handler}
		var err error
		if w.kind, err = k.kind(Request{Resource: schema.FromAPIVersionAndKind(rawjson.Text(o.Raw(), "apiVersion"), "").GroupVersion().WithResource(r.Resource.Resource), Namespace: o.Namespace(), Name: o.Name()}); err != nil || w.kind.Kind != rawjson.Text(o.Raw(), "kind") {
			continue // of an earlier write
		}
		delete(k.Handler.recent, o)
		if again, err := w.known(o); err != nil || cmp.Diff(again.Object, content) != "" {
			k.t.Errorf("%s: remembered in another way than it is read (-read +remembered): %v\n%s", what, err, cmp.Diff(again.Object, content))
		}
		k.Handler.recent[o] = content
	}
	if diff := cmp.Diff(strings.Join(events, "\n"), strings.TrimSpace(k.events.String())); diff != "" {
		k.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// read is a part of an object as clients read it.
func (k *kept) read(path string, show ...string) string {
	k.t.Helper()
	r := ask("get", path, "")
	o, err := k.cluster.Get(r.Resource, r.Namespace, r.Name, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, s := range show {
		out = append(out, string(rawjson.Get(o.Raw(), strings.Split(s, ".")...)))
	}
	return strings.Join(out, " ")
}

func merge(path, body string) Request {
	r := ask(Patch, path, body)
	r.PatchType = types.MergePatchType
	return r
}

// A ConfigMap's life, and that of another by its name.
func TestWritesAreKept(t *testing.T) {
	k := keeping(t)
	k.does("create", ask(Create, "configmaps/team", `{"metadata":{"name":"c"},"data":{"a":"1"}}`), `201 ConfigMap "101"`, "1m0s 101 ADDED configmaps c")
	equal(t, "read", k.read("configmaps/team/c", "apiVersion", "kind", "metadata", "data"),
		`"v1" "ConfigMap" {"creationTimestamp":"2026-01-02T12:01:00Z","managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1",`+
			`"fieldsV1":{"f:data":{".":{},"f:a":{}}},"manager":"unknown","operation":"Update","time":"2026-01-02T12:01:00Z"}],"name":"c","namespace":"team","uid":"34ea0910-ad5f-5ffd-b816-c7076c4cd23a","resourceVersion":"101"} {"a":"1"}`)
	k.does("create again", ask(Create, "configmaps/team", `{"metadata":{"name":"c"}}`), `409 AlreadyExists: configmaps "c" already exists`)
	k.does("update", ask(Update, "configmaps/team/c", `{"metadata":{"name":"c","resourceVersion":"101"},"data":{"a":"2"}}`), `200 ConfigMap "102"`, "1m0s 102 MODIFIED configmaps c")
	k.does("update what was", ask(Update, "configmaps/team/c", `{"metadata":{"name":"c","resourceVersion":"101"},"data":{"a":"3"}}`),
		`409 Conflict: Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again`)
	k.does("create another", ask(Create, "configmaps/team", `{"metadata":{"generateName":"d-"}}`), `201 ConfigMap "103"`, "1m0s 103 ADDED configmaps d-00001")
	k.does("update at another's version", ask(Update, "configmaps/team/c", `{"metadata":{"name":"c","resourceVersion":"103"},"data":{"a":"3"}}`),
		`409 Conflict: Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again`)
	k.does("patch", merge("configmaps/team/c", `{"data":{"b":"3"}}`), `200 ConfigMap "104"`, "1m0s 104 MODIFIED configmaps c")
	k.does("patch into the same", merge("configmaps/team/c", `{"data":{"b":"3"}}`), `200 ConfigMap "104"`)
	equal(t, "read", k.read("configmaps/team/c", "data"), `{"a":"2","b":"3"}`)
	k.does("delete", ask(Delete, "configmaps/team/c", ""), `200 Status `, "1m0s 105 DELETED configmaps c")
	k.does("delete again", ask(Delete, "configmaps/team/c", ""), `404 NotFound: configmaps "c" not found`)
	k.does("create in no namespace", ask(Create, "configmaps/nowhere", `{"metadata":{"name":"c"}}`), `404 NotFound: namespaces "nowhere" not found`)
	k.does("what it can't keep", ask(Create, "leases.coordination.k8s.io/team", `{"metadata":{"name":"c"}}`), `404 NotFound: the server could not find the requested resource`)
	k.does("what nobody does", ask(Update, "pods/team/web/resize", `{}`),
		`405 MethodNotAllowed: update resize of pods is not allowed: this is the simulated cluster "test": of subresources it takes writes to status, scale, eviction and binding`)
	k.does("too large", ask(Create, "configmaps/team", `{"metadata":{"name":"c"},"data":{"a":"`+strings.Repeat("x", mostBytes)+`"}}`), `500 : etcdserver: request is too large`)
}

// The same writes make the same objects, whatever was refused or tried between.
func TestWhatIsKeptIsTheSameAgain(t *testing.T) {
	all := func(tries bool) string {
		k := keeping(t)
		for range 3 {
			if tries {
				r := ask(Create, "configmaps/team", `{"metadata":{"generateName":"c-"}}`)
				r.Options.DryRun = []string{metav1.DryRunAll}
				k.does("dry run", r, `201 ConfigMap `)
				k.does("refused", ask(Create, "configmaps/team", `{"metadata":{"name":"_"}}`), "422 Invalid: ConfigMap \"_\" is invalid: metadata.name: Invalid value: \"_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
			}
			do(t, k.Handler, ask(Create, "configmaps/team", `{"metadata":{"generateName":"c-"}}`))
		}
		return k.read("configmaps/team/c-00001", "metadata") + k.read("configmaps/team/c-00002", "metadata") + k.read("configmaps/team/c-00003", "metadata")
	}
	equal(t, "again", all(true), all(false))
}

// What begins with a generation, and what counts it up, is what the strategies of each kind say.
func TestGenerations(t *testing.T) {
	content := func(text string) (u unstructured.Unstructured) {
		if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		return u
	}
	for name, c := range map[string]struct {
		counted  bool
		was, now string
		differs  bool
	}{
		"ingressclasses.networking.k8s.io": {true, `{"spec":{"controller":"a"}}`, `{"spec":{"controller":"b"}}`, true},
		"podtemplates":                     {true, `{"template":{"metadata":{"labels":{"a":"b"}}}}`, `{"template":{}}`, true},
		"validatingwebhookconfigurations.admissionregistration.k8s.io": {true, `{"webhooks":[]}`, `{"webhooks":[{"name":"w"}]}`, true},
		"validatingadmissionpolicies.admissionregistration.k8s.io":     {true, `{"spec":{}}`, `{"spec":{"failurePolicy":"Ignore"}}`, true},
		"endpointslices.discovery.k8s.io":                              {true, `{"metadata":{"labels":{"a":"b"}},"ports":[]}`, `{"metadata":{},"ports":[]}`, true},
		"priorityclasses.scheduling.k8s.io":                            {true, `{"value":1}`, `{"value":1,"description":"d"}`, false},
		"horizontalpodautoscalers.autoscaling":                         {false, `{}`, `{}`, false},
		"controllerrevisions.apps":                                     {false, `{}`, `{}`, false},
		"csidrivers.storage.k8s.io":                                    {false, `{"spec":{}}`, `{"spec":{"podInfoOnMount":true}}`, true},
	} {
		gr := schema.ParseGroupResource(name)
		k := kind{builtIn: true, Resource: timeline.Resource{Group: gr.Group, Version: "v1", Resource: gr.Resource}}
		if k.counted() != c.counted {
			t.Errorf("%s: counted is %t", name, k.counted())
		}
		was := content(c.was)
		was.SetAnnotations(map[string]string{"a": "b"})
		if differs := k.differs(content(c.now), &object{Unstructured: was}); differs != c.differs {
			t.Errorf("%s: differs is %t", name, differs)
		}
	}
}

// Generations count changes of what is wanted, and a dry run changes nothing.
func TestKeptChanges(t *testing.T) {
	k := keeping(t)
	k.does("status", merge("nodeclaims.karpenter.sh/c/status", `{"status":{"y":2}}`), `200 NodeClaim "101"`, "1m0s 101 MODIFIED nodeclaims c")
	k.does("spec", merge("nodeclaims.karpenter.sh/c", `{"spec":{"x":2},"status":{"y":3}}`), `200 NodeClaim "102"`, "1m0s 102 MODIFIED nodeclaims c")
	equal(t, "both", k.read("nodeclaims.karpenter.sh/c", "metadata.generation", "spec", "status"), `2 {"x":2} {"y":2}`)
	k.does("scale", merge("deployments.apps/team/web/scale", `{"spec":{"replicas":5}}`), `200 Scale "103"`, "1m0s 103 MODIFIED deployments web")
	equal(t, "scaled", k.read("deployments.apps/team/web", "kind", "metadata.generation", "spec.replicas"), `"Deployment" 2 5`)
	strategic := ask(Patch, "nodes/a", `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`)
	strategic.PatchType = types.StrategicMergePatchType
	k.does("taint", strategic, `200 Node "104"`, "1m0s 104 MODIFIED nodes a")
	applied := ask(Patch, "configmaps/team/applied", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"1"}}`)
	applied.PatchType, applied.Options.FieldManager = types.ApplyYAMLPatchType, "m"
	k.does("apply", applied, `201 ConfigMap "105"`, "1m0s 105 ADDED configmaps applied")
	k.does("apply again", applied, `200 ConfigMap "105"`)
	for _, r := range []Request{
		ask(Create, "configmaps/team", `{"metadata":{"name":"dry"}}`), merge("nodes/a", `{"spec":{"unschedulable":true}}`),
		ask(Delete, "nodes/a", ""), ask(DeleteCollection, "pods/team", ""), ask(Create, "pods/team/waits/eviction", `{"metadata":{"name":"waits"}}`),
		ask(Create, "pods/team/waits/binding", `{"metadata":{"name":"waits"},"target":{"kind":"Node","name":"a"}}`),
	} {
		r.Options.DryRun = []string{metav1.DryRunAll}
		if r.Verb == Delete || r.Verb == DeleteCollection {
			r.Delete.DryRun, r.Options.DryRun = r.Options.DryRun, nil
		}
		k.events.Reset()
		if got := do(t, k.Handler, r); got[0] != '2' || k.events.Len() > 0 {
			t.Errorf("dry run of %s %s: %s\n%s", r.Verb, r.Resource.Resource, got, k.events)
		}
	}
}

// What has a finalizer waits for it, and says so.
func TestKeptFinalizers(t *testing.T) {
	k := keeping(t)
	k.does("create", ask(Create, "configmaps/team", `{"metadata":{"name":"c","finalizers":["example.com/a","example.com/b"]}}`), `201 ConfigMap "101"`, "1m0s 101 ADDED configmaps c")
	k.pass(time.Second)
	k.does("delete", ask(Delete, "configmaps/team/c", ""), `200 ConfigMap "102"`, "1m1s 102 MODIFIED configmaps c")
	equal(t, "marked", k.read("configmaps/team/c", "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds"), `"2026-01-02T12:01:01Z" 0`)
	k.does("delete again", ask(Delete, "configmaps/team/c", ""), `200 ConfigMap "102"`)
	k.does("create again", ask(Create, "configmaps/team", `{"metadata":{"name":"c"}}`), `409 AlreadyExists: object is being deleted: configmaps "c" already exists`)
	k.does("one more", merge("configmaps/team/c", `{"metadata":{"finalizers":["example.com/a","example.com/b","example.com/c"]}}`),
		`422 Invalid: ConfigMap "c" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}`)
	k.does("one less", merge("configmaps/team/c", `{"metadata":{"finalizers":["example.com/b"]}}`), `200 ConfigMap "103"`, "1m1s 103 MODIFIED configmaps c")
	k.does("none left", merge("configmaps/team/c", `{"metadata":{"finalizers":null}}`), `200 ConfigMap "103"`, "1m1s 104 DELETED configmaps c")
	equal(t, "gone", k.read("configmaps/team/c"), `configmaps "c" not found`)
	r := ask(Delete, "nodes/a", "")
	foreground := metav1.DeletePropagationForeground
	r.Delete.PropagationPolicy = &foreground
	k.does("in the foreground", r, `200 Node "105"`, "1m1s 105 MODIFIED nodes a")
	equal(t, "waits", k.read("nodes/a", "metadata.finalizers"), `["foregroundDeletion"]`)
}

// A pod is given time where a kubelet has to end it.
func TestKeptGrace(t *testing.T) {
	k := keeping(t)
	k.does("a pod that runs", ask(Delete, "pods/team/web", ""), `200 Pod "101"`, "1m0s 101 MODIFIED pods web")
	equal(t, "is given time", k.read("pods/team/web", "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.generation"), `"2026-01-02T12:01:30Z" 30 2`)
	k.does("again", ask(Delete, "pods/team/web", ""), `200 Pod "101"`)
	k.pass(29 * time.Second)
	equal(t, "still there", k.read("pods/team/web", "metadata.name"), `"web"`)
	k.pass(time.Second)
	equal(t, "gone", k.read("pods/team/web"), `pods "web" not found`)
	if got, want := strings.TrimSpace(k.events.String()), "1m30s 102 DELETED pods web"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	other := types.UID("other")
	r := ask(Delete, "pods/team/waits", "")
	r.Delete.Preconditions = &metav1.Preconditions{UID: &other}
	k.does("another", r, `409 Conflict: Operation cannot be fulfilled on Pod "waits": the UID in the precondition (other) does not match the UID in record (uid-waits). The object might have been deleted and then recreated`)
	r.Delete.Preconditions = &metav1.Preconditions{ResourceVersion: new(string)}
	*r.Delete.Preconditions.ResourceVersion = "100"
	k.does("another version", r, `409 Conflict: Operation cannot be fulfilled on Pod "waits": the ResourceVersion in the precondition (100) does not match the ResourceVersion in record (21). The object might have been modified`)
	k.does("a pod that nothing runs", ask(Delete, "pods/team/waits", ""), `200 Pod "104"`, "1m30s 103 MODIFIED pods waits\n1m30s 104 DELETED pods waits")
}

// An eviction counts, and the next meets what it left.
func TestKeptEvictions(t *testing.T) {
	k := keeping(t)
	evict := func(pod string) Request {
		return ask(Create, "pods/team/"+pod+"/eviction", fmt.Sprintf(`{"metadata":{"name":%q}}`, pod))
	}
	k.does("against the budget", evict("web"), `429 TooManyRequests: Cannot evict pod as it would violate the pod's disruption budget.`)
	k.does("a budget of one", merge("poddisruptionbudgets.policy/team/web/status", `{"status":{"disruptionsAllowed":1,"currentHealthy":2,"observedGeneration":1}}`),
		`200 PodDisruptionBudget "101"`, "1m0s 101 MODIFIED poddisruptionbudgets web")
	k.does("by the budget", evict("web"), `201 Status `,
		"1m0s 102 MODIFIED poddisruptionbudgets web\n1m0s 103 MODIFIED pods web\n1m0s 104 MODIFIED pods web")
	equal(t, "counted", k.read("poddisruptionbudgets.policy/team/web", "status.disruptionsAllowed", "status.disruptedPods", "status.conditions"),
		`0 {"web":"2026-01-02T12:01:00Z"} [{"lastTransitionTime":"2026-01-02T12:01:00Z","message":"","observedGeneration":1,"reason":"InsufficientPods","status":"False","type":"DisruptionAllowed"}]`)
	equal(t, "said", k.read("pods/team/web", "status.conditions", "metadata.deletionTimestamp"),
		`[{"lastProbeTime":null,"lastTransitionTime":null,"status":"True","type":"Ready"},{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T12:01:00Z",`+
			`"message":"Eviction API: evicting","reason":"EvictionByEvictionAPI","status":"True","type":"DisruptionTarget"}] "2026-01-02T12:01:30Z"`)
	k.does("of what ends", evict("web"), `201 Status `)
	k.does("of what nothing runs", evict("waits"), `201 Status `, "1m0s 105 MODIFIED pods waits\n1m0s 106 MODIFIED pods waits\n1m0s 107 DELETED pods waits")
}

// A pod is bound once.
func TestKeptBindings(t *testing.T) {
	k := keeping(t)
	k.does("label the node", merge("nodes/a", `{"metadata":{"labels":{"topology.kubernetes.io/zone":"z"}}}`), `200 Node "101"`, "1m0s 101 MODIFIED nodes a")
	bind := ask(Create, "pods/team/waits/binding", `{"metadata":{"name":"waits","annotations":{"a":"b"}},"target":{"kind":"Node","name":"a"}}`)
	k.does("bind", bind, `201 Status `, "1m0s 102 MODIFIED pods waits")
	equal(t, "bound", k.read("pods/team/waits", "spec.nodeName", "metadata.annotations", "metadata.labels", "status.conditions"),
		`"a" {"a":"b"} {"app":"waits","topology.kubernetes.io/zone":"z"} [{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T12:01:00Z","status":"True","type":"PodScheduled"}]`)
	k.does("again", bind, `409 Conflict: Operation cannot be fulfilled on pods/binding "waits": pod waits is already assigned to node "a"`)
	all := ask(DeleteCollection, "pods/team", "")
	k.does("all pods", all, `200 PodList "102"`, "1m0s 103 MODIFIED pods waits\n1m0s 104 MODIFIED pods web")
}

// A namespace goes when somebody has emptied it.
func TestKeptNamespaces(t *testing.T) {
	k := keeping(t)
	k.does("create", ask(Create, "namespaces", `{"metadata":{"name":"n"}}`), `201 Namespace "101"`, "1m0s 101 ADDED namespaces n")
	equal(t, "read", k.read("namespaces/n", "metadata.labels", "spec", "status"), `{"kubernetes.io/metadata.name":"n"} {"finalizers":["kubernetes"]} {"phase":"Active"}`)
	k.does("change its finalizers", merge("namespaces/n", `{"spec":{"finalizers":null}}`), `200 Namespace "101"`)
	k.does("delete", ask(Delete, "namespaces/n", ""), `200 Namespace "102"`, "1m0s 102 MODIFIED namespaces n")
	k.does("delete again", ask(Delete, "namespaces/n", ""), `200 Namespace "102"`)
	k.does("create in it", ask(Create, "configmaps/n", `{"metadata":{"name":"c"}}`),
		`403 Forbidden: configmaps "c" is forbidden: unable to create new content in namespace n because it is being terminated`)
	k.does("empty it", ask(Update, "namespaces/n/finalize", `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`), `200 Namespace "102"`, "1m0s 103 DELETED namespaces n")
	k.does("delete the default", ask(Delete, "namespaces/default", ""), `403 Forbidden: namespaces "default" is forbidden: this namespace may not be deleted`)
}

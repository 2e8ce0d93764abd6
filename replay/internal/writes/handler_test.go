package writes

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// TestMessages: what is said to each kind of write, word for word. The wide
// comparison with a real server is apiserver/internal/inbound's.
func TestMessages(t *testing.T) {
	d := New(cluster(t), header(), nil)
	patch := func(t types.PatchType, path, body string) Request {
		r := ask(Patch, path, body)
		r.PatchType = t
		return r
	}
	for _, c := range []struct {
		what string
		r    Request
		want string
	}{
		{"create", ask(Create, "nodes", `{"metadata":{"name":"n"}}`), `201 Node`},
		{"create what is there", ask(Create, "nodes", `{"metadata":{"name":"a"}}`), `409 AlreadyExists: nodes "a" already exists`},
		{"create with a version", ask(Create, "nodes", `{"metadata":{"name":"n","resourceVersion":"1"}}`), `500 : resourceVersion should not be set on objects to be created`},
		{"create another kind", ask(Create, "nodes", `{"apiVersion":"v1","kind":"Pod"}`), `400 BadRequest: Pod in version "v1" cannot be handled as a Node: converting (v1.Pod) to (core.Node): unknown conversion`},
		{"create in another namespace", ask(Create, "pods/team", `{"metadata":{"name":"n","namespace":"other"}}`), `400 BadRequest: the namespace of the provided object does not match the namespace sent on the request`},
		{"create an unknown field", ask(Create, "nodes", `{"metadata":{"name":"n"},"x":1}`), `201 Node WARNING unknown field "x"`},
		{"update", ask(Update, "nodes/a", `{"metadata":{"name":"a"},"spec":{"providerID":"x://a"}}`), `200 Node`},
		{"update by another name", ask(Update, "nodes/a", `{"metadata":{"name":"b"}}`), `400 BadRequest: the name of the object (b) does not match the name on the URL (a)`},
		{"update an old version", ask(Update, "nodes/a", `{"metadata":{"name":"a","resourceVersion":"9"}}`), `409 Conflict: Operation cannot be fulfilled on nodes "a": the object has been modified; please apply your changes to the latest version and try again`},
		{"update a future version", ask(Update, "nodes/a", `{"metadata":{"name":"a","resourceVersion":"101"}}`), `409 Conflict: Operation cannot be fulfilled on nodes "a": the object has been modified; please apply your changes to the latest version and try again`},
		{"update another UID", ask(Update, "nodes/a", `{"metadata":{"name":"a","uid":"other"}}`), `409 Conflict: Operation cannot be fulfilled on nodes "a": StorageError: invalid object, Code: 4, Key: /registry/minions/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: uid-a`},
		{"update a budget without a version", ask(Update, "poddisruptionbudgets.policy/team/web", `{"metadata":{"name":"web"}}`), `422 Invalid: poddisruptionbudgets.policy "web" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		{"update what isn't there", ask(Update, "nodes/z", `{"metadata":{"name":"z"}}`), `404 NotFound: nodes "z" not found`},
		{"patch a custom resource", patch(types.MergePatchType, "nodeclaims.karpenter.sh/c", `{"spec":{"x":2}}`), `200 NodeClaim`},
		{"strategic patch of a custom resource", patch(types.StrategicMergePatchType, "nodeclaims.karpenter.sh/c", `{}`), `415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml`},
		{"failing test", patch(types.JSONPatchType, "nodes/a", `[{"op":"test","path":"/metadata/name","value":"b"}]`), `422 Invalid: the server rejected our request due to an error in our request`},
		{"bad taint", patch(types.MergePatchType, "nodes/a", `{"spec":{"taints":[{"key":"k","effect":"Never"}]}}`), `422 Invalid: Node "a" is invalid: metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		{"apply without a manager", patch(types.ApplyYAMLPatchType, "nodes/a", `{}`), `422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`},
		{"delete what isn't there", ask(Delete, "nodes/z", ""), `404 NotFound: nodes "z" not found`},
		{"evict", ask(Create, "pods/team/waits/eviction", `{"metadata":{"name":"waits"}}`), `201 Status`},
		{"evict against a budget", ask(Create, "pods/team/web/eviction", `{"metadata":{"name":"web"}}`), `429 TooManyRequests: Cannot evict pod as it would violate the pod's disruption budget.`},
		{"bind", ask(Create, "pods/team/waits/binding", `{"metadata":{"name":"waits"},"target":{"name":"a"}}`), `201 Status`},
		{"bind a bound pod", ask(Create, "pods/team/web/binding", `{"metadata":{"name":"web"},"target":{"name":"a"}}`), `409 Conflict: Operation cannot be fulfilled on pods/binding "web": pod web is already assigned to node "a"`},
		{"ephemeral containers", ask(Update, "pods/team/web/ephemeralcontainers", `{}`), `405 MethodNotAllowed: update ephemeralcontainers of pods is not allowed: this is a replay of tape "test": of subresources it takes writes to status, scale, eviction and binding`},
		{"a subresource that isn't known", ask(Update, "nodes/a/unheard", `{}`), `404 NotFound: the server could not find the requested resource`},
		{"a resource that isn't known", ask(Create, "gadgets.example.com/team", `{"metadata":{"name":"g"}}`), `404 NotFound: the server could not find the requested resource`},
		{"an unknown verb", ask("connect", "nodes/a", ""), `405 MethodNotAllowed: the server does not allow this method on the requested resource`},
	} {
		equal(t, c.what, do(t, d, c.r), c.want)
	}
}

// TestAnswers: what is in the answers, and in which form.
func TestAnswers(t *testing.T) {
	c := cluster(t)
	apply(t, c, timeline.Event{At: 90 * time.Second, Type: timeline.Mark, Name: "later"})
	d := New(c, header(), nil)
	merge := func(path, body string) Request {
		r := ask(Patch, path, body)
		r.PatchType = types.MergePatchType
		return r
	}
	equal(t, "a new object", do(t, d, ask(Create, "nodes", `{"metadata":{"name":"n","uid":"mine","creationTimestamp":"2020-01-01T00:00:00Z"},"status":{"phase":"Running"}}`),
		"metadata", "spec", "status.phase"),
		`201 Node {"creationTimestamp":"2026-01-02T12:01:30Z","name":"n","resourceVersion":"100","uid":"bb1245e5-044f-548f-afd9-81a30baf9220"} {"taints":[{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}]} "Running"`)
	equal(t, "a generated name", do(t, d, ask(Create, "pods/team", `{"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"a","image":"a"}]},"status":{"phase":"Running"}}`),
		"metadata.name", "metadata.namespace", "metadata.generation", "status"), `201 Pod "web-00001" "team" 1 {"phase":"Pending","qosClass":"BestEffort"}`)
	equal(t, "a change", do(t, d, merge("nodes/a", `{"spec":{"unschedulable":true},"status":{"phase":"Pending"}}`), "metadata.resourceVersion", "metadata.uid", "metadata.generation", "spec", "status"),
		`200 Node "100" "uid-a" 2 {"providerID":"x://a","unschedulable":true} {"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"architecture":"","bootID":"","containerRuntimeVersion":"","kernelVersion":"","kubeProxyVersion":"","kubeletVersion":"","machineID":"","operatingSystem":"","osImage":"","systemUUID":""}}`)
	equal(t, "no change", do(t, d, merge("nodes/a", `{"spec":{"unschedulable":null}}`), "metadata.resourceVersion", "metadata.generation"), `200 Node "10" 1`)
	equal(t, "a status", do(t, d, merge("nodeclaims.karpenter.sh/c/status", `{"metadata":{"labels":{"l":"1"}},"spec":{"x":9},"status":{"y":2}}`), "metadata.labels", "metadata.generation", "spec", "status"),
		`200 NodeClaim {"app":"c"} 1 {"x":1} {"y":2}`)
	equal(t, "not a status", do(t, d, merge("nodeclaims.karpenter.sh/c", `{"spec":{"x":9},"status":{"y":2}}`), "metadata.generation", "spec", "status"), `200 NodeClaim 2 {"x":9} {"y":1}`)
	equal(t, "a scale", do(t, d, merge("deployments.apps/team/web/scale", `{"spec":{"replicas":5}}`), "spec", "status", "metadata.resourceVersion"),
		`200 Scale {"replicas":5} {"replicas":2,"selector":"app=web"} "100"`)
	equal(t, "a node's end", do(t, d, ask(Delete, "nodes/a", ""), "status", "details"), `200 Status "Success" {"name":"a","kind":"nodes","uid":"uid-a"}`)
	equal(t, "a pod's end", do(t, d, ask(Delete, "pods/team/web", ""), "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.resourceVersion"),
		`200 Pod "2026-01-02T12:02:00Z" 30 "100"`)
	equal(t, "a pod's end that nothing runs on", do(t, d, ask(Delete, "pods/team/waits", ""), "metadata.deletionGracePeriodSeconds"), `200 Pod 0`)
	r := ask(DeleteCollection, "pods/team", "")
	r.Selector.LabelSelector = "app=web"
	equal(t, "many ends", do(t, d, r, "metadata"), `200 PodList {"resourceVersion":"100"}`)
	r = ask(Patch, "nodes/a", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"l":"1"}},"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)
	r.PatchType, r.Options.FieldManager = types.ApplyYAMLPatchType, "m"
	equal(t, "an apply", do(t, d, r, "metadata.labels", "spec"), `200 Node {"app":"a","l":"1"} {"providerID":"x://a","taints":[{"effect":"NoExecute","key":"k"}]}`)
	r = ask(Create, "nodes", `{"metadata":{"name":"n"}}`)
	r.Options.DryRun = []string{metav1.DryRunAll}
	equal(t, "a dry run", do(t, d, r, "metadata.resourceVersion"), `201 Node `)
}

// TestChain: a client may continue with what it was answered, until the tape
// changes the object.
func TestChain(t *testing.T) {
	c := cluster(t)
	d := New(c, header(), nil)
	update := func(version string) string {
		return do(t, d, ask(Update, "poddisruptionbudgets.policy/team/web", fmt.Sprintf(
			`{"metadata":{"name":"web","resourceVersion":%q},"spec":{"minAvailable":2,"selector":{"matchLabels":{"app":"web"}}}}`, version)), "metadata.resourceVersion")
	}
	equal(t, "with what was read", update("30"), `200 PodDisruptionBudget "100"`)
	equal(t, "with what was answered", update("100"), `200 PodDisruptionBudget "100"`)
	apply(t, c, event(t, time.Second, timeline.Modified, `poddisruptionbudgets.policy team/web 120 "spec":{}`))
	if got := update("100"); got[:3] != "409" {
		t.Errorf("after a change on the tape: %s", got)
	}
}

// TestOddTape: what is wrong with an object on the tape already isn't held
// against a change.
func TestOddTape(t *testing.T) {
	c := cluster(t)
	apply(t, c, event(t, 0, timeline.Added, `pods team/odd 101 "spec":{"nodeName":"a"},"status":{"phase":"Running"}`))
	d := New(c, header(), nil)
	r := ask(Patch, "pods/team/odd", `{"metadata":{"labels":{"l":"1"}}}`)
	r.PatchType = types.MergePatchType
	equal(t, "a pod without containers", do(t, d, r, "metadata.labels.l"), `200 Pod "1"`)
	r.Body = []byte(`{"spec":{"initContainers":[{"name":"a"}]}}`)
	equal(t, "with one that it gets", do(t, d, r), `422 Invalid: Pod "odd" is invalid: [spec.initContainers[0].image: Required value, spec.initContainers: Forbidden: pod updates may not add or remove containers]`)
}

// TestOffTape: what a tape doesn't hold is taken as it comes.
func TestOffTape(t *testing.T) {
	d := New(cluster(t), header(), nil)
	lease := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"lock"},"spec":{"holderIdentity":"me"}}`
	equal(t, "create", do(t, d, ask(Create, "leases.coordination.k8s.io/team", lease), "spec", "metadata.namespace"), `201 Lease {"holderIdentity":"me"} "team"`)
	equal(t, "create again", do(t, d, ask(Create, "leases.coordination.k8s.io/team", lease)), `201 Lease`)
	equal(t, "update", do(t, d, ask(Update, "leases.coordination.k8s.io/team/lock", lease), "metadata.resourceVersion"), `200 Lease "1"`)
	r := ask(Patch, "events/team/e", `{"count":2}`)
	r.PatchType = types.StrategicMergePatchType
	equal(t, "patch", do(t, d, r, "count", "metadata.name"), `200 Event 2 "e"`)
	equal(t, "delete", do(t, d, ask(Delete, "events/team/e", ""), "details"), `200 Status {"name":"e","kind":"events"}`)
	equal(t, "deletecollection", do(t, d, ask(DeleteCollection, "events/team", "")), `200 Status`)
	equal(t, "a bad name", do(t, d, ask(Create, "configmaps/team", `{"metadata":{"name":"-"}}`))[:11], `422 Invalid`)
}

// TestAdmission: a FaultInjector is asked first, and sees none of the look-ups.
func TestAdmission(t *testing.T) {
	i := &faultInjector{}
	c := cluster(t, replay.WithFaultInjector(i))
	d := New(c, header(), nil)
	i.err = apierrors.NewTooManyRequests("slow down", 3)
	equal(t, "refused", do(t, d, ask(Delete, "nodes/a", "")), `429 TooManyRequests: slow down`)
	i.err, i.asked = nil, nil
	do(t, d, ask(Create, "pods/team/web/eviction", `{"metadata":{"name":"web"}}`))
	equal(t, "asked", fmt.Sprint(i.asked), `[create pods team web eviction]`)
}

type faultInjector struct {
	asked []string
	err   error
}

func (i *faultInjector) Before(replay.Change) replay.Rewrite       { return replay.Rewrite{} }
func (i *faultInjector) Due() (time.Duration, bool)                { return 0, false }
func (i *faultInjector) Pass(time.Duration) []replay.StreamMarker  { return nil }
func (i *faultInjector) Rewound()                                  {}
func (i *faultInjector) Filter(replay.Request) replay.StreamFilter { return nil }
func (i *faultInjector) Request(r replay.Request) replay.Verdict {
	i.asked = append(i.asked, fmt.Sprint(r.Verb, " ", r.Resource.Resource, " ", r.Namespace, " ", r.Name, " ", r.Subresource))
	return replay.Verdict{Err: i.err}
}

func TestRefuse(t *testing.T) {
	err := Refuse(&timeline.Header{Metadata: timeline.Metadata{Name: "roll"}}, false, "create eviction", schema.GroupResource{Resource: "pods"}, "serve it with --writes=record")
	equal(t, "error", err.Error(), `create eviction of pods is not allowed: this is a replay of tape "roll": serve it with --writes=record`)
	var s apierrors.APIStatus
	if !errors.As(err, &s) || s.Status().Code != 405 || s.Status().Reason != metav1.StatusReasonMethodNotAllowed {
		t.Errorf("%#v", err)
	}
}

package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// request is a line of a log: what was asked, and how it was answered.
type request struct {
	sec              int
	user, verb, path string // NAMESPACE/RESOURCE/NAME/SUBRESOURCE
	req, resp        string // objects, "" where they aren't logged
	code             int
	says             string // message of a Status
}

func (r request) line() string {
	parts := append(strings.Split(r.path, "/"), "")
	ref := map[string]string{"namespace": parts[0], "resource": parts[1], "name": parts[2], "subresource": parts[3]}
	if r.code == 0 {
		r.code = 200
	}
	ev := map[string]any{
		"auditID": fmt.Sprint(r), "stage": "ResponseComplete", "verb": r.verb, "objectRef": ref, "userAgent": "test/1 (x)",
		"user": map[string]string{"username": r.user}, "responseStatus": map[string]any{"code": r.code, "message": r.says},
		"requestReceivedTimestamp": fmt.Sprintf("2026-11-20T10:00:%02dZ", r.sec), "stageTimestamp": fmt.Sprintf("2026-11-20T10:00:%02dZ", r.sec),
	}
	if r.req != "" {
		ev["requestObject"] = json.RawMessage(r.req)
	}
	if r.resp != "" {
		ev["responseObject"] = json.RawMessage(r.resp)
	}
	b, err := json.Marshal(ev)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

const born = `"creationTimestamp":"2026-11-20T09:00:00Z"`

func podAt(rv int, more string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"%d",%s},%s}`, rv, born, more)
}

func nodeAt(rv int, meta, spec string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"n","resourceVersion":"%d",%s%s},"spec":{%s}}`, rv, born, meta, spec)
}

// told are the changes of a dump, one line each, with the parts of the objects that tell them apart.
func told(t *testing.T, requests ...request) (lines []string, r Report) {
	t.Helper()
	var log strings.Builder
	for _, r := range requests {
		log.WriteString(r.line())
	}
	var dump bytes.Buffer
	r, err := Convert(t.Context(), strings.NewReader(log.String()), &dump)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(dump.String()) {
		var l struct {
			T       string
			Refused json.RawMessage
			Event   struct {
				Type   string
				Object struct {
					Metadata struct {
						ResourceVersion, DeletionTimestamp string
					}
					Spec, Status json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err, line)
		}
		o := l.Event.Object
		if l.Refused != nil {
			l.Event.Type, o.Spec = "REFUSED", l.Refused
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintln(l.T[17:19], l.Event.Type, o.Metadata.ResourceVersion, o.Metadata.DeletionTimestamp, string(o.Spec), string(o.Status))))
	}
	return lines, r
}

func expect(t *testing.T, lines []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("the dump (-want +got):\n%s", diff)
	}
}

// At the level Request a state is worked out from what was asked for; versions are between the known ones.
func TestLevelRequest(t *testing.T) {
	lines, r := told(t,
		request{sec: 0, verb: "get", path: "shop/pods/web", resp: podAt(100, `"spec":{"nodeName":"a"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}]}`)},
		request{sec: 1, verb: "patch", path: "shop/pods/web/status", req: `{"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"Initialized"}],"conditions":[{"type":"Ready","status":"False"}]}}`},
		request{sec: 2, verb: "update", path: "shop/pods/web/status", req: podAt(100, `"spec":{"nodeName":"b"},"status":{"phase":"Running"}`)},
		request{sec: 3, verb: "patch", path: "shop/pods/web", req: `[{"op":"remove","path":"/spec/x"}]`},
		request{sec: 4, verb: "patch", path: "shop/pods/web", req: `{"kind":"Pod","apiVersion":"v1"}`},
		request{sec: 5, verb: "patch", path: "shop/pods/web"},
		request{sec: 6, verb: "delete", path: "shop/pods/web", user: "ann", req: `{}`},
		request{sec: 7, verb: "delete", path: "shop/pods/web", user: "system:node:a"},
	)
	expect(t, lines,
		`00 ADDED 99  {"nodeName":"a"} {"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}]}`,
		`00 BOOKMARK 99`,
		`01 MODIFIED 101  {"nodeName":"a"} {"conditions":[{"status":"False","type":"Ready"},{"status":"True","type":"Initialized"}],"phase":"Running"}`,
		`02 MODIFIED 102  {"nodeName":"a"} {"phase":"Running"}`,
		`06 MODIFIED 103 2026-11-20T10:00:36Z {"nodeName":"a"} {"phase":"Running"}`,
		`07 DELETED 104 2026-11-20T10:00:36Z {"nodeName":"a"} {"phase":"Running"}`,
	)
	expect(t, r.LeftOut,
		"pods: JSON patches without an answer (level Request): what they changed (1)",
		"pods: changes without a body (level Metadata): what they changed (1)",
		"pods: server-side applies without an answer (level Request): what they changed (1)",
	)
}

// A log that begins with the cordon of a node, and with the eviction of a pod, begins with both as
// they were before.
func TestBeforeTheLog(t *testing.T) {
	taint := `"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},{"key":"gpu"}]`
	lines, _ := told(t,
		request{sec: 1, verb: "patch", path: "/nodes/a", req: `{"spec":{"unschedulable":true}}`, resp: nodeAt(50, "", `"unschedulable":true,`+taint)},
		request{sec: 2, verb: "create", path: "shop/pods/web/eviction", req: `{"deleteOptions":{"gracePeriodSeconds":5}}`, resp: `{"kind":"Status","code":201}`, code: 201},
		request{sec: 3, verb: "patch", path: "shop/pods/web/status", resp: fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","resourceVersion":"60",%s,"deletionTimestamp":"2026-11-20T10:00:07Z","deletionGracePeriodSeconds":5},"spec":{"nodeName":"a"},"status":{"conditions":[{"type":"DisruptionTarget"}]}}`, born)},
	)
	expect(t, lines,
		`01 ADDED 49  {"taints":[{"key":"gpu"}]}`,
		`01 BOOKMARK 49`,
		`01 ADDED 57  {"nodeName":"a"} {}`,
		`01 BOOKMARK 57`,
		`01 MODIFIED 50  {"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"},{"key":"gpu"}]}`,
		`02 MODIFIED 58  {"nodeName":"a"} {"conditions":[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","message":"Eviction API: evicting","lastTransitionTime":"2026-11-20T10:00:02Z"}]}`,
		`02 MODIFIED 59 2026-11-20T10:00:07Z {"nodeName":"a"} {"conditions":[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","message":"Eviction API: evicting","lastTransitionTime":"2026-11-20T10:00:02Z"}]}`,
		`03 MODIFIED 60 2026-11-20T10:00:07Z {"nodeName":"a"} {"conditions":[{"type":"DisruptionTarget"}]}`,
	)
}

// The answer to the deletion of a collection has its objects as they were before: a pod ends by its grace, as one that is deleted alone.
func TestDeletionOfACollection(t *testing.T) {
	web := podAt(100, `"spec":{"nodeName":"a"},"status":{"phase":"Running"}`)
	item := strings.Replace(web, `"kind":"Pod","apiVersion":"v1",`, "", 1)
	for kind, list := range map[string]string{
		"whole":    `{"kind":"PodList","apiVersion":"v1","items":[` + item + `]}`,
		"metadata": `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"100"}}]}`,
	} {
		t.Log(kind)
		lines, r := told(t,
			request{sec: 0, verb: "get", path: "shop/pods/web", resp: web},
			request{sec: 6, verb: "deletecollection", path: "shop/pods/", user: "ann", req: `{}`, resp: list},
			request{sec: 7, verb: "delete", path: "shop/pods/web", user: "system:node:a"},
		)
		expect(t, lines,
			`00 ADDED 99  {"nodeName":"a"} {"phase":"Running"}`,
			`00 BOOKMARK 99`,
			`06 MODIFIED 101 2026-11-20T10:00:36Z {"nodeName":"a"} {"phase":"Running"}`,
			`07 DELETED 102 2026-11-20T10:00:36Z {"nodeName":"a"} {"phase":"Running"}`,
		)
		expect(t, r.LeftOut)
	}
	_, r := told(t,
		request{sec: 0, verb: "get", path: "shop/pods/web", resp: web},
		request{sec: 1, verb: "deletecollection", path: "shop/pods/", resp: `{"kind":"PodList","apiVersion":"v1","items":[]}`},
		request{sec: 2, verb: "deletecollection", path: "shop/pods/"},
	)
	expect(t, r.LeftOut, "pods: deletions of whole collections without their names (level Metadata or Request) (1)")
}

// An object with finalizers is there until the last is taken.
func TestFinalizers(t *testing.T) {
	lines, _ := told(t,
		request{sec: 0, verb: "patch", path: "/nodes/a", resp: nodeAt(50, `,"finalizers":["x"]`, "")},
		request{sec: 1, verb: "delete", path: "/nodes/a", resp: nodeAt(51, `,"finalizers":["x"],"deletionTimestamp":"2026-11-20T10:00:01Z","deletionGracePeriodSeconds":0`, "")},
		request{sec: 2, verb: "patch", path: "/nodes/a", resp: nodeAt(55, `,"deletionTimestamp":"2026-11-20T10:00:01Z","deletionGracePeriodSeconds":0`, "")},
	)
	expect(t, lines, `00 ADDED 49  {}`, `00 BOOKMARK 49`, `01 MODIFIED 51 2026-11-20T10:00:01Z {}`, `02 DELETED 55 2026-11-20T10:00:01Z {}`)
}

// Where answers aren't logged, finalizers count as well: of a node that is deleted, and of a pod that has ended.
func TestFinalizersAtLevelRequest(t *testing.T) {
	at := `,"deletionTimestamp":"2026-11-20T10:00:01Z","deletionGracePeriodSeconds":0`
	for form, last := range map[string]request{
		"merge patch": {verb: "patch", req: `{"metadata":{"finalizers":null}}`},
		"update":      {verb: "update", req: nodeAt(51, "", `"x":2`)},
	} {
		last.sec, last.path = 4, "/nodes/a"
		lines, _ := told(t,
			request{sec: 0, verb: "get", path: "/nodes/a", resp: nodeAt(50, `,"finalizers":["karpenter.sh/termination","y"]`, `"x":2`)},
			request{sec: 1, verb: "delete", path: "/nodes/a", user: "karpenter"},
			request{sec: 2, verb: "delete", path: "/nodes/a", user: "karpenter"},
			request{sec: 3, verb: "update", path: "/nodes/a", req: nodeAt(51, `,"finalizers":["karpenter.sh/termination"]`, `"x":2`)},
			last,
		)
		t.Log(form)
		expect(t, lines, `00 ADDED 49  {"x":2}`, `00 BOOKMARK 49`, `01 MODIFIED 51 2026-11-20T10:00:01Z {"x":2}`,
			`03 MODIFIED 55 2026-11-20T10:00:01Z {"x":2}`, `04 DELETED 56 2026-11-20T10:00:01Z {"x":2}`)
	}
	// An answer that is a Status says that it is gone, whatever was known of it.
	lines, _ := told(t,
		request{sec: 0, verb: "get", path: "/nodes/a", resp: nodeAt(50, `,"finalizers":["x"]`, "")},
		request{sec: 1, verb: "delete", path: "/nodes/a", resp: `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
	)
	expect(t, lines, `00 ADDED 49  {}`, `00 BOOKMARK 49`, `01 DELETED 51  {}`)
	// A deletion that the log begins with: the node was there, without it.
	lines, _ = told(t,
		request{sec: 1, verb: "delete", path: "/nodes/a", user: "karpenter"},
		request{sec: 3, verb: "patch", path: "/nodes/a", resp: nodeAt(60, `,"finalizers":["x"]`+at, "")},
		request{sec: 4, verb: "patch", path: "/nodes/a", req: `{"metadata":{"finalizers":null}}`},
	)
	expect(t, lines, `01 ADDED 57  {}`, `01 BOOKMARK 57`, `01 MODIFIED 58 2026-11-20T10:00:01Z {}`, // as the answer at 03
		`04 DELETED 61 2026-11-20T10:00:01Z {}`)
	// A pod of a Job: its kubelet's deletion takes the rest of the grace, the controller of Jobs the finalizer.
	pod := strings.Replace(podAt(70, `"spec":{"nodeName":"a"},"status":{"phase":"Running"}`), born, born+`,"finalizers":["batch.kubernetes.io/job-tracking"]`, 1)
	lines, _ = told(t,
		request{sec: 0, verb: "get", path: "shop/pods/web", resp: pod},
		request{sec: 1, verb: "delete", path: "shop/pods/web", user: "ann"},
		request{sec: 5, verb: "delete", path: "shop/pods/web", user: "system:node:a"},
		request{sec: 6, verb: "patch", path: "shop/pods/web", req: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]}}`},
	)
	expect(t, lines, `00 ADDED 69  {"nodeName":"a"} {"phase":"Running"}`, `00 BOOKMARK 69`,
		`01 MODIFIED 71 2026-11-20T10:00:31Z {"nodeName":"a"} {"phase":"Running"}`,
		`05 MODIFIED 72 2026-11-20T10:00:05Z {"nodeName":"a"} {"phase":"Running"}`,
		`06 DELETED 74 2026-11-20T10:00:05Z {"nodeName":"a"} {"phase":"Running"}`)
}

// What a list shows was so before the next write, whenever it was asked for.
func TestReadsAreUpperBounds(t *testing.T) {
	list := func(items ...string) string {
		return `{"kind":"NodeList","apiVersion":"v1","items":[` + strings.Join(items, ",") + `]}`
	}
	lines, _ := told(t,
		request{sec: 9, verb: "list", path: "/nodes/", resp: list(nodeAt(40, "", `"old":1`), strings.Replace(nodeAt(70, "", ""), `"a"`, `"b"`, 1))},
		request{sec: 5, verb: "patch", path: "/nodes/a", resp: nodeAt(60, "", `"new":1`)},
		request{sec: 9, verb: "get", path: "/nodes/a", resp: nodeAt(60, "", `"new":1`)},
	)
	expect(t, lines, `05 ADDED 39  {"old":1}`, `05 ADDED 39  {}`, `05 BOOKMARK 39`, `05 MODIFIED 60  {"new":1}`)
}

// Refusals come from the level Metadata as well, in each of the server's words.
func TestRefusals(t *testing.T) {
	status := func(code int, message, cause string) string {
		return fmt.Sprintf(`{"kind":"Status","code":%d,"message":%q,"details":{"causes":[{"reason":"DisruptionBudget","message":%q}]}}`, code, message, cause)
	}
	evict := func(sec int, resp string) request {
		return request{sec: sec, verb: "create", path: "shop/pods/web/eviction", resp: resp, code: 429}
	}
	lines, r := told(t,
		evict(1, status(429, "", "The disruption budget web needs 2 healthy pods and has 2 currently")),
		evict(2, status(429, "", "The disruption budget web is still being processed by the server.")),
		evict(3, status(500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.", "")),
		evict(4, `{"kind":"Status","code":429,"message":"Too many requests, please try again later."}`),
	)
	expect(t, lines,
		`01 REFUSED   {"namespace":"shop","name":"web","budget":"web","by":"test/1","reason":"needs 2 healthy pods and has 2"}`,
		`02 REFUSED   {"namespace":"shop","name":"web","budget":"web","by":"test/1","reason":"the budget is still being processed by the server"}`,
		`03 REFUSED   {"namespace":"shop","name":"web","by":"test/1","reason":"pods have more than one budget, which the eviction API does not support"}`,
	)
	expect(t, r.LeftOut, "pods: evictions that the server was too busy for (429 without a budget) (1)")
}

func TestHugeValues(t *testing.T) {
	s := newStream(strings.NewReader(`{"auditID":"` + strings.Repeat("x", 1<<20)))
	s.limit = 64 << 10
	if _, err := s.each(func(members) error { return nil }); !errors.Is(err, errHuge) {
		t.Errorf("found %v, want a value to be too large", err)
	}
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(request{verb: "patch", path: "/nodes/a", resp: nodeAt(50, "", "")}.line()))
	f.Add([]byte(request{verb: "create", path: "shop/pods/web/eviction", code: 429}.line()))
	f.Add([]byte(`{"protoPayload":{"serviceName":"k8s.io","methodName":"x.patch","resourceName":"core/v1/nodes/a"},"timestamp":"2026-11-20T10:00:00Z"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var dump bytes.Buffer
		if _, err := Convert(t.Context(), bytes.NewReader(raw), &dump); err != nil {
			return
		}
		for line := range bytes.Lines(dump.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("found a line that is no JSON: %q", line)
			}
		}
	})
}

// Where a change has no version between its neighbours, all versions are counted.
func TestVersionsAreCounted(t *testing.T) {
	lines, r := told(t,
		request{sec: 0, verb: "patch", path: "/nodes/a", resp: nodeAt(50, "", "")},
		request{sec: 1, verb: "patch", path: "/nodes/a", req: `{"spec":{"x":1}}`},
		request{sec: 2, verb: "patch", path: "/nodes/a", resp: nodeAt(51, "", `"y":1`)},
	)
	expect(t, lines, `00 ADDED 1  {}`, `00 BOOKMARK 1`, `01 MODIFIED 4  {"x":1}`, `02 MODIFIED 6  {"y":1}`)
	expect(t, r.LeftOut, "resourceVersions: some changes have none in the log, so all are counted on the tape")
}

// A write of what isn't there says that it is gone; of one that was given up, nobody knows.
func TestFailedWrites(t *testing.T) {
	lines, r := told(t,
		request{sec: 0, verb: "patch", path: "/nodes/a", resp: nodeAt(50, "", "")},
		request{sec: 1, verb: "delete", path: "/nodes/a", resp: `{"kind":"Status","code":504}`, code: 504},
		request{sec: 2, verb: "patch", path: "/nodes/a", resp: `{"kind":"Status","code":409}`, code: 409},
		request{sec: 3, verb: "patch", path: "/nodes/a", code: 404, says: "the server could not find the requested resource"},
		request{sec: 3, verb: "patch", path: "/nodes/a/resize", code: 404, says: `nodes "a" not found`},
		request{sec: 4, verb: "patch", path: "/nodes/a", code: 404, says: `nodes "a" not found`},
		request{sec: 5, verb: "delete", path: "/nodes/a", code: 404, says: `nodes "a" not found`},
	)
	expect(t, lines, `00 ADDED 49  {}`, `00 BOOKMARK 49`, `04 DELETED 51  {}`)
	expect(t, r.LeftOut, "nodes: writes that the server gave up (5xx, such as when their client hung up): whether they were done (1)")
}

// A dry run deletes nothing, and a proxied program has its own objects.
func TestDeletionsThatAreNone(t *testing.T) {
	const dry = `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`
	gone := `{"kind":"Status","status":"Success"}`
	lines, _ := told(t,
		request{sec: 0, verb: "patch", path: "/nodes/a", resp: nodeAt(50, "", "")},
		request{sec: 1, verb: "delete", path: "/nodes/a", req: dry, resp: gone},
		request{sec: 2, verb: "deletecollection", path: "/nodes/", req: dry, resp: `{"kind":"NodeList","apiVersion":"v1","items":[` + nodeAt(50, "", "") + `]}`},
		request{sec: 3, verb: "delete", path: "/nodes/a/proxy", resp: gone},
	)
	expect(t, lines, `00 ADDED 49  {}`, `00 BOOKMARK 49`)
}

// What the server worked on at the same time is in the order of its versions: an eviction that ended after
// another pod was written, and had no room there, was written before it.
func TestAtTheSameTime(t *testing.T) {
	other := func(sec, rv int) request {
		return request{sec: sec, verb: "patch", path: "shop/pods/db/status", resp: strings.Replace(podAt(rv, `"spec":{"db":1},"status":{}`), `"web"`, `"db"`, 1)}
	}
	evict := request{sec: 3, verb: "create", path: "shop/pods/web/eviction", code: 201}
	early := strings.Replace(evict.line(), `"requestReceivedTimestamp":"2026-11-20T10:00:03Z"`, `"requestReceivedTimestamp":"2026-11-20T10:00:01Z"`, 1)
	log := request{verb: "patch", path: "shop/pods/web/status", resp: podAt(50, `"spec":{"nodeName":"a"},"status":{"phase":"Running"}`)}.line() +
		other(2, 53).line() + early + other(4, 54).line()
	var dump bytes.Buffer
	if _, err := Convert(t.Context(), strings.NewReader(log), &dump); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"resourceVersion":"51"`, `"resourceVersion":"52"`} {
		if !strings.Contains(dump.String(), want) {
			t.Errorf("found no %s in\n%s", want, dump.String())
		}
	}
}

package recorder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// imported is the tape of a dump.
func imported(t *testing.T, dump string, change func(*recorder.ImportOptions)) (recorder.Summary, string, error) {
	t.Helper()
	var tape bytes.Buffer
	o := recorder.ImportOptions{Name: "test", Input: "dump.jsonl", Open: func(h timeline.Header) (*timeline.Writer, error) {
		return timeline.NewWriter(&tape, h)
	}}
	if change != nil {
		change(&o)
	}
	sum, err := recorder.Import(t.Context(), strings.NewReader(dump), o)
	return sum, tape.String(), err
}

func renderText(t *testing.T, tape string) string {
	t.Helper()
	r, err := timeline.NewReader(strings.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	return render(t, r)
}

// obj is a Node of a dump; created and seen are seconds after 10:00:00.
func obj(name, rv string, created, seen int) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":"uid-%s","resourceVersion":%q,"creationTimestamp":"2026-11-20T10:%02d:%02dZ"},
"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-11-20T10:%02d:%02dZ"}]}}`, name, name, rv, created/60, created%60, seen/60, seen%60)
}

// captured is a line of the form with arrival times.
func captured(ms int, resource, typ, object string) string {
	return fmt.Sprintf(`{"event":{"type":%q,"object":%s},"resource":%q,"t":"2026-11-20T10:00:%02d.%03dZ"}`, typ, object, resource, ms/1000, ms%1000) + "\n"
}

func endMark(rv string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":%q,"annotations":{"k8s.io/initial-events-end":"true"}}}`, rv)
}

func TestImportCaptured(t *testing.T) {
	podAt := func(rv string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default","uid":"u","resourceVersion":%q}}`, rv)
	}
	dump := captured(0, "nodes", "ADDED", obj("a", "7", 0, 0)) +
		captured(1, "pods", "ADDED", podAt("9")) +
		captured(2, "nodes", "BOOKMARK", endMark("20")) +
		captured(5, "nodes", "MODIFIED", obj("a", "21", 0, 1)) + // before the pods' list is complete
		captured(6, "pods", "BOOKMARK", strings.Replace(endMark("20"), "Node", "Pod", 1)) +
		captured(1500, "nodes", "MODIFIED", obj("a", "21", 0, 1)) + // a repeat
		captured(1400, "pods", "DELETED", podAt("23")) + // written late
		captured(1600, "nodes", "DELETED", obj("b", "24", 0, 1)) // never appeared
	sum, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes a 7
	0s SYNC nodes 20
	0s ADDED pods default/web 9
	0s SYNC pods 20
	5ms MODIFIED nodes a 21
	1.5s DELETED pods default/web 23
	1.6s SYNC nodes 24
	1.6s END
	`)
	if sum.Header.Source.Times != timeline.TimesObserved || sum.Header.Source.Kind != timeline.SourceImport {
		t.Errorf("found %+v, want an import with observed times", sum.Header.Source)
	}
	equal(t, strings.Join(sum.LeftOut, "\n"), "nodes: 1 event repeated: its version had been seen\nnodes: 1 deletion of an object that never appeared")
}

// What kubectl prints: indented, without arrival times.
func TestImportKubectlWatch(t *testing.T) {
	event := func(typ, object string) string {
		return strings.ReplaceAll(fmt.Sprintf(`{"type":%q,"object":%s}`, typ, object), `,"`, ",\n    \"") + "\n"
	}
	dump := event("ADDED", obj("a", "7", 0, 40)) +
		event("ADDED", obj("b", "5", 10, 42)) +
		event("ADDED", obj("c", "60", 50, 50)) + // newer than everything before: not of the list
		event("MODIFIED", obj("a", "61", 0, 55)) +
		event("MODIFIED", obj("b", "62", 10, 52)) + // its time is earlier: the tape's doesn't go back
		event("DELETED", obj("a", "63", 0, 70)) +
		event("MODIFIED", obj("d", "64", 0, 71)) // began before the dump
	sum, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes a 7
	0s ADDED nodes b 5
	0s SYNC nodes 7
	8s ADDED nodes c 60
	13s MODIFIED nodes a 61
	13s MODIFIED nodes b 62
	28s DELETED nodes a 63
	29s ADDED nodes d 64
	29s END
	`)
	if h := sum.Header; h.Source.Times != timeline.TimesDerived || h.Metadata.Start.Format("15:04:05") != "10:00:42" {
		t.Errorf("found %s and start %s, want derived and 10:00:42", h.Source.Times, h.Metadata.Start)
	}
}

// Dumps of several resources one after the other are merged by their times.
func TestImportMergesDumpsWithoutArrivalTimes(t *testing.T) {
	event := func(typ, object string) string { return fmt.Sprintf(`{"type":%q,"object":%s}`, typ, object) }
	lease := func(rv string, seen int) string {
		return strings.NewReplacer(`"Node"`, `"Lease"`, `"v1"`, `"coordination.k8s.io/v1"`, `"name"`, `"namespace":"kube-node-lease","name"`).Replace(obj("a", rv, 0, seen))
	}
	dump := event("ADDED", obj("a", "7", 0, 10)) + event("MODIFIED", obj("a", "10", 0, 20)) + event("MODIFIED", obj("a", "12", 0, 40)) +
		event("ADDED", lease("8", 11)) + event("MODIFIED", lease("11", 30))
	_, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes a 7
	0s SYNC nodes 7
	0s ADDED leases kube-node-lease/a 8
	0s SYNC leases 8
	9s MODIFIED nodes a 10
	19s MODIFIED leases kube-node-lease/a 11
	29s MODIFIED nodes a 12
	29s END
	`)
}

// A watch of the dump started over: what its list shows to be different stands
// in a GAP.
func TestImportOfASecondList(t *testing.T) {
	dump := captured(0, "nodes", "ADDED", obj("a", "7", 0, 0)) +
		captured(0, "nodes", "ADDED", obj("b", "8", 0, 0)) +
		captured(1, "nodes", "BOOKMARK", endMark("20")) +
		captured(1000, "nodes", "MODIFIED", obj("a", "21", 0, 0)) +
		captured(2000, "nodes", "ADDED", obj("a", "25", 0, 0)) +
		captured(2000, "nodes", "ADDED", obj("c", "24", 0, 0)) +
		captured(2001, "nodes", "BOOKMARK", endMark("30")) +
		captured(3000, "nodes", "MODIFIED", obj("c", "31", 0, 0))
	sum, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes a 7
	0s ADDED nodes b 8
	0s SYNC nodes 20
	1s MODIFIED nodes a 21
	2.001s GAP nodes 21 the dump lists again here
	2.001s DELETED nodes b
	2.001s MODIFIED nodes a 25
	2.001s ADDED nodes c 24
	2.001s SYNC nodes 30
	3s MODIFIED nodes c 31
	3s END
	`)
	if sum.Gaps != 1 {
		t.Errorf("found %d gaps, want 1", sum.Gaps)
	}
}

// Without marks a second ADDED is a change, and another UID under a living
// name shows that a deletion is missing.
func TestImportOfWhatComesTwice(t *testing.T) {
	other := strings.Replace(obj("a", "31", 0, 0), "uid-a", "uid-2", 1)
	dump := captured(0, "nodes", "ADDED", obj("a", "7", 0, 0)) +
		captured(2000, "nodes", "ADDED", obj("a", "7", 0, 0)) +
		captured(2500, "nodes", "ADDED", obj("a", "30", 0, 0)) +
		captured(3000, "nodes", "ADDED", other)
	_, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes a 7
	0s SYNC nodes 7
	2.5s MODIFIED nodes a 30
	3s GAP nodes 31 the deletion of a is missing: its name has another UID from here on
	3s DELETED nodes a
	3s SYNC nodes 30
	3s ADDED nodes a 31
	3s END
	`)
}

func TestImportOfLists(t *testing.T) {
	list := func(items ...string) string {
		return `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[` + strings.Join(items, ",") + "]}\n"
	}
	typed := `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"40"},"items":[` +
		strings.Replace(obj("a", "7", 0, 90), `"kind":"Node","apiVersion":"v1",`, "", 1) + "]}\n"
	_, tape, err := imported(t, list(obj("a", "7", 0, 10), obj("b", "9", 0, 12))+list(obj("a", "20", 0, 60))+typed, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes a 7
	0s ADDED nodes b 9
	0s SYNC nodes 9
	48s GAP nodes 9 the dump lists again here
	48s DELETED nodes b
	48s MODIFIED nodes a 20
	48s SYNC nodes 20
	1m18s GAP nodes 20 the dump lists again here
	1m18s MODIFIED nodes a 7
	1m18s SYNC nodes 40
	1m18s END
	`)
}

// listed are the ends of the lists that a dump begins with.
func listed() string {
	return captured(1, "nodes", "BOOKMARK", endMark("10")) +
		captured(2, "pods", "BOOKMARK", strings.Replace(endMark("10"), "Node", "Pod", 1)) +
		captured(3, "events", "BOOKMARK", strings.Replace(endMark("10"), "Node", "Event", 1))
}

// inSpot has an import keep what is of the group spot.
func inSpot(o *recorder.ImportOptions) {
	o.Scope = recorder.Scope{Nodegroup: "spot", Providers: eks[:1]}
}

// Events wait five seconds of the dump for what they are about.
func TestImportWithAScope(t *testing.T) {
	withVersion := func(object, rv string) string {
		return strings.Replace(object, `"metadata":{`, `"metadata":{"resourceVersion":"`+rv+`",`, 1)
	}
	dump := captured(0, "nodes", "ADDED", withVersion(groupNode("in", "spot"), "1")) +
		captured(0, "nodes", "ADDED", withVersion(groupNode("out", "other"), "2")) +
		listed() +
		captured(1000, "events", "ADDED", withVersion(about("bound-later", "Pod", "web", "uid-web-1"), "11")) +
		captured(1500, "events", "ADDED", withVersion(about("never", "Pod", "web", "uid-web-2"), "12")) +
		captured(1600, "events", "ADDED", withVersion(about("node", "Node", "in", "in"), "13")) +
		captured(4000, "pods", "ADDED", withVersion(pod("web-1", "in"), "14")) +
		captured(5000, "nodes", "MODIFIED", withVersion(groupNode("out", "other"), "15")) +
		captured(7000, "nodes", "MODIFIED", withVersion(groupNode("in", "spot"), "16"))
	sum, tape, err := imported(t, dump, inSpot)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes in 1
	0s SYNC nodes 10
	0s SYNC pods 10
	0s SYNC events 10
	4s ADDED pods default/web-1 14
	5s ADDED events default/bound-later 11
	7s ADDED events default/node 13
	7s MODIFIED nodes in 16
	7s END
	`)
	equal(t, strings.Join(sum.LeftOut, "\n"), "nodes: 1 event out of scope\nevents: 1 event out of scope")
	if sum.Header.Scope.Provider != "eks" {
		t.Errorf("found provider %q, want eks", sum.Header.Scope.Provider)
	}
}

// An Event that has the name of another one, with another UID, comes after one that still waits: what waits no longer is written once.
func TestImportOfAnEventUnderAnothersName(t *testing.T) {
	event := func(uid, rv string, object string) string {
		return strings.Replace(strings.Replace(object, `"uid":"uid-again"`, `"uid":"`+uid+`"`, 1), `"metadata":{`, `"metadata":{"resourceVersion":"`+rv+`",`, 1)
	}
	node := about("again", "Node", "in", "in")
	dump := captured(0, "nodes", "ADDED", event("", "1", groupNode("in", "spot"))) +
		listed() +
		captured(1000, "events", "ADDED", event("1", "11", node)) +
		captured(1500, "events", "ADDED", event("", "12", about("waits", "Pod", "web", "uid-web-1"))) +
		captured(1600, "events", "ADDED", event("2", "13", node)) +
		captured(1700, "events", "ADDED", event("", "14", about("waits-too", "Pod", "web", "uid-web-1"))) +
		captured(4000, "pods", "ADDED", event("", "15", pod("web-1", "in")))
	_, tape, err := imported(t, dump, inSpot)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes in 1
	0s SYNC nodes 10
	0s SYNC pods 10
	0s SYNC events 10
	1s ADDED events default/again 11
	4s ADDED pods default/web-1 15
	4s ADDED events default/waits 12
	4s GAP events 14 the deletion of again is missing: its name has another UID from here on
	4s DELETED events default/again
	4s SYNC events 12
	4s ADDED events default/again 13
	4s ADDED events default/waits-too 14
	4s END
	`)
}

func TestImportRefuses(t *testing.T) {
	good := captured(0, "nodes", "ADDED", obj("a", "7", 0, 0))
	for name, c := range map[string]struct{ dump, want string }{
		"nothing":          {"", "found no watch event"},
		"space":            {" \n\n", "found no watch event"},
		"no JSON":          {good + "hello\n", "import dump.jsonl: line 3 (byte 310): found 'h', want a JSON object"},
		"broken JSON":      {good + `{"event":{"type":ADDED}}` + "\n", "line 3 (byte 310): in the value that begins here: byte 17"},
		"something else":   {`{"a":1}`, `found "{\"a\":1}", want`},
		"a bare object":    {obj("a", "7", 0, 0), "--output-watch-events"},
		"an unknown type":  {`{"type":"CHANGED","object":{}}`, `type "CHANGED": want ADDED`},
		"no kind":          {`{"type":"ADDED","object":{"metadata":{"name":"a"}}}`, "without kind or apiVersion"},
		"no version":       {`{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}}`, "no metadata.resourceVersion"},
		"a bad time":       {`{"t":"noon","event":{"type":"ADDED","object":{}}}`, `t "noon": want RFC 3339`},
		"deep nesting":     {`{"type":"ADDED","object":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}", "byte"},
		"invalid UTF-8":    {`{"type":"ADDED","object":{"kind":"` + "\xff" + `"}}`, "byte"},
		"two API versions": {good + captured(1, "nodes", "ADDED", strings.Replace(obj("b", "8", 0, 0), `"v1"`, `"v2"`, 1)), "a tape holds one version"},
	} {
		t.Run(name, func(t *testing.T) {
			_, tape, err := imported(t, c.dump, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("found %v, want one line that says %q", err, c.want)
			}
			if tape != "" {
				t.Errorf("found a tape, want none:\n%s", tape)
			}
		})
	}
}

// A dump that was cut off gives a tape without END.
func TestImportOfATornDump(t *testing.T) {
	dump := captured(0, "nodes", "ADDED", obj("a", "7", 0, 0)) + `{"event":{"type":"MODI`
	sum, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape), `
	0s ADDED nodes a 7
	0s SYNC nodes 7
	`)
	equal(t, strings.Join(sum.LeftOut, "\n"), "the last 22 bytes: a value that was cut off; the tape has no END")
}

// Secrets are left out and counted, canaries are dropped.
func TestImportRedacts(t *testing.T) {
	secret := `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"default","uid":"s","resourceVersion":"5"},"data":{"a":"canary"}}`
	app := `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"default","uid":"d","resourceVersion":"6",
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"canary"},"managedFields":[{"manager":"canary"}]},
		"spec":{"template":{"metadata":{"annotations":{"x":"canary"}},"spec":{"containers":[{"name":"web","image":"web:1","args":["canary"],"env":[{"name":"A","value":"canary"}]}]}}}}`
	web := strings.NewReplacer(`"spec":{`, `"spec":{"containers":[{"name":"web","image":"web:1","command":["canary"],"env":[{"name":"A","value":"canary"}]}],`,
		`"metadata":{`, `"metadata":{"resourceVersion":"9","annotations":{"secret":"canary"},`).Replace(pod("web", "a"))
	web = strings.TrimSuffix(web, "}") + `,"status":{"containerStatuses":[{"name":"web","state":{"terminated":{"exitCode":1,"message":"canary"}}}]}}`
	dump := captured(0, "secrets", "ADDED", secret) + captured(0, "deployments", "ADDED", app) + captured(0, "pods", "ADDED", web)
	sum, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(tape, "canary") {
		t.Errorf("found the canary on the tape:\n%s", tape)
	}
	if !strings.Contains(tape, `"image":"web:1"`) || strings.Contains(tape, "resource: secrets") {
		t.Errorf("want images and no secrets:\n%s", tape)
	}
	equal(t, strings.Join(sum.LeftOut, "\n"), "secrets: 1 events of Secrets, which are never recorded")
	_, full, err := imported(t, dump, func(o *recorder.ImportOptions) { o.Full = true })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(full, "canary") || strings.Contains(full, `"data"`) {
		t.Errorf("want the canary, but not that of the Secret, on a full tape:\n%s", full)
	}
}

// onlyReader hides everything but Read.
type onlyReader struct{ io.Reader }

func TestImportFromAPipe(t *testing.T) {
	var tape bytes.Buffer
	_, err := recorder.Import(t.Context(), onlyReader{strings.NewReader(captured(0, "nodes", "ADDED", obj("a", "7", 0, 0)))}, recorder.ImportOptions{
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.NewWriter(&tape, h) },
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, renderText(t, tape.String()), `
	0s ADDED nodes a 7
	0s SYNC nodes 7
	0s END
	`)
}

func TestImportFromABrokenPipe(t *testing.T) {
	pipe := io.MultiReader(strings.NewReader(captured(0, "nodes", "ADDED", obj("a", "7", 0, 0))), iotest.ErrReader(io.ErrClosedPipe))
	_, err := recorder.Import(t.Context(), onlyReader{pipe}, recorder.ImportOptions{
		Open: func(timeline.Header) (*timeline.Writer, error) { return nil, errors.New("the tape was made") },
	})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("found %v, want the pipe's error", err)
	}
}

func TestImportObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := recorder.Import(ctx, strings.NewReader(captured(0, "nodes", "ADDED", obj("a", "7", 0, 0))), recorder.ImportOptions{
		Open: func(timeline.Header) (*timeline.Writer, error) { return nil, errors.New("the tape was made") },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, want it to be cancelled", err)
	}
}

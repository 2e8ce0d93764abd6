package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/timeline"
)

var (
	nodes = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	pods  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

func header() *timeline.Header {
	return &timeline.Header{
		Metadata: timeline.Metadata{Name: "test"},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
			{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
		},
	}
}

// tape reads a tape in short: one event a word, "seconds type resource name rv
// labels-or-fields…", as in "3 MODIFIED nodes a 120 zone=b spec.unschedulable=true".
func tape(t testing.TB, lines string) (all []timeline.Event) {
	t.Helper()
	for line := range strings.Lines(lines) {
		if w := strings.Fields(line); len(w) > 0 {
			all = append(all, event(t, w))
		}
	}
	return all
}

func event(t testing.TB, w []string) timeline.Event {
	at, err := time.ParseDuration(w[0] + "s")
	if err != nil {
		t.Fatal(err)
	}
	ev := timeline.Event{At: at, Type: timeline.Type(w[1])}
	switch ev.Type {
	case timeline.Mark:
		ev.Name = w[2]
		return ev
	case timeline.End:
		return ev
	case timeline.Sync, timeline.Gap:
		ev.Resource, ev.RV = w[2], w[3]
		return ev
	}
	ev.Resource = w[2]
	ev.Name = w[3]
	meta := map[string]any{"labels": map[string]any{}}
	if ns, n, ok := strings.Cut(w[3], "/"); ok {
		ev.Namespace, ev.Name = ns, n
		meta["namespace"] = ns
	}
	meta["name"], ev.UID = ev.Name, "uid-"+ev.Name
	if w[4] != "-" {
		ev.RV = w[4]
		meta["resourceVersion"] = ev.RV
	}
	obj := map[string]any{"apiVersion": "v1", "kind": map[string]string{"nodes": "Node", "pods": "Pod", "events": "Event"}[ev.Resource], "metadata": meta}
	for _, f := range w[5:] {
		k, v, _ := strings.Cut(f, "=")
		switch section, field, nested := strings.Cut(k, "."); {
		case k == "uid":
			ev.UID = v
		case nested:
			in, _ := obj[section].(map[string]any)
			if in == nil {
				in = map[string]any{}
				obj[section] = in
			}
			if v == "true" {
				in[field] = true
			} else {
				in[field] = v
			}
		default:
			meta["labels"].(map[string]any)[k] = v
		}
	}
	meta["uid"] = ev.UID
	ev.Object, err = json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func apply(t testing.TB, c *Cluster, lines string) {
	t.Helper()
	for _, ev := range tape(t, lines) {
		if _, err := c.Apply(ev); err != nil {
			t.Fatal(err)
		}
	}
}

// show prints what a watch has to say now, "ADDED a@5 MODIFIED a@6".
func show(t testing.TB, w *Watch) string {
	t.Helper()
	var out []string
	for w.Pending() {
		ev, err := w.Next(context.Background())
		if err != nil {
			out = append(out, err.Error())
			break
		}
		switch {
		case ev.Status != nil:
			out = append(out, fmt.Sprintf("%s %d %s", ev.Type, ev.Status.Code, ev.Status.Reason))
		case ev.Object.Name() == "" && strings.Contains(string(ev.Object.Raw()), metav1.InitialEventsAnnotationKey):
			out = append(out, "END@"+ev.Object.ResourceVersion())
		default:
			if raw := string(ev.Object.Raw()); !strings.Contains(raw, `"resourceVersion":"`+ev.Object.ResourceVersion()+`"`) {
				t.Fatalf("version %s isn't in the object %s", ev.Object.ResourceVersion(), raw)
			}
			out = append(out, fmt.Sprintf("%s %s@%s", ev.Type, ev.Object.Name(), ev.Object.ResourceVersion()))
		}
	}
	return strings.Join(out, " ")
}

func list(t testing.TB, c *Cluster, gvr schema.GroupVersionResource, ns string, opts metav1.ListOptions) string {
	t.Helper()
	l, err := c.List(gvr, ns, opts)
	if err != nil {
		return fmt.Sprintf("%s: %s", apierrors.ReasonForError(err), err)
	}
	return showList(l)
}

func showList(l *List) string {
	out := "@" + l.ResourceVersion
	for _, o := range l.Items {
		out += " " + strings.TrimPrefix(o.key, "/") + "@" + o.ResourceVersion()
	}
	return out
}

func open(t testing.TB, c *Cluster, gvr schema.GroupVersionResource, ns string, opts metav1.ListOptions) *Watch {
	t.Helper()
	w, err := c.Watch(gvr, ns, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func equal(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

const start = `
	0 ADDED nodes b 20
	0 ADDED nodes a 10 pool=x
	0 SYNC nodes 50
	0 ADDED pods default/p 30 spec.nodeName=a
	0 SYNC pods 51
`

func TestListThenWatch(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	equal(t, "list", list(t, c, nodes, "", metav1.ListOptions{}), "@50 a@10 b@20")
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "50"})
	apply(t, c, `
		1 MODIFIED nodes a 60 spec.unschedulable=true
		2 MODIFIED pods default/p 61
		3 DELETED nodes b 70
		4 ADDED nodes b 80 uid=new`)
	equal(t, "watch", show(t, w), "MODIFIED a@60 DELETED b@70 ADDED b@80")
	equal(t, "from between", show(t, open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "65"})), "DELETED b@70 ADDED b@80")
	equal(t, "list", list(t, c, nodes, "", metav1.ListOptions{}), "@80 a@60 b@80")
	equal(t, "all versions", list(t, c, pods, "", metav1.ListOptions{}), "@61 default/p@61")
	equal(t, "other namespace", list(t, c, pods, "kube-system", metav1.ListOptions{}), "@61")
}

func TestInitialListTakesEffectAtItsSync(t *testing.T) {
	c := NewCluster(header())
	w := open(t, c, nodes, "", metav1.ListOptions{})
	equal(t, "before", list(t, c, nodes, "", metav1.ListOptions{}), "@1")
	for i, ev := range tape(t, "0 ADDED nodes a 10\n0 ADDED nodes b 5\n0 SYNC nodes 50") {
		changed, err := c.Apply(ev)
		if err != nil || changed != (i == 2) {
			t.Errorf("event %d: changed %t, %v", i, changed, err)
		}
	}
	equal(t, "who was early", show(t, w), "ADDED b@5 ADDED a@10")
	equal(t, "from the beginning", show(t, open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "1"})), "ADDED b@5 ADDED a@10")
	for _, v := range []string{"2", "10", "49"} {
		if _, err := c.Watch(nodes, "", metav1.ListOptions{ResourceVersion: v}); !apierrors.IsResourceExpired(err) {
			t.Errorf("watch from %s: %v, want 410 Expired", v, err)
		}
	}
}

func TestListWithoutSync(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, "0 ADDED nodes a 10\n0 ADDED nodes b 7")
	equal(t, "inside", list(t, c, nodes, "", metav1.ListOptions{}), "@1")
	if !c.Settle() || c.Settle() {
		t.Error("Settle ends the list once")
	}
	equal(t, "settled", list(t, c, nodes, "", metav1.ListOptions{}), "@10 a@10 b@7")
	apply(t, c, "1 ADDED pods default/p -\n1 MODIFIED pods default/p -\n2 DELETED pods default/p -")
	equal(t, "numbered", show(t, open(t, c, pods, "", metav1.ListOptions{ResourceVersion: "2"})), "MODIFIED p@3 DELETED p@4")
}

func TestGapTakesEffectAtItsSync(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start+"\n1 ADDED nodes c 55")
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "55", AllowWatchBookmarks: true})
	apply(t, c, `
		2 GAP nodes 55
		3 DELETED nodes a -
		3 DELETED nodes b - 
		3 ADDED nodes b 70 uid=new
		3 ADDED nodes d 60
		3 MODIFIED nodes c 65
		3 ADDED pods default/q 62`)
	equal(t, "inside", show(t, w)+list(t, c, nodes, "", metav1.ListOptions{}), "@55 a@10 b@20 c@55")
	apply(t, c, "3 SYNC nodes 90")
	equal(t, "after", show(t, w), "ADDED d@60 MODIFIED c@65 DELETED b@69 ADDED b@70 DELETED a@90 BOOKMARK @90")
	equal(t, "resumed inside", show(t, open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "69"})), "ADDED b@70 DELETED a@90")
	equal(t, "list", list(t, c, nodes, "", metav1.ListOptions{}), "@90 b@70 c@65 d@60")
}

// An object that comes into scope late, and an event that waited for its
// object, are written with versions older than the newest.
func TestVersionsOutOfOrder(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start+`
		1 MODIFIED nodes a 101
		1 ADDED nodes old 30`)
	equal(t, "list", list(t, c, nodes, "", metav1.ListOptions{}), "@30 a@101 b@20 old@30")
	equal(t, "from the list", show(t, open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "30"})), "")
	equal(t, "from the first", show(t, open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "101"})), "ADDED old@30")
	apply(t, c, "2 SYNC nodes 110")
	equal(t, "behind the next bookmark", list(t, c, nodes, "", metav1.ListOptions{}), "@110 a@101 b@20 old@30")
}

func TestSelectors(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	byNode := open(t, c, pods, "", metav1.ListOptions{FieldSelector: "spec.nodeName=a,status.phase!=Failed", ResourceVersion: "51"})
	byLabel := open(t, c, pods, "default", metav1.ListOptions{LabelSelector: "app in (x)", ResourceVersion: "51"})
	apply(t, c, `
		1 ADDED pods default/q 60 app=x
		1 MODIFIED pods default/q 61 spec.nodeName=a app=x
		2 MODIFIED pods default/p 62 spec.nodeName=a status.phase=Failed
		3 MODIFIED pods default/q 63 spec.nodeName=a
		4 DELETED pods default/q 64 spec.nodeName=a
		5 ADDED pods other/q 65 app=x`)
	equal(t, "by field", show(t, byNode), "ADDED q@61 DELETED p@62 MODIFIED q@63 DELETED q@64")
	equal(t, "by label", show(t, byLabel), "ADDED q@60 MODIFIED q@61 DELETED q@63")
	equal(t, "unschedulable", list(t, c, nodes, "", metav1.ListOptions{FieldSelector: "spec.unschedulable=false"}), "@50 a@10 b@20")
	equal(t, "old name", list(t, c, pods, "", metav1.ListOptions{FieldSelector: "spec.host=a"}), "@65 default/p@62")
	for _, bad := range []metav1.ListOptions{
		{FieldSelector: "status.hostIP=1"}, {FieldSelector: "x"}, {LabelSelector: "a in"}, {ResourceVersion: "abc"},
	} {
		if _, err := c.List(pods, "", bad); !apierrors.IsBadRequest(err) {
			t.Errorf("%+v: %v, want 400", bad, err)
		}
	}
	_, err := c.List(pods, "", metav1.ListOptions{FieldSelector: "status.hostIP=1"})
	equal(t, "message", err.Error(), "field label not supported: status.hostIP")
}

// The object that leaves is sent as it was, with the version of the change.
func TestLeavingCarriesTheOldState(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	w := open(t, c, nodes, "", metav1.ListOptions{LabelSelector: "pool=x", ResourceVersion: "50"})
	apply(t, c, "1 MODIFIED nodes a 60 pool=y")
	ev, err := w.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "left", fmt.Sprint(ev.Type, " ", ev.Object.Labels(), " ", ev.Object.ResourceVersion()), "DELETED pool=x 60")
}

func TestWatchList(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	yes, no := true, false
	opts := metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: "NotOlderThan", AllowWatchBookmarks: true}
	w := open(t, c, nodes, "", opts)
	apply(t, c, "1 MODIFIED nodes a 60\n2 SYNC nodes 77")
	equal(t, "streamed", show(t, w), "ADDED a@10 ADDED b@20 END@50 MODIFIED a@60 BOOKMARK @77")
	opts.SendInitialEvents = &no
	equal(t, "only news", show(t, open(t, c, nodes, "", opts)), "")
	opts.ResourceVersion = "1000"
	opts.SendInitialEvents = &yes
	if _, err := c.Watch(nodes, "", opts); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("from the future: %v", err)
	}
	opts.ResourceVersionMatch = ""
	if _, err := c.Watch(nodes, "", opts); !apierrors.IsInvalid(err) {
		t.Errorf("without match: %v, want 422", err)
	}
	equal(t, "as of old", show(t, open(t, c, nodes, "", metav1.ListOptions{})), "ADDED a@60 ADDED b@20")
}

func TestFuture(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	_, err := c.List(nodes, "", metav1.ListOptions{ResourceVersion: "51"})
	if !apierrors.IsTimeout(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("list: %v", err)
	}
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "65"})
	apply(t, c, "1 MODIFIED nodes a 60\n1 MODIFIED nodes a 65\n1 MODIFIED nodes a 66")
	equal(t, "silence until then", show(t, w), "MODIFIED a@66")
}

func TestPages(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start+"0 ADDED nodes c 55\n0 ADDED nodes d 56")
	l, err := c.List(nodes, "", metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "first", showList(l)+fmt.Sprint(" +", *l.Remaining), "@56 a@10 b@20 +2")
	apply(t, c, "1 DELETED nodes c 60\n1 MODIFIED nodes d 61\n1 ADDED nodes e 62")
	next, err := c.List(nodes, "", metav1.ListOptions{Limit: 1, Continue: l.Continue})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "second", showList(next), "@56 c@55")
	last, err := c.List(nodes, "", metav1.ListOptions{Limit: 2, Continue: next.Continue})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "last", showList(last)+last.Continue, "@56 d@56")
	equal(t, "exact", list(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "60", ResourceVersionMatch: "Exact"}), "@60 a@10 b@20 d@56")
	equal(t, "not older", list(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "60"}), "@62 a@10 b@20 d@61 e@62")
	if _, err := c.List(nodes, "", metav1.ListOptions{Continue: "nonsense"}); !apierrors.IsBadRequest(err) {
		t.Errorf("bad token: %v", err)
	}
}

func TestWhatCantBe(t *testing.T) {
	for lines, want := range map[string]string{
		"1 MODIFIED nodes x 60":                                    `event at 1s: MODIFIED nodes "x": is not alive: want its ADDED before`,
		"1 DELETED pods default/x 60":                              `event at 1s: DELETED pods "default/x": is not alive: want its ADDED before`,
		"1 ADDED nodes a 60":                                       `event at 1s: ADDED nodes "a": is alive already (uid uid-a): want its DELETED before`,
		"1 MODIFIED nodes a 60 uid=other":                          `event at 1s: MODIFIED nodes "a": has uid other, and uid uid-a is alive: want DELETED of the old one and ADDED of the new one`,
		"1 MODIFIED nodes a x60":                                   `event at 1s: MODIFIED nodes "a": resourceVersion "x60": want a decimal integer, or none`,
		"1 ADDED leases a 60":                                      `event at 1s: ADDED leases "a": unknown resource: want one that the header lists (nodes, pods, events, poddisruptionbudgets.policy)`,
		"2 SYNC nodes 70\n1 MODIFIED nodes a 80":                   `event at 1s: MODIFIED nodes "a": goes back in time: want a position of 2s or later`,
		"2 GAP nodes 70\n2 MODIFIED nodes zz 80":                   `event at 2s: MODIFIED nodes "zz": is not alive: want its ADDED before`,
		"2 GAP nodes 70\n2 ADDED nodes a 80":                       `event at 2s: ADDED nodes "a": is alive already (uid uid-a): want its DELETED before`,
		"1 ADDED events default/e 70\n1 ADDED events default/e 71": `event at 1s: ADDED events "default/e": is alive already (uid uid-e): want its DELETED before`,
	} {
		c := NewCluster(header())
		apply(t, c, start)
		before := list(t, c, nodes, "", metav1.ListOptions{})
		var err error
		for _, ev := range tape(t, lines) {
			_, err = c.Apply(ev)
		}
		if err == nil {
			t.Errorf("%s: no error", lines)
			continue
		}
		equal(t, lines, err.Error(), want)
		if !strings.Contains(lines, "SYNC") {
			equal(t, "state after "+lines, list(t, c, nodes, "", metav1.ListOptions{}), before)
		}
	}
}

func TestUnknownResourceAndObject(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	if _, err := c.List(schema.GroupVersionResource{Version: "v1", Resource: "services"}, "", metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("resource: %v", err)
	}
	_, err := c.Get(nodes, "", "zz", metav1.GetOptions{})
	equal(t, "object", fmt.Sprint(err), `nodes "zz" not found`)
	o, err := c.Get(pods, "default", "p", metav1.GetOptions{ResourceVersion: "51"})
	if err != nil || o.UID() != "uid-p" {
		t.Errorf("get: %v %v", o, err)
	}
}

func TestRewind(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	key := c.State()
	apply(t, c, "1 MODIFIED nodes a 60\n2 DELETED nodes b 98143")
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "60"})
	c.Rewind(key)
	equal(t, "open watch", show(t, w), "DELETED b@98143 ERROR 410 Expired EOF")
	equal(t, "no older than an old version", list(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "98143"}), "@100050 a@100010 b@100020")
	equal(t, "stamped", list(t, c, nodes, "", metav1.ListOptions{}), "@100050 a@100010 b@100020")
	for _, v := range []string{"60", "98143", "100049"} {
		if _, err := c.Watch(nodes, "", metav1.ListOptions{ResourceVersion: v}); !apierrors.IsResourceExpired(err) {
			t.Errorf("watch from %s: %v, want 410 Expired", v, err)
		}
	}
	w = open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "100050"})
	apply(t, c, "1 MODIFIED nodes a 60\n2 DELETED nodes b 98143")
	equal(t, "again", show(t, w), "MODIFIED a@100060 DELETED b@198143")
	c.Rewind(nil)
	equal(t, "empty", list(t, c, nodes, "", metav1.ListOptions{}), "@200001")
	apply(t, c, start)
	equal(t, "from the top", list(t, c, nodes, "", metav1.ListOptions{}), "@200050 a@200010 b@200020")
	if _, err := c.Watch(pods, "", metav1.ListOptions{ResourceVersion: "51"}); !apierrors.IsResourceExpired(err) {
		t.Errorf("watch from an old version: %v", err)
	}
}

package fault_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// An object that was made again is another one in everything that follows:
// lists, gets, watches, what is found after a GAP, its deletion; and until the
// tape itself makes another one of the name.
func TestRecreateIsConsistent(t *testing.T) {
	again := node(60, timeline.Added, "old-a", 70)
	again.UID = "uid-third"
	again.Object = []byte(strings.ReplaceAll(string(again.Object), "uid-old-a", "uid-third"))
	gap := timeline.Event{At: 30e9, Type: timeline.Gap, Resource: "nodes", RV: "40"}
	tape := []timeline.Event{
		node(0, timeline.Added, "old-a", 10), synced(0, "nodes", 20),
		node(5, timeline.Modified, "old-a", 30),
		node(10, timeline.Modified, "old-a", 35),
		gap, node(30, timeline.Modified, "old-a", 45, "cordoned"), synced(30, "nodes", 50),
		node(40, timeline.Modified, "old-a", 55, "cordoned"),
		node(50, timeline.Deleted, "old-a", 60, "cordoned"),
		again,
	}
	p, err := replay.NewPlayer(replay.Events(header(), tape), fault.Inject("recreate:nodes,event=2"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	w, err := p.Cluster().Watch(nodeGVR, "", metav1.ListOptions{ResourceVersion: "20"})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	uids := map[string]bool{}
	for err == nil {
		err = p.Step()
		for {
			ev, err := w.TryNext()
			if err != nil {
				break
			}
			uid := string(ev.Object.UID())
			if !strings.Contains(string(ev.Object.Raw()), `"uid":"`+uid+`"`) {
				t.Errorf("%s at %s: the uid is %s, and not inside of %s", ev.Type, ev.Object.ResourceVersion(), uid, ev.Object.Raw())
			}
			uids[uid] = true
			switch uid {
			case "uid-old-a":
				uid = "first"
			case "uid-third":
				uid = "third"
			default:
				uid = "other"
				if !strings.Contains(string(ev.Object.Raw()), `"creationTimestamp":"2026-11-20T22:00:10Z"`) {
					t.Errorf("not created when it was: %s", ev.Object.Raw())
				}
			}
			told = append(told, string(ev.Type)+" "+uid+"@"+ev.Object.ResourceVersion())
		}
		if o, err := p.Cluster().Get(nodeGVR, "", "old-a", metav1.GetOptions{}); err == nil {
			l, err := p.Cluster().List(nodeGVR, "", metav1.ListOptions{})
			if err != nil || len(l.Items) != 1 || l.Items[0].UID() != o.UID() || !uids[string(o.UID())] && len(told) > 0 {
				t.Errorf("at %s get has %s, list %v %v", p.Position(), o.UID(), l.Items, err)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	want := "MODIFIED first@30, DELETED first@31, ADDED other@35, MODIFIED other@45, MODIFIED other@55, DELETED other@60, ADDED third@70"
	if got := strings.Join(told, ", "); got != want || len(uids) != 3 {
		t.Errorf("%d uids, told\n%s, want\n%s", len(uids), got, want)
	}
}

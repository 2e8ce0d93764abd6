package replay

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	equal(t, "the early watch", show(t, w), "ADDED b@5 ADDED a@10")
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
	equal(t, "after the next bookmark", list(t, c, nodes, "", metav1.ListOptions{}), "@110 a@101 b@20 old@30")
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

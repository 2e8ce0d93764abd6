package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
)

// playTo plays the roll up to a position.
func playTo(t *testing.T, at time.Duration, specs ...string) (p *replay.Player, fired *[]string) {
	t.Helper()
	fired = &[]string{}
	p, err := replay.NewPlayer(replay.Events(header(), roll()), fault.InjectAndLog(func(f fault.Fired) { *fired = append(*fired, f.String()) }, specs...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := p.Seek(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	return p, fired
}

func write(verb, name string) replay.Request {
	return replay.Request{Verb: verb, Resource: nodeGVR, Name: name}
}

// What is refused, by verb, and how.
func TestRefusals(t *testing.T) {
	for spec, want := range map[string]string{
		"409":                            "create:409/AlreadyExists update:409/Conflict patch:409/Conflict delete:409/Conflict",
		"409:nodes,verb=create+delete":   "create:409/AlreadyExists delete:409/Conflict",
		"429,retry-after=1.2s":           "get:429/TooManyRequests/2 list:429/TooManyRequests/2 create:429/TooManyRequests/2 update:429/TooManyRequests/2 patch:429/TooManyRequests/2 delete:429/TooManyRequests/2",
		"429:nodes,verb=read,count=1":    "get:429/TooManyRequests/1",
		"500:nodes,verb=write,event=2":   "update:500/InternalError",
		"timeout:nodes,verb=list":        "list:504/Timeout",
		"500:pods":                       "",
		"500:nodes,name=b":               "",
		"500:nodes,at=10s,for=1s":        "",
		"500:nodes,at=11s,verb=patch":    "",
		"500:nodes,at=9s,verb=patch+get": "get:500/InternalError",
		"500:nodes,for=10s":              "",
		"500:nodes,for=10001ms,verb=get": "get:500/InternalError",
	} {
		p, _ := playTo(t, 10*time.Second, spec)
		if strings.HasPrefix(spec, "500:nodes,at=10s") {
			p.Cluster().Pass(11 * time.Second)
		}
		var got []string
		for _, verb := range []string{"get", "list", "create", "update", "patch", "delete"} {
			var err error
			switch verb {
			case "get":
				_, err = p.Cluster().Get(nodeGVR, "", "old-a", metav1.GetOptions{})
			case "list":
				_, err = p.Cluster().List(nodeGVR, "", metav1.ListOptions{})
			default:
				err = p.Cluster().Admit(write(verb, "old-a"))
			}
			if err == nil {
				continue
			}
			var status apierrors.APIStatus
			if !errors.As(err, &status) {
				t.Errorf("%s: %s: %v", spec, verb, err)
				continue
			}
			s := status.Status()
			line := fmt.Sprintf("%s:%d/%s", verb, s.Code, s.Reason)
			if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
				line += fmt.Sprint("/", s.Details.RetryAfterSeconds)
			}
			got = append(got, line)
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", spec, d)
		}
	}
}

// Lists, gets and watches that begin with what is there show an older state, and
// watching from there tells of everything since.
func TestStaleLists(t *testing.T) {
	p, fired := playTo(t, 25*time.Second, "stale-list:nodes,by=12s")
	c := p.Cluster()
	l, err := c.List(nodeGVR, "", metav1.ListOptions{ResourceVersion: "42"})
	if err != nil {
		t.Fatal(err)
	}
	if l.ResourceVersion != "32" || len(l.Items) != 3 {
		t.Errorf("list: %d nodes at %s, want 3 at 32", len(l.Items), l.ResourceVersion)
	}
	if o, err := c.Get(nodeGVR, "", "old-a", metav1.GetOptions{}); err != nil || o.ResourceVersion() != "32" {
		t.Errorf("get of what is gone by now: %v", err)
	}
	yes := true
	w, err := c.Watch(nodeGVR, "", metav1.ListOptions{
		SendInitialEvents: &yes, ResourceVersion: "42", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		ev, err := w.TryNext()
		if err != nil {
			break
		}
		got = append(got, fmt.Sprintf("%s %s@%s", ev.Type, ev.Object.Name(), ev.Object.ResourceVersion()))
	}
	want := "ADDED new-c@31, ADDED old-a@32, ADDED old-b@11, BOOKMARK @32, DELETED old-a@36, BOOKMARK @40, MODIFIED old-b@41, MODIFIED old-b@42"
	if d := cmp.Diff(want, strings.Join(got, ", ")); d != "" {
		t.Errorf("watch (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{
		"T+23.000s  fault stale-list  list nodes", "T+23.000s  fault stale-list  get nodes old-a", "T+23.000s  fault stale-list  watch nodes",
	}, *fired); d != "" {
		t.Errorf("fired (-want +got):\n%s", d)
	}
}

// The second of several writes fails, once; after a pause it is another several.
func TestIntermediateWrites(t *testing.T) {
	p, fired := playTo(t, 10*time.Second, "intermediate")
	*fired = nil // what it did to streams
	var got []string
	for i := range 6 {
		if i == 4 {
			if err := p.Seek(t.Context(), 20*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		got = append(got, fmt.Sprint(p.Cluster().Admit(write("patch", "old-b"))))
	}
	const fails = "Internal error occurred: intermediate"
	if d := cmp.Diff([]string{"<nil>", fails, "<nil>", "<nil>", "<nil>", fails}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The dice of requests are thrown by what is asked for, not by when.
func TestChanceOfRequests(t *testing.T) {
	roll := func(names ...string) map[string]string {
		p, _ := playTo(t, 10*time.Second, "500:nodes,p=0.5,seed=3")
		got := map[string]string{}
		for range 40 {
			for _, n := range names {
				if p.Cluster().Admit(write("patch", n)) == nil {
					got[n] += "."
				} else {
					got[n] += "x"
				}
			}
		}
		return got
	}
	both, one := roll("a", "b"), roll("b")
	if both["b"] != one["b"] {
		t.Errorf("b alone: %s, beside a: %s", one["b"], both["b"])
	}
	if n := strings.Count(both["a"]+both["b"], "x"); n < 20 || n > 60 {
		t.Errorf("%d of 80 refused, want about half: %v", n, both)
	}
}

// A rule with a name meets the lists and watches of that name alone.
func TestRefusalsOfAName(t *testing.T) {
	for _, verb := range []string{"list", "watch"} {
		p, _ := playTo(t, 10*time.Second, "500:nodes,name=b,verb="+verb)
		for selector, refused := range map[string]bool{"": false, "metadata.name=a": false, "metadata.name!=b": false, "metadata.name=b": true} {
			var err error
			if o := (metav1.ListOptions{FieldSelector: selector}); verb == "list" {
				_, err = p.Cluster().List(nodeGVR, "", o)
			} else {
				var w *replay.Watch
				if w, err = p.Cluster().Watch(nodeGVR, "", o); err == nil {
					w.Stop()
				}
			}
			if apierrors.IsInternalError(err) != refused || err != nil && !refused {
				t.Errorf("%s of %q: got %v, want refused: %t", verb, selector, err, refused)
			}
		}
	}
}

package writes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/timeline"
)

// TestLines: one line for each write, with what the client sent and how it was answered.
func TestLines(t *testing.T) {
	var out strings.Builder
	record, failed := Lines(&out)
	c := cluster(t)
	apply(t, c, timeline.Event{At: 92*time.Second + 400*time.Millisecond, Type: timeline.Mark, Name: "later"})
	d := New(c, header(), record)
	r := ask(Patch, "nodes/a", ` { "spec": {"unschedulable": true} } `)
	r.PatchType, r.Options.FieldManager = types.StrategicMergePatchType, "kubectl-cordon"
	do(t, d, r)
	do(t, d, ask(Patch, "nodes/a", `{}`))                                          // no type: refused
	do(t, d, ask(Create, "nodes", `{"metadata":{"name":"a"}}`))                    // is there: refused
	do(t, d, ask(Create, "pods/team/web/eviction", `{"metadata":{"name":"web"}}`)) // refused
	do(t, d, ask(Create, "pods/team", `{"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"a","image":"a"}]}}`))
	do(t, d, ask(Create, "pods/team/waits/eviction", `{"metadata":{"name":"waits"}}`))
	r = ask(Delete, "pods/team/web", "")
	grace := int64(5)
	r.Delete = metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions"}, GracePeriodSeconds: &grace, DryRun: []string{metav1.DryRunAll}}
	do(t, d, r)
	r = ask(DeleteCollection, "pods/team", "")
	r.Selector = metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "spec.nodeName=a"}
	do(t, d, r)
	r = ask(Patch, "nodes/a", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
	force := true
	r.PatchType, r.Options.FieldManager, r.Options.Force = types.ApplyYAMLPatchType, "m", &force
	do(t, d, r)
	equal(t, "log", out.String(), strings.TrimPrefix(`
{"at":"92.4s","verb":"patch","resource":"nodes","name":"a","patchType":"strategic","body":{"spec":{"unschedulable":true}},"fieldManager":"kubectl-cordon","code":200}
{"at":"92.4s","verb":"patch","resource":"nodes","name":"a","body":{},"code":415,"reason":"UnsupportedMediaType"}
{"at":"92.4s","verb":"create","resource":"nodes","name":"a","body":{"metadata":{"name":"a"}},"code":409,"reason":"AlreadyExists"}
{"at":"92.4s","verb":"create","resource":"pods","subresource":"eviction","namespace":"team","name":"web","body":{"metadata":{"name":"web"}},"code":429,"reason":"TooManyRequests"}
{"at":"92.4s","verb":"create","resource":"pods","namespace":"team","name":"web-00001","body":{"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"a","image":"a"}]}},"code":201}
{"at":"92.4s","verb":"create","resource":"pods","subresource":"eviction","namespace":"team","name":"waits","body":{"metadata":{"name":"waits"}},"code":201}
{"at":"92.4s","verb":"delete","resource":"pods","namespace":"team","name":"web","options":{"gracePeriodSeconds":5,"dryRun":["All"]},"dryRun":true,"code":200}
{"at":"92.4s","verb":"deletecollection","resource":"pods","namespace":"team","labelSelector":"app=web","fieldSelector":"spec.nodeName=a","code":200}
{"at":"92.4s","verb":"patch","resource":"nodes","name":"a","patchType":"apply","body":{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},"fieldManager":"m","force":true,"code":200}
`, "\n"))
	if err := failed(); err != nil {
		t.Error(err)
	}
}

// TestSecretsStayOut: of secrets and tokens not a word is logged, however they
// are written.
func TestSecretsStayOut(t *testing.T) {
	var all []Entry
	d := New(cluster(t), header(), func(e Entry) { all = append(all, e) })
	do(t, d, ask(Create, "secrets/team", `{"metadata":{"name":"s"},"data":{"k":"aHVzaA=="},"stringData":{"l":"hush"}}`))
	do(t, d, ask(Update, "secrets/team/s", `{"metadata":{"name":"s"},"stringData":{"l":"hush"}}`))
	r := ask(Patch, "secrets/team/s", `{"stringData":{"l":"hush"}}`)
	r.PatchType = types.MergePatchType
	do(t, d, r)
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || strings.Contains(string(raw), "hush") || strings.Contains(string(raw), "aHVzaA") || strings.Count(string(raw), `"hidden":true`) != 3 {
		t.Errorf("%d: %s", len(all), raw)
	}
}

// TestSameAgain: the same writes to the same tape are answered and logged with
// the same bytes.
func TestSameAgain(t *testing.T) {
	run := func() string {
		var out strings.Builder
		record, _ := Lines(&out)
		d := New(cluster(t), header(), record)
		for _, r := range []Request{
			ask(Create, "nodes", `{"metadata":{"generateName":"n-"}}`), ask(Create, "nodes", `{"metadata":{"generateName":"n-"}}`),
			ask(Create, "events/team", `{"metadata":{"generateName":"e-"}}`), ask(Delete, "pods/team/web", ""),
			ask(DeleteCollection, "nodes", ""),
		} {
			a, err := d.Handle(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(a.Object)
		}
		return out.String()
	}
	equal(t, "second run", run(), run())
}

func TestLinesKeepTheFirstError(t *testing.T) {
	full := errors.New("disk full")
	record, failed := Lines(writer(func([]byte) (int, error) { return 0, full }))
	record(Entry{})
	record(Entry{})
	if !errors.Is(failed(), full) {
		t.Error(failed())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestTail(t *testing.T) {
	var tail Tail[int]
	for i := range 3*Kept + 7 {
		tail.Add(i)
	}
	all := tail.All()
	if len(all) < Kept || len(all) > 2*Kept || all[len(all)-1] != 3*Kept+6 || all[0] != 3*Kept+7-len(all) {
		t.Errorf("%d kept, from %d to %d", len(all), all[0], all[len(all)-1])
	}
	if tail.Clear(); len(tail.All()) != 0 {
		t.Error("not cleared")
	}
}

// TestAtOnce: writes that come at once, while the tape continues, are logged one
// by one, and no two new objects are taken for one.
func TestAtOnce(t *testing.T) {
	var names []string
	c := cluster(t)
	d := New(c, header(), func(e Entry) { names = append(names, e.Name) })
	var clients errgroup.Group
	for range 8 {
		clients.Go(func() error {
			for range 20 {
				if _, err := d.Handle(t.Context(), ask(Create, "nodes", `{"metadata":{"generateName":"n-"}}`)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := range 50 {
		apply(t, c, event(t, time.Second, timeline.Modified, fmt.Sprintf(`nodes a %d "spec":{"providerID":"x://a"}`, 200+i)))
	}
	if err := clients.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if n := len(slices.Compact(names)); n != 160 {
		t.Errorf("%d names for 160 nodes", n)
	}
}

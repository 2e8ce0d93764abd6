//go:build controlplane

package apply_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

func example(name string) string { return filepath.Join("..", "..", "examples", name+".yaml") }

// play returns an Applier of a tape, which is closed with the test.
func play(t *testing.T, config *rest.Config, tape timeline.Source, speed replay.Speed, opts ...apply.Option) *apply.Applier {
	t.Helper()
	return playFrom(t, config, tape, []replay.Option{replay.WithSpeed(speed)}, opts...)
}

func playFrom(t *testing.T, config *rest.Config, tape timeline.Source, how []replay.Option, opts ...apply.Option) *apply.Applier {
	t.Helper()
	p, err := replay.NewPlayer(tape, how...)
	if err != nil {
		t.Fatal(err)
	}
	a, err := apply.New(config, p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// recording is a tape that is being made of the target.
type recording struct {
	file   string
	client kubernetes.Interface
	done   chan error
}

// theEnd is the name of what a recording ends after, in every resource.
const theEnd = "the-end"

// record starts to record the target and returns when its lists are on the tape.
func record(ctx context.Context, t *testing.T, config *rest.Config) *recording {
	t.Helper()
	r := &recording{file: filepath.Join(t.TempDir(), "target.yaml"), client: kubernetes.NewForConfigOrDie(config), done: make(chan error, 1)}
	seen := map[string]bool{}
	rec, err := recorder.New(recorder.Config{
		REST: config, Name: "target",
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(r.file, h) },
		Stop: func(ev timeline.Event) bool {
			if ev.Name == theEnd && ev.Type == timeline.Added {
				seen[ev.Resource] = true
			}
			return len(seen) == len(recorder.DefaultResources())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := rec.Run(ctx)
		r.done <- err
	}()
	if err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
		b, err := os.ReadFile(r.file)
		if os.IsNotExist(err) {
			return false, nil
		}
		return strings.Count(string(b), `"type":"SYNC"`) >= len(recorder.DefaultResources()), err
	}); err != nil {
		t.Fatal("no recording: ", err)
	}
	return r
}

// end writes what the recording ends after, and waits for it.
func (r *recording) end(ctx context.Context, t *testing.T) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: theEnd, Namespace: "default"}
	off := false
	_, err := r.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: theEnd}}, metav1.CreateOptions{})
	if err == nil {
		_, err = r.client.CoreV1().Pods("default").Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
			AutomountServiceAccountToken: &off, SchedulerName: "nobody", Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = r.client.CoreV1().Events("default").Create(ctx, &corev1.Event{ObjectMeta: meta, InvolvedObject: corev1.ObjectReference{
			Kind: "Pod", Name: theEnd, Namespace: "default",
		}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = r.client.PolicyV1().PodDisruptionBudgets("default").Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: meta}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-r.done:
		if err != nil {
			t.Fatal(err)
		}
	case <-ctx.Done():
		t.Fatal("the recording doesn't end: ", ctx.Err())
	}
	now := int64(0)
	gone := metav1.DeleteOptions{GracePeriodSeconds: &now}
	for _, err := range []error{
		r.client.CoreV1().Nodes().Delete(ctx, theEnd, gone), r.client.CoreV1().Pods("default").Delete(ctx, theEnd, gone),
		r.client.CoreV1().Events("default").Delete(ctx, theEnd, gone), r.client.PolicyV1().PodDisruptionBudgets("default").Delete(ctx, theEnd, gone),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// feed returns what a tape tells about the group of another, without times.
func feed(t *testing.T, tape, group string) []string {
	t.Helper()
	of, err := timeline.Open(group)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = of.Close() }()
	o, err := observe.OptionsFor(of.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var lines []string
	if err := observe.Feed(r, o, func(e noderoll.Entry) error {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(e.Kind, " ", e.Node, " ", e.Reason)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

var watched = []schema.GroupVersionResource{
	{Version: "v1", Resource: "namespaces"}, {Version: "v1", Resource: "nodes"}, {Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "events"}, {Version: "v1", Resource: "serviceaccounts"}, {Version: "v1", Resource: "configmaps"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}, {Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
}

// contents says what is in the cluster, an object a line, as say has it.
func contents(ctx context.Context, t *testing.T, config *rest.Config, selector string, say func(o map[string]any) string) []string {
	t.Helper()
	client := dynamic.NewForConfigOrDie(config)
	var lines []string
	for _, r := range watched {
		list, err := client.Resource(r).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			lines = append(lines, r.Resource+" "+o.GetNamespace()+"/"+o.GetName()+" "+say(o.Object))
		}
	}
	slices.Sort(lines)
	return lines
}

// without drops the lines of a kind.
func without(feed []string, kind string) []string {
	return slices.DeleteFunc(slices.Clone(feed), func(line string) bool { return strings.HasPrefix(line, kind) })
}

// lasting leaves the leases out of what a cluster holds: they are renewed every ten seconds of the wall, so which nodes
// have one at the end says how long a run took.
func lasting(contents []string) []string { return without(contents, "leases ") }

//go:build controlplane

package daemon_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/daemon"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder"
	recording "github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Options{}) }

// What the log says of a recorder that was elected, and of one that no longer makes tapes.
const (
	leads   = "this recorder makes tapes from now on"
	standby = "this recorder stands by from now on"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// says reports whether one line has all of the words.
func (l *lines) says(words ...string) bool {
	for line := range strings.Lines(l.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return true
		}
	}
	return false
}

// options are those of a recorder that is elected by a Lease of the namespace, under the name that the chart allows.
func options(config *rest.Config, dir, namespace string) daemon.Options {
	return daemon.Options{
		Daemon: recording.Options{Dir: dir, Quiet: time.Second, Before: time.Minute, Record: recorder.Config{REST: config, Name: "history"}},
		Lease:  namespace + "/nodesim", Log: io.Discard,
	}
}

// background is a recorder that runs beside a test, and ends with it at the latest.
type background struct {
	t     *testing.T
	ctx   context.Context
	log   *lines
	end   context.CancelFunc
	ended chan error
}

func start(ctx context.Context, t *testing.T, o daemon.Options) *background {
	t.Helper()
	running, end := context.WithCancel(ctx)
	b := &background{t: t, ctx: ctx, log: &lines{}, end: end, ended: make(chan error, 1)}
	o.Log = b.log
	var owned sync.WaitGroup
	owned.Go(func() { b.ended <- daemon.Run(running, o) })
	t.Cleanup(func() { end(); owned.Wait() })
	return b
}

// await waits until something is so, while the recorder runs.
func (b *background) await(what string, is func() bool) {
	b.t.Helper()
	for !is() {
		select {
		case err := <-b.ended:
			b.t.Fatalf("%s: the recorder has ended: %v\n%s", what, err, b.log)
		case <-b.ctx.Done():
			b.t.Fatalf("%s: not within ten minutes\n%s", what, b.log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the recorder and returns its error.
func (b *background) stop() error {
	b.end()
	return <-b.ended
}

// roll makes the only node of a group, and removes it once the recorder leads and has seen a roll begin.
func (b *background) roll(client kubernetes.Interface, group string) *corev1.Node {
	b.t.Helper()
	nodes := client.CoreV1().Nodes()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: group + "-1", Labels: map[string]string{"eks.amazonaws.com/nodegroup": group}}}
	node, err := nodes.Create(b.ctx, node, metav1.CreateOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.await("the election", func() bool { return b.log.says(leads) })
	// What is there when a recording begins triggers nothing: the change is made until it is seen to be one.
	cordoned := false
	b.await("a roll", func() bool {
		cordoned = !cordoned
		patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, cordoned)
		if _, err := nodes.Patch(b.ctx, node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			b.t.Error(err)
		}
		return b.log.says("a roll began", "group="+group)
	})
	if err := nodes.Delete(b.ctx, node.Name, metav1.DeleteOptions{}); err != nil {
		b.t.Fatal(err)
	}
	return node
}

// recorded are the resources of a tape in a recorder's folder.
func recorded(t *testing.T, dir string) (names []string) {
	t.Helper()
	tapes, err := filepath.Glob(filepath.Join(dir, "tapes", "*.yaml.zst"))
	if err != nil || len(tapes) == 0 {
		t.Fatalf("%s: found no tape: %v", dir, err)
	}
	r, err := timeline.Open(tapes[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range r.Header().Resources {
		names = append(names, resource.String())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return names
}

// With what the chart allows, and no more, a roll that nobody announced is on a tape, in the store. With events=true and
// recorder.machines=true the tape has NodeClaims and Machines too, and an Event is about the node that the roll began with.
func TestTheChartsRightsAreEnough(t *testing.T) {
	c := testcluster.Shared(t)
	define(t, c)
	for name, everything := range map[string]bool{"defaults": false, "everything": true} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			dir, namespace := t.TempDir(), "enough-"+name
			o := options(grant(ctx, t, c, namespace, rbac(t, namespace, everything)), dir, namespace)
			o.Store, o.Events = "file://"+filepath.ToSlash(t.TempDir()), everything
			b := start(ctx, t, o)
			node := b.roll(c.Client(), name)
			s, err := store.Open(ctx, o.Store)
			if err != nil {
				t.Fatal(err)
			}
			b.await("a tape in the store", func() bool {
				tapes, skipped, err := s.List(ctx, store.Query{Group: name})
				if err != nil || len(skipped) > 0 {
					t.Fatal(err, skipped)
				}
				return slices.ContainsFunc(tapes, func(x store.Tape) bool { return x.Outcome == "complete" && x.Gaps == 0 })
			})
			want := recorder.DefaultResources()
			if everything {
				want = append(want, recorder.MachineResources()...)
				about := metav1.ListOptions{FieldSelector: "reason=RollRecorded,involvedObject.uid=" + string(node.UID)}
				b.await("an Event about the node", func() bool {
					found, err := c.Client().CoreV1().Events(metav1.NamespaceDefault).List(ctx, about)
					if err != nil {
						t.Fatal(err)
					}
					return slices.ContainsFunc(found.Items, func(e corev1.Event) bool {
						return e.InvolvedObject.Name == node.Name && e.Type == corev1.EventTypeNormal && strings.Contains(e.Message, "The roll of "+name+", complete, is on the tape")
					})
				})
			}
			if got := recorded(t, dir); !slices.Equal(got, want) {
				t.Errorf("found a tape of %q, want one of %q", got, want)
			}
			if err := b.stop(); err != nil {
				t.Error(err)
			}
			if b.log.says("level=ERROR") {
				t.Errorf("found errors in the log:\n%s", b.log)
			}
		})
	}
}

// right is a verb of a resource.
type right struct{ verb, resource string }

// rulesOf are those of a role, or nil.
func rulesOf(o runtime.Object) *[]rbacv1.PolicyRule {
	switch o := o.(type) {
	case *rbacv1.ClusterRole:
		return &o.Rules
	case *rbacv1.Role:
		return &o.Rules
	}
	return nil
}

// rightsOf are all that the roles allow.
func rightsOf(all []runtime.Object) (rights []right) {
	for _, o := range all {
		rules := rulesOf(o)
		if rules == nil {
			continue
		}
		for _, rule := range *rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights = append(rights, right{verb, resource})
				}
			}
		}
	}
	return rights
}

// takeFrom takes the right from the roles, and leaves them all others.
func (r right) takeFrom(all []runtime.Object) {
	for _, o := range all {
		rules := rulesOf(o)
		if rules == nil {
			continue
		}
		var left []rbacv1.PolicyRule
		for _, rule := range *rules {
			if !slices.Contains(rule.Resources, r.resource) || !slices.Contains(rule.Verbs, r.verb) {
				left = append(left, rule)
				continue
			}
			others, same := rule.DeepCopy(), rule.DeepCopy()
			others.Resources = slices.DeleteFunc(others.Resources, func(resource string) bool { return resource == r.resource })
			same.Resources = []string{r.resource}
			same.Verbs = slices.DeleteFunc(same.Verbs, func(verb string) bool { return verb == r.verb })
			if len(others.Resources) > 0 {
				left = append(left, *others)
			}
			if len(same.Verbs) > 0 {
				left = append(left, *same)
			}
		}
		*rules = left
	}
}

// lacked is what the recorder says that it does without the right, as docs/daemon.md has it; "" where it ends.
func (r right) lacked() string {
	switch {
	case r.resource == "leases":
		return "until then this recorder makes no tapes"
	case r.resource == "nodeclaims", r.resource == "machines":
		return "not recorded"
	case r.resource == "events" && r.verb == "create":
		return "want the right to, or no --events"
	}
	return ""
}

// Without any verb of any resource the recorder says in one line which one the server refuses. It ends with that line where it can't
// record or can't tell the cluster, and records without the election, Events or machines.
func TestEachOfTheChartsRightsIsNeeded(t *testing.T) {
	c := testcluster.Shared(t)
	define(t, c)
	for _, lacks := range rightsOf(rbac(t, "default", true)) {
		t.Run(lacks.verb+" "+lacks.resource, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			dir, namespace := t.TempDir(), "without-"+lacks.verb+"-"+lacks.resource
			all := rbac(t, namespace, true)
			lacks.takeFrom(all)
			o := options(grant(ctx, t, c, namespace, all), dir, namespace)
			o.Events = true
			b := start(ctx, t, o)
			refused := fmt.Sprintf("cannot %s resource %q", lacks.verb, lacks.resource)
			without := lacks.lacked()
			if without == "" {
				if err := <-b.ended; err == nil || !strings.Contains(err.Error(), refused) || strings.Contains(err.Error(), "\n") {
					t.Errorf("found the error %v, want one line that says %s", err, refused)
				}
				return
			}
			if lacks.resource == "events" { // which it only writes about a roll
				b.roll(c.Client(), namespace)
			}
			b.await("a line that says "+refused, func() bool { return b.log.says(strings.ReplaceAll(refused, `"`, `\"`), without) })
			if lacks == (right{"update", "leases"}) { // it made the Lease, and can't renew it
				b.await("the end of its lead", func() bool { return b.log.says(standby) })
			}
			b.await("a recording", func() bool {
				pieces, err := filepath.Glob(filepath.Join(dir, "history", "*"))
				return err == nil && len(pieces) > 0
			})
			if err := b.stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

//go:build controlplane

package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/daemon"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder"
	recording "github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/store"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Options{}) }

// chartRules are what the chart allows the recorder.
func chartRules(t *testing.T) (rules []rbacv1.PolicyRule) {
	t.Helper()
	text, err := os.ReadFile("../../../packaging/kustomize/nodesim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for docs := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var role rbacv1.ClusterRole
		if err := docs.Decode(&role); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if role.Kind == "ClusterRole" || role.Kind == "Role" {
			rules = append(rules, role.Rules...)
		}
	}
	if len(rules) < 4 {
		t.Fatalf("found %d rules in the chart, want those of what is recorded and of the election", len(rules))
	}
	return rules
}

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

func (l *lines) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), s)
}

func options(config *rest.Config, dir string, log io.Writer) daemon.Options {
	return daemon.Options{
		Daemon: recording.Options{Dir: dir, Quiet: time.Second, Before: time.Minute, Record: recorder.Config{REST: config, Name: "history"}},
		Lease:  "default/nodesim", Log: log,
	}
}

// With what the chart allows, and no more, a roll that nobody announced is on a tape, in the store.
func TestTheChartsRightsAreEnough(t *testing.T) {
	c := testcluster.Shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	config, err := c.User(ctx, "recorder", chartRules(t)...)
	if err != nil {
		t.Fatal(err)
	}
	nodes := c.Client().CoreV1().Nodes()
	name := "chart-1"
	if _, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"eks.amazonaws.com/nodegroup": "chart"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	log, keep := &lines{}, t.TempDir()
	o := options(config, t.TempDir(), log)
	o.Store = "file://" + filepath.ToSlash(keep)
	running, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- daemon.Run(running, o) }()
	await := func(what string, is func() bool) {
		t.Helper()
		for !is() {
			select {
			case err := <-ended:
				t.Fatalf("%s: the recorder has ended: %v\n%s", what, err, log.text.String())
			case <-ctx.Done():
				t.Fatalf("%s: not within ten minutes\n%s", what, log.text.String())
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	await("the election", func() bool { return log.has("this recorder makes tapes from now on") })
	// What is there when a recording begins triggers nothing: the change is made until it is seen to be one.
	cordoned := false
	await("a roll", func() bool {
		cordoned = !cordoned
		patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, cordoned)
		if _, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
		return log.has("a roll began")
	})
	if err := nodes.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, o.Store)
	if err != nil {
		t.Fatal(err)
	}
	await("a tape in the store", func() bool {
		tapes, skipped, err := s.List(ctx, store.Query{Group: "chart"})
		if err != nil || len(skipped) > 0 {
			t.Fatal(err, skipped)
		}
		return slices.ContainsFunc(tapes, func(x store.Tape) bool { return x.Outcome == "complete" && x.Gaps == 0 })
	})
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if log.has("ERROR") {
		t.Errorf("found errors in the log:\n%s", log.text.String())
	}
}

// Without any one of them, but for those of the election, it ends at once and names the resource.
func TestEachOfTheChartsRightsIsNeeded(t *testing.T) {
	c := testcluster.Shared(t)
	rules := chartRules(t)
	for i, rule := range rules {
		if slices.Contains(rule.APIGroups, "coordination.k8s.io") {
			continue
		}
		for _, resource := range rule.Resources {
			t.Run(resource, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				less := slices.Clone(rules)
				less[i].Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return r == resource })
				if len(less[i].Resources) == 0 {
					less = slices.Delete(less, i, i+1)
				}
				config, err := c.User(ctx, "without-"+resource, less...)
				if err != nil {
					t.Fatal(err)
				}
				o := options(config, t.TempDir(), io.Discard)
				o.Lease = ""
				err = daemon.Run(ctx, o)
				if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), resource) && !strings.Contains(err.Error(), "kube-system") {
					t.Errorf("found %v, want an error that names %s", err, resource)
				}
			})
		}
	}
}

package clusterstories

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

//go:embed whole.yaml
var manifests []byte

// rolls are the custom resources of whole.yaml that change while the nodes do.
var rolls = schema.GroupVersionResource{Group: "ops.example.com", Version: "v1", Resource: "noderolls"}

// WholeOptions are those that a cluster for [Whole] needs: nothing in it may change once its controllers have stopped,
// and the API server's own lease would.
func WholeOptions() testcluster.Options {
	return testcluster.Options{
		NodeStart: 300 * time.Millisecond, PodStart: 300 * time.Millisecond, PodStop: 300 * time.Millisecond,
		APIServer: map[string]string{"feature-gates": "UnknownVersionInteroperabilityProxy=false,APIServerIdentity=false"},
	}
}

// Whole runs a roll on a cluster that has objects of most kinds, records every resource that can be
// watched, but for Secrets, with whole objects, and leaves the cluster at rest: its controllers have stopped, and the
// tape ends with the state that the API server shows from now on.
func Whole(ctx context.Context, c *testcluster.Cluster, file string) error {
	config := c.Config()
	config.WarningHandler = rest.NoWarnings{} // of old kinds: they are a part of it
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("stage a whole cluster: %w", err)
	}
	group := testcluster.Group{Name: "spot-burst", Zones: []string{"us-east-1a", "us-east-1b"}}
	before := Story{
		Name: "whole", Group: group, Nodes: 2,
		Workloads: []testcluster.Workload{{Replicas: 4, MinAvailable: 3}},
	}
	if err := before.prepare(ctx, c); err != nil {
		return fmt.Errorf("stage a whole cluster: %w", err)
	}
	if err := create(ctx, c, dyn); err != nil {
		return fmt.Errorf("stage a whole cluster: %w", err)
	}
	if err := (testcluster.Workload{Namespace: "shop", Name: "till", Replicas: 2}).Create(ctx, c.Client(), group); err != nil {
		return fmt.Errorf("stage a whole cluster: %w", err)
	}
	names, err := watchable(c)
	if err != nil {
		return fmt.Errorf("stage a whole cluster: %w", err)
	}
	seen := newObjectCopier(names)
	rec, err := recorder.New(recorder.Config{
		REST: c.Config(), Name: before.Name, Resources: names, Full: true,
		Open: func(h timeline.Header) (*timeline.Writer, error) { seen.header = h; return timeline.Create(file, h) },
		Stop: seen.take,
	})
	if err != nil {
		return fmt.Errorf("stage a whole cluster: %w", err)
	}
	err = recordWhile(ctx, rec, seen.started, func() error {
		if err := act(ctx, c, dyn, group); err != nil {
			return err
		}
		if err := c.StopControllers(); err != nil {
			return err
		}
		return seen.untilLike(ctx, dyn)
	})
	if err != nil {
		return fmt.Errorf("stage a whole cluster: %w", err)
	}
	return nil
}

// act changes what is there: the nodes by a roll, custom resources before and after it.
func act(ctx context.Context, c *testcluster.Cluster, dyn dynamic.Interface, group testcluster.Group) error {
	patch := func(namespace, name, what string, subresources ...string) error {
		_, err := dyn.Resource(rolls).Namespace(namespace).Patch(ctx, name, types.MergePatchType, []byte(what), metav1.PatchOptions{}, subresources...)
		return err
	}
	if err := errors.Join(
		patch("shop", "first", `{"status":{"replaced":0,"conditions":[{"type":"Ready","status":"False"}]}}`, "status"),
		patch("shop", "second", `{"metadata":{"labels":{"size":"small"}}}`),
	); err != nil {
		return err
	}
	if _, err := (testcluster.Roll{Group: group, Retry: 100 * time.Millisecond}).Run(ctx, c.Client()); err != nil {
		return err
	}
	return errors.Join(
		patch("shop", "first", `{"metadata":{"labels":{"size":null}},"status":{"replaced":2}}`),
		patch("shop", "first", `{"status":{"replaced":2,"conditions":[{"type":"Ready","status":"True"}]}}`, "status"),
		dyn.Resource(rolls).Namespace("default").Delete(ctx, "third", metav1.DeleteOptions{}),
		testcluster.Workload{Replicas: 4, MinAvailable: 3}.AtRest(ctx, c.Client()),
		testcluster.Workload{Namespace: "shop", Name: "till", Replicas: 2}.AtRest(ctx, c.Client()),
	)
}

// create makes what whole.yaml says, in its order. A kind that a definition has just made isn't served at once.
func create(ctx context.Context, c *testcluster.Cluster, dyn dynamic.Interface) error {
	for documents := yaml.NewDecoder(bytes.NewReader(manifests)); ; {
		var content map[string]any
		err := documents.Decode(&content)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(text); err != nil {
			return err
		}
		err = apiwait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
			r, ok, err := find(c.Client().Discovery(), o.GroupVersionKind())
			if !ok {
				return false, err
			}
			_, err = dyn.Resource(r).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
			return err == nil, nil
		})
		if err != nil {
			return fmt.Errorf("create the %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
}

// find returns the resource of a kind; ok is false where it isn't served (yet).
func find(d discovery.DiscoveryInterface, kind schema.GroupVersionKind) (r schema.GroupVersionResource, ok bool, err error) {
	list, err := d.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if err != nil {
		return r, false, nil //nolint:nilerr // it comes when the definition is established
	}
	for _, one := range list.APIResources {
		if one.Kind == kind.Kind && !strings.Contains(one.Name, "/") {
			return kind.GroupVersion().WithResource(one.Name), true, nil
		}
	}
	return r, false, nil
}

// watchable names every resource that can be listed and watched, but for Secrets, which no tape holds.
func watchable(c *testcluster.Cluster) ([]string, error) {
	lists, err := c.Client().Discovery().ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if r.Name == "secrets" || !slices.Contains(r.Verbs, "watch") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			// With the version, kubectl's long form: two groups have events.
			names = append(names, strings.TrimSuffix(r.Name+"."+gv.Group, "."))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// objectCopier keeps what the recorder has seen: the versions of the living objects, by resource.
type objectCopier struct {
	header  timeline.Header
	started chan struct{} // closed when every resource is listed

	mu     sync.Mutex
	lists  int // still to come
	living map[string]map[string]string
}

func newObjectCopier(resources []string) *objectCopier {
	return &objectCopier{started: make(chan struct{}), lists: len(resources), living: map[string]map[string]string{}}
}

// take is the Recorder's Stop: it sees every line of the tape.
func (c *objectCopier) take(ev timeline.Event) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.living[ev.Resource]
	if of == nil {
		of = map[string]string{}
		c.living[ev.Resource] = of
	}
	switch ev.Type {
	case timeline.Added, timeline.Modified:
		of[ev.Namespace+"/"+ev.Name] = ev.RV
	case timeline.Deleted:
		delete(of, ev.Namespace+"/"+ev.Name)
	case timeline.Sync:
		if c.lists--; c.lists == 0 {
			close(c.started)
		}
	}
	return false
}

// untilLike waits until what was seen equals what the server shows, in every resource.
func (c *objectCopier) untilLike(ctx context.Context, dyn dynamic.Interface) error {
	for _, r := range c.header.Resources {
		key, last := c.header.Key(r), ""
		err := apiwait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
			list, err := dyn.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}).List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			there := map[string]string{}
			for i := range list.Items {
				o := &list.Items[i]
				there[o.GetNamespace()+"/"+o.GetName()] = o.GetResourceVersion()
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			last = fmt.Sprintf("%d on the tape, %d in the cluster", len(c.living[key]), len(there))
			return maps.Equal(c.living[key], there), nil
		})
		if err != nil {
			return fmt.Errorf("wait for the tape to show the %s as they are (%s): %w", key, last, err)
		}
	}
	return nil
}

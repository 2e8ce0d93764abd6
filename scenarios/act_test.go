package scenarios_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// cluster is a simulated cluster that a test writes to.
type cluster struct {
	*replay.Player
	t      testing.TB
	acting *scenarios.Acting
	said   strings.Builder
}

const shop = `
metadata: {name: acting, title: a shop at rest}
cluster: {provider: eks}
groups: [{name: workers, nodes: 4}]
workloads:
- {name: web, namespace: shop, replicas: 8, requests: {cpu: 200m, memory: 256Mi}}
- {name: queue, namespace: shop, kind: StatefulSet, replicas: 2}
budgets:
- {workload: web, minAvailable: 6}
`

// act starts the cluster of a scenario file at rest.
func act(t testing.TB, text string) *cluster {
	t.Helper()
	d, err := scenarios.Parse("test.yaml", []byte("apiVersion: nodesim.dev/v1\nkind: Scenario\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	acting, err := f.Act(scenarios.ActConfig{AtRest: true})
	if err != nil {
		t.Fatal(err)
	}
	return playing(t, acting)
}

// playing is a cluster that acts, at its beginning.
func playing(t testing.TB, acting *scenarios.Acting) *cluster {
	t.Helper()
	c := &cluster{t: t, acting: acting}
	var engine replay.Engine = acting
	var err error
	if c.Player, err = replay.NewEnginePlayer(engine, replay.StartPaused()); err != nil {
		t.Fatal(err)
	}
	c.Subscribe(func(n replay.Note) {
		if n.Kind == replay.Applied {
			fmt.Fprintf(&c.said, "%s %s %s %s/%s %s %s\n", n.Event.At, n.Event.Type, n.Event.Resource, n.Event.Namespace, n.Event.Name, n.Event.RV, n.Event.Object)
		}
	})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	return c
}

// pass lets time pass.
func (c *cluster) pass(d time.Duration) {
	c.t.Helper()
	if err := c.Seek(context.Background(), c.Position()+d); err != nil {
		c.t.Fatal(err)
	}
}

var plural = map[string]schema.GroupVersionResource{
	"nodes": {Version: "v1", Resource: "nodes"}, "pods": {Version: "v1", Resource: "pods"},
	"poddisruptionbudgets": {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	"deployments":          {Group: "apps", Version: "v1", Resource: "deployments"},
	"replicasets":          {Group: "apps", Version: "v1", Resource: "replicasets"},
	"statefulsets":         {Group: "apps", Version: "v1", Resource: "statefulsets"},
	"daemonsets":           {Group: "apps", Version: "v1", Resource: "daemonsets"},
	"events":               {Version: "v1", Resource: "events"},
	"priorityclasses":      {Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
	"jobs":                 {Group: "batch", Version: "v1", Resource: "jobs"},
	"csinodes":             {Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"},
}

// list returns the objects of a resource.
func (c *cluster) list(resource string) (all [][]byte) {
	c.t.Helper()
	l, err := c.Cluster().List(plural[resource], "", metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, o := range l.Items {
		all = append(all, o.Raw())
	}
	return all
}

func (c *cluster) get(resource, namespace, name string) []byte {
	c.t.Helper()
	o, err := c.Cluster().Get(plural[resource], namespace, name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return o.Raw()
}

// put writes an object, changed by merge patches; what is the object's own when there is none yet.
func (c *cluster) put(what timeline.Type, resource string, object []byte, patches ...string) {
	c.t.Helper()
	for _, p := range patches {
		object = rawjson.Apply(nil, object, []byte(p))
	}
	ev := timeline.Event{
		Type: what, Resource: resource, Object: object, UID: rawjson.Text(object, "metadata", "uid"),
		Namespace: rawjson.Text(object, "metadata", "namespace"), Name: rawjson.Text(object, "metadata", "name"),
	}
	err := c.Transact(func(tx *replay.Tx) error {
		_, err := tx.Put(ev)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// patch changes an object that is there.
func (c *cluster) patch(resource, namespace, name string, patches ...string) {
	c.t.Helper()
	c.put(timeline.Modified, resource, c.get(resource, namespace, name), patches...)
}

// deletePod asks for a pod's deletion, as the API server does.
func (c *cluster) deletePod(namespace, name string, grace int) {
	c.t.Helper()
	at := c.Header().Metadata.Start.Add(c.Position() + time.Duration(grace)*time.Second).UTC().Format(time.RFC3339)
	c.patch("pods", namespace, name, fmt.Sprintf(`{"metadata":{"deletionTimestamp":%q,"deletionGracePeriodSeconds":%d}}`, at, grace))
}

func (c *cluster) pods(which func(*corev1.Pod) bool) (some []*corev1.Pod) {
	c.t.Helper()
	for _, raw := range c.list("pods") {
		p := &corev1.Pod{}
		if err := json.Unmarshal(raw, p); err != nil {
			c.t.Fatal(err)
		}
		if which(p) {
			some = append(some, p)
		}
	}
	return some
}

func (c *cluster) on(node string) []*corev1.Pod {
	return c.pods(func(p *corev1.Pod) bool { return p.Spec.NodeName == node && p.Namespace == "shop" })
}

// ready counts the pods of an app that are Ready and stay.
func (c *cluster) ready(app string) int {
	return len(c.pods(func(p *corev1.Pod) bool {
		for _, is := range p.Status.Conditions {
			if is.Type == corev1.PodReady && is.Status == corev1.ConditionTrue {
				return p.Labels["app"] == app && p.DeletionTimestamp == nil
			}
		}
		return false
	}))
}

func (c *cluster) check() {
	c.t.Helper()
	if err := c.acting.CheckView(c.list); err != nil {
		c.t.Fatalf("at %s: %v", c.Position(), err)
	}
}

// A pod that a client deletes is ended by its kubelet and replaced, and not on a node that is cordoned.
func TestADeletedPodComesUpElsewhere(t *testing.T) {
	c := act(t, shop)
	victim := c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "web" })[0]
	node := victim.Spec.NodeName
	before := len(c.on(node))
	c.patch("nodes", "", node, `{"spec":{"unschedulable":true}}`)
	c.pass(time.Second)
	if raw := c.get("nodes", "", node); !strings.Contains(string(raw), "node.kubernetes.io/unschedulable") {
		t.Errorf("the cordoned node has no taint: %s", rawjson.Get(raw, "spec"))
	}
	c.deletePod("shop", victim.Name, 30)
	c.pass(3 * time.Minute)
	if got := len(c.on(node)); got != before-1 {
		t.Errorf("%d pods on the cordoned node, which had %d", got, before)
	}
	if got := c.ready("web"); got != 8 {
		t.Errorf("%d pods of web are Ready, want 8", got)
	}
	c.check()
}

// A client that evicts all pods of a node empties it.
func TestANodeIsDrainedByAClient(t *testing.T) {
	c := act(t, shop)
	node := c.on(rawjson.Text(c.list("nodes")[0], "metadata", "name"))[0].Spec.NodeName
	c.patch("nodes", "", node, `{"spec":{"unschedulable":true}}`)
	for _, p := range c.on(node) {
		conditions, err := json.Marshal(append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		}))
		if err != nil {
			t.Fatal(err)
		}
		c.patch("pods", "shop", p.Name, `{"status":{"conditions":`+string(conditions)+`}}`)
		c.deletePod("shop", p.Name, 30)
	}
	c.check()
	c.pass(5 * time.Minute)
	if left := c.on(node); len(left) > 0 {
		t.Errorf("%d pods are still on %s", len(left), node)
	}
	if web, queue := c.ready("web"), c.ready("queue"); web != 8 || queue != 2 {
		t.Errorf("%d pods of web and %d of queue are Ready, want 8 and 2", web, queue)
	}
	c.check()
}

// What the actors don't know of an object stays, however often they write it.
func TestForeignFieldsStay(t *testing.T) {
	c := act(t, shop)
	node := rawjson.Text(c.list("nodes")[0], "metadata", "name")
	pod := c.pods(func(p *corev1.Pod) bool { return p.Labels["app"] == "web" })[0]
	c.patch("nodes", "", node, `{"metadata":{"labels":{"mine":"yes"},"annotations":{"note":"kept"},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"u"}]},"spec":{"configSource":{"configMap":{"name":"x"}}}}`)
	c.patch("pods", "shop", pod.Name, `{"metadata":{"labels":{"mine":"yes"}},"spec":{"activeDeadlineSeconds":86400,"hostname":"mine"}}`)
	writes := func() int { return strings.Count(c.said.String(), "MODIFIED nodes /"+node) }
	for before := writes(); writes() < before+110; {
		c.pass(5 * time.Minute)
	}
	c.deletePod("shop", pod.Name, 30)
	c.pass(time.Second)
	n := string(c.get("nodes", "", node))
	for _, want := range []string{`"mine":"yes"`, `"note":"kept"`, `"configSource":{"configMap":{"name":"x"}}`, `"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"u"}]`} {
		if !strings.Contains(n, want) {
			t.Errorf("the node lacks %s", want)
		}
	}
	for _, want := range []string{`"mine":"yes"`, `"activeDeadlineSeconds":86400`, `"hostname":"mine"`} {
		if got := c.get("pods", "shop", pod.Name); !strings.Contains(string(got), want) {
			t.Errorf("the pod lacks %s: %s", want, got)
		}
	}
	c.check()
}

// A client creates a pod of its own, and deletes a node.
func TestABarePodRuns(t *testing.T) {
	c := act(t, shop)
	c.put(timeline.Added, "pods", []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"bare","namespace":"shop","uid":"u-1","labels":{"app":"bare"},"creationTimestamp":"2026-01-01T00:00:00Z"},`+
		`"spec":{"containers":[{"name":"c","image":"busybox:1","env":[{"name":"A","value":"b"}]}],"restartPolicy":"Always","schedulerName":"default-scheduler"},"status":{"phase":"Pending","qosClass":"BestEffort"}}`))
	c.pass(time.Minute)
	raw := c.get("pods", "shop", "bare")
	if c.ready("bare") != 1 || !strings.Contains(string(raw), `"env":[{"name":"A","value":"b"}]`) {
		t.Errorf("the pod isn't Ready, or lost its environment: %s", raw)
	}
	c.check()
	node := rawjson.Text(raw, "spec", "nodeName")
	c.put(timeline.Deleted, "nodes", c.get("nodes", "", node))
	c.pass(10 * time.Minute)
	for _, p := range c.on(node) {
		t.Errorf("%s is still on the node that was deleted", p.Name)
	}
	c.check()
}

// A pod of the file that has no controller runs, and is gone for good once it is deleted.
func TestAFilesBarePodIsGoneForGood(t *testing.T) {
	c := act(t, strings.Replace(shop, "budgets:", "- {name: fix, namespace: shop, kind: Pod}\nbudgets:", 1))
	fix := func(p *corev1.Pod) bool { return p.Labels["app"] == "fix" }
	found := c.pods(fix)
	if len(found) != 1 || len(found[0].OwnerReferences) > 0 || c.ready("fix") != 1 {
		t.Fatalf("found %+v, want one pod that is Ready and has no owner", found)
	}
	c.check()
	c.deletePod("shop", found[0].Name, 30)
	c.pass(10 * time.Minute)
	if left := c.pods(fix); len(left) > 0 {
		t.Errorf("found %s, want none", left[0].Name)
	}
	c.check()
}

// demanding are pods that ask for more than room.
var demanding = []string{
	`{}`,
	`{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"busybox:1","command":["sleep","20"],"ports":[{"containerPort":80,"hostPort":80}]}]}}`,
	`{"spec":{"restartPolicy":"OnFailure","initContainers":[{"name":"i","image":"busybox:1"},{"name":"s","image":"busybox:2","restartPolicy":"Always"}],"containers":[{"name":"c","image":"busybox:1","args":["sh","-c","sleep 5; exit 1"]}]}}`,
	`{"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"n":"1"}}}]}}}}`,
	`{"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchExpressions":[{"key":"n","operator":"Exists"}]}}]}}}}`,
	`{"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"n":"1"}}}],"readinessGates":[{"conditionType":"a/b"}]}}`,
	`{"spec":{"priority":1000,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"n","operator":"Exists"}]}]}}}}}`,
}

// scramble writes at random, and returns all that was said.
func scramble(t testing.TB, seed uint64, writes int) string {
	c := act(t, shop)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range writes {
		switch k := r.IntN(10); {
		case k < 3:
			all := c.list("nodes")
			n := all[r.IntN(len(all))]
			c.put(timeline.Modified, "nodes", n, []string{
				`{"spec":{"unschedulable":true}}`, `{"spec":{"unschedulable":null}}`, fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, i), `{"metadata":{"annotations":{"a":null}}}`,
				fmt.Sprintf(`{"spec":{"taints":[{"key":"t","value":"%d","effect":"NoSchedule"}]}}`, i), `{"spec":{"taints":null}}`, `{"metadata":{"labels":{"n":null}}}`,
			}[r.IntN(7)])
		case k < 7:
			all := c.pods(func(p *corev1.Pod) bool { return p.Namespace == "shop" })
			if len(all) == 0 {
				continue
			}
			switch p := all[r.IntN(len(all))]; r.IntN(6) {
			case 0:
				if p.DeletionTimestamp == nil && p.Spec.NodeName != "" {
					c.deletePod(p.Namespace, p.Name, r.IntN(40)+1)
				}
			case 1:
				c.put(timeline.Deleted, "pods", c.get("pods", p.Namespace, p.Name))
			case 2:
				c.patch("pods", p.Namespace, p.Name, fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, i))
			case 3:
				c.patch("pods", p.Namespace, p.Name, fmt.Sprintf(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"%d"}}}`, i))
			case 4:
				c.patch("pods", p.Namespace, p.Name, `{"status":{"message":"hello"}}`)
			case 5:
				c.patch("pods", p.Namespace, p.Name, `{"metadata":{"ownerReferences":null}}`)
			}
		case k == 7:
			c.patch("poddisruptionbudgets", "shop", "web", fmt.Sprintf(`{"metadata":{"generation":%d},"spec":{"minAvailable":%d}}`, i+2, r.IntN(9)))
		case k == 8:
			c.put(timeline.Added, "pods", fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p%d","namespace":"shop","uid":"u-%d","labels":{"n":"%d"},"creationTimestamp":"2026-01-01T00:00:00Z"},`+
				`"spec":{"containers":[{"name":"c","image":"busybox:%d"}],"restartPolicy":"Always","schedulerName":"default-scheduler"},"status":{"phase":"Pending","qosClass":"BestEffort"}}`, i, i, r.IntN(2), r.IntN(3)), demanding[r.IntN(len(demanding))])
		default:
			c.pass(time.Duration(r.IntN(60_000)) * time.Millisecond)
		}
		if i%25 == 0 {
			c.check()
		}
	}
	for _, n := range c.list("nodes") {
		c.put(timeline.Modified, "nodes", n, `{"spec":{"unschedulable":null,"taints":null}}`)
	}
	c.pass(6 * time.Minute)
	c.check()
	if got := c.ready("web"); got < 8 {
		t.Errorf("%d pods of web are Ready in the end, want at least 8", got)
	}
	return c.said.String()
}

// The actors see what the objects say, whatever clients write, and the same writes have the same consequences.
func TestRandomWrites(t *testing.T) {
	first := scramble(t, 1, 500)
	if first != scramble(t, 1, 500) {
		t.Error("the same writes had other consequences")
	}
	scramble(t, 2, 500)
}

// An Event that a client deletes and creates again goes in its time, as others do.
func TestAnEventIsCreatedAgain(t *testing.T) {
	c := act(t, shop)
	event := []byte(`{"kind":"Event","apiVersion":"v1","metadata":{"name":"said","namespace":"shop","uid":"said-1"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"x"},"reason":"Said"}`)
	there := func() bool {
		for _, raw := range c.list("events") {
			if rawjson.Text(raw, "metadata", "name") == "said" {
				return true
			}
		}
		return false
	}
	c.put(timeline.Added, "events", event)
	c.put(timeline.Deleted, "events", event)
	c.put(timeline.Added, "events", event, `{"metadata":{"uid":"said-2"}}`)
	if c.pass(time.Minute); !there() {
		t.Error("the Event isn't there after a minute")
	}
	if c.pass(2 * time.Hour); there() {
		t.Error("the Event is still there after two hours")
	}
}

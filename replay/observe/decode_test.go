package observe

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// maybe makes JSON of what an object may hold, or leave out.
type maybe struct{ *rand.Rand }

func (m maybe) of(choices ...string) string { return choices[m.IntN(len(choices))] }

// object joins the fields that there are.
func (m maybe) object(fields ...string) string {
	var all []string
	for _, f := range fields {
		if f != "" {
			all = append(all, f)
		}
	}
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return "{" + strings.Join(all, ",") + "}"
}

func (m maybe) list(most int, element func() string) string {
	var all []string
	for range m.IntN(most + 1) {
		all = append(all, element())
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (m maybe) texts() string {
	return m.of(`null`, `{}`, `{"app":"web"}`, `{"a/b":"","\u00e4":"\ud83d\ude00 \"x\""}`, `{ "app" : "\n" , "kubernetes.io/config.mirror":"1" }`)
}

func (m maybe) meta() string {
	return `"metadata":` + m.object(
		m.of("", `"labels":`+m.texts()), m.of("", `"annotations":`+m.texts()),
		m.of("", `"creationTimestamp":"2026-11-20T22:00:00Z"`, `"creationTimestamp":null`),
		m.of("", "", `"deletionTimestamp":"2026-11-20T22:00:30Z"`, `"deletionTimestamp":null`),
		m.of("", `"ownerReferences":`+m.list(2, func() string { return m.of(`{"kind":"ReplicaSet"}`, `{"name":"x"}`, `{"kind":"DaemonSet"}`) })),
	)
}

func (m maybe) conditions(types ...string) string {
	return m.of("", `"conditions":null`, `"conditions":`+m.list(4, func() string {
		return m.object(`"type":"`+m.of(types...)+`"`, m.of("", `"status":"True"`, `"status":"True"`, `"status":"False"`, `"status":"Unknown"`),
			m.of("", `"reason":"R`+m.of("1", "2")+`"`), m.of("", `"message":"\tm \u2028"`, `"message":"n"`))
	}))
}

func (m maybe) node(t *testing.T) string {
	return compact(t, m.object(m.meta(), m.of("", `"spec":null`, `"spec":`+m.object(
		m.of("", `"unschedulable":true`, `"unschedulable":false`),
		m.of("", `"taints":null`, `"taints":`+m.list(2, func() string { return m.object(`"key":"`+m.of("a", "b")+`"`, m.of("", `"effect":"NoSchedule"`)) })),
	)), m.of("", `"status":`+m.object(
		m.conditions("Ready", "Ready", "DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable", "Odd"),
		m.of("", `"nodeInfo":{"kubeletVersion":"v1","osImage":"O"}`, `"nodeInfo":{"osImage":"\"P\""}`),
	))))
}

func (m maybe) pod(t *testing.T) string {
	return compact(t, m.object(m.meta(), m.of("", `"spec":`+m.object(m.of("", `"nodeName":"n"`), `"containers":[]`)),
		m.of("", `"status":`+m.object(m.of("", `"phase":"Running"`, `"phase":"Failed"`), m.conditions("Ready", "PodScheduled")))))
}

func (m maybe) budget(t *testing.T) string {
	number := func() string { return m.of("0", "1", "2", "7") }
	return compact(t, m.object(`"metadata":`+m.object(m.of("", `"generation":`+number())), m.of("", `"spec":`+m.object(
		m.of("", `"selector":null`, `"selector":{}`, `"selector":{"matchLabels":{"app":"web"}}`,
			`"selector":{"matchLabels":{"app":"web","tier":"a"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}`),
		m.of("", `"unhealthyPodEvictionPolicy":"AlwaysAllow"`, `"unhealthyPodEvictionPolicy":"IfHealthyBudget"`), `"maxUnavailable":1`,
	)), m.of("", `"status":`+m.object(
		m.of("", `"observedGeneration":`+number()), m.of("", `"disruptionsAllowed":`+number()),
		m.of("", `"currentHealthy":`+number()), m.of("", `"desiredHealthy":`+number()),
		m.of("", `"disruptedPods":{"web-1":"2026-11-20T22:00:00Z"}`),
	))))
}

// compact spells JSON as Readers hand it out.
func compact(t *testing.T, raw string) string {
	t.Helper()
	out, err := rawjson.Compact(nil, []byte(raw))
	if err != nil {
		t.Fatal(err, raw)
	}
	return string(out)
}

// What is read here by hand equals what the API's own types hold, whatever the
// object was before.
func TestDecodingEqualsTheTypes(t *testing.T) {
	m := maybe{rand.New(rand.NewPCG(3, 4))}
	same := func(raw string, want, got any) {
		t.Helper()
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s\n(-types +here):\n%s", raw, d)
		}
	}
	h := header()
	f := New(&h, Options{})
	cache := nodeCache{}
	for i := range 3000 {
		raw := m.node(t)
		var n corev1.Node
		if err := json.Unmarshal([]byte(raw), &n); err != nil {
			t.Fatal(err, raw)
		}
		cache.decode([]byte(raw), true, &f.decoders)
		same(raw, noderoll.NodeFrom(&n), cache.node)

		raw = m.pod(t)
		var p corev1.Pod
		if err := json.Unmarshal([]byte(raw), &p); err != nil {
			t.Fatal(err, raw)
		}
		p.Name, p.Namespace = fmt.Sprint(i), "shop"
		got := noderoll.Pod{Namespace: p.Namespace, Name: p.Name}
		decodePod(&got, []byte(raw), true, &f.decoders)
		same(raw, noderoll.PodFrom(&p), got)

		raw = m.budget(t)
		var b policyv1.PodDisruptionBudget
		if err := json.Unmarshal([]byte(raw), &b); err != nil {
			t.Fatal(err, raw)
		}
		b.Name, b.Namespace = "b", "shop"
		if _, err := f.budget(&timeline.Event{Type: timeline.Modified, Namespace: "shop", Name: "b", Object: []byte(raw)}); err != nil {
			t.Fatal(err, raw)
		}
		same(raw, noderoll.BudgetFrom(&b), noderoll.BudgetFrom(f.budgets[objectName{"shop", "b"}]))
	}
}

// What patches make of an object that was read before equals what its whole state says.
func TestPatchesEqualWholeObjects(t *testing.T) {
	m := maybe{rand.New(rand.NewPCG(5, 6))}
	patched := 0
	for _, kind := range []struct {
		next  func(*testing.T) string
		event timeline.Event
		apply func(*Follower, *timeline.Event) ([]noderoll.Entry, error)
		known func(*Follower) any
	}{
		{m.node, timeline.Event{Name: "n"}, (*Follower).node, func(f *Follower) any { return f.nodes["n"].node }},
		{m.pod, timeline.Event{Name: "p", Namespace: "s"}, (*Follower).pod, func(f *Follower) any { return f.known[objectName{"s", "p"}] }},
		{m.budget, timeline.Event{Name: "b", Namespace: "s"}, (*Follower).budget, func(f *Follower) any { return noderoll.BudgetFrom(f.budgets[objectName{"s", "b"}]) }},
	} {
		h := header()
		f := New(&h, Options{})
		f.trust = true
		before := ""
		for range 3000 {
			ev, raw := kind.event, kind.next(t)
			ev.Type = timeline.Modified
			patch, exact := []byte(nil), false
			if before != "" {
				patch, exact = rawjson.Diff(nil, []byte(before), []byte(raw))
			}
			if exact {
				patched++
				ev.Patch = patch
			} else {
				ev.Object = []byte(raw)
			}
			if _, err := kind.apply(f, &ev); err != nil {
				t.Fatal(err, raw)
			}
			fresh := New(&h, Options{})
			fresh.trust = true
			ev.Object, ev.Patch = []byte(raw), nil
			if _, err := kind.apply(fresh, &ev); err != nil {
				t.Fatal(err, raw)
			}
			if d := cmp.Diff(kind.known(fresh), kind.known(f), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%s\n%s\n%s\n(-whole +patched):\n%s", before, patch, raw, d)
			}
			before = raw
		}
	}
	if patched < 2000 {
		t.Errorf("%d patches were tried, want more", patched)
	}
}

// A patch of what the Follower has not seen whole can't be read.
func TestAPatchNeedsItsObject(t *testing.T) {
	h := header()
	f := New(&h, Options{})
	for _, resource := range []string{"nodes", "pods", "poddisruptionbudgets"} {
		_, err := f.Apply(timeline.Event{Type: timeline.Modified, Resource: resource, Name: "x", Patch: []byte(`{}`)})
		if err == nil || !strings.Contains(err.Error(), "x at 0s: a patch of what wasn't whole before") {
			t.Errorf("%s: %v", resource, err)
		}
	}
}

// A heartbeat is decoded without memory of its own, and the feed hears nothing of it
// but the time: there are millions on a tape.
func TestHeartbeatsAllocateNothing(t *testing.T) {
	h := header()
	f := New(&h, Options{})
	f.TrustPatches()
	const conditions = `{"status":{"conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-11-20T22:00:00Z","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available"},` +
		`{"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-20T22:00:00Z","reason":"KubeletReady","message":"kubelet is posting ready status"}]}}`
	apply := func(ev timeline.Event) {
		if entries, err := f.Apply(ev); err != nil || len(entries) > 0 && ev.Type == timeline.Modified {
			t.Fatal(entries, err)
		}
	}
	apply(timeline.Event{Type: timeline.Added, Resource: "nodes", Name: "n", UID: "u", Object: []byte(`{"metadata":{},` + conditions[1:])})
	apply(timeline.Event{Type: timeline.Sync, Resource: "nodes"})
	beat := timeline.Event{Type: timeline.Modified, Resource: "nodes", Name: "n", UID: "u", Patch: []byte(conditions)}
	if n := testing.AllocsPerRun(100, func() { apply(beat) }); n > 0 {
		t.Errorf("a heartbeat allocates %v times", n)
	}
}

// A change of a PodDisruptionBudget, or of a pod, costs what has changed: budgets name
// each pod that was evicted of late, and change with each of them.
func TestPatchesCostNothingOfTheirObject(t *testing.T) {
	var evicted strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&evicted, `"web-%d":"2026-11-20T22:00:00Z",`, i)
	}
	many := strings.TrimSuffix(evicted.String(), ",")
	for resource, c := range map[string]struct{ object, patch string }{
		"poddisruptionbudgets": {
			`{"metadata":{"generation":1},"spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"observedGeneration":1,"disruptionsAllowed":1,"disruptedPods":{` + many + `}}}`,
			`{"status":{"disruptedPods":{` + many + `},"expectedPods":1000,"disruptionsAllowed":1}}`,
		},
		"pods": {
			`{"metadata":{"labels":{"app":"web"}},"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
			`{"status":{"conditions":[{"type":"Ready","status":"True","lastProbeTime":"2026-11-20T22:00:00Z"}],"containerStatuses":[{"name":"web","ready":true}]}}`,
		},
	} {
		h := header()
		f := New(&h, Options{})
		f.TrustPatches()
		apply := func(ev timeline.Event) {
			if entries, err := f.Apply(ev); err != nil || len(entries) > 0 {
				t.Fatal(entries, err)
			}
		}
		ev := timeline.Event{Type: timeline.Added, Resource: resource, Namespace: "shop", Name: "web", UID: "u", Object: []byte(c.object)}
		apply(ev)
		apply(timeline.Event{Type: timeline.Sync, Resource: resource})
		ev.Type, ev.Patch = timeline.Modified, []byte(c.patch) // with the whole object, as a Reader has it that hands out no patches
		if n := testing.AllocsPerRun(100, func() { apply(ev) }); n > 0 {
			t.Errorf("%s: a change allocates %v times", resource, n)
		}
	}
}

package podadmission

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	into := new(T)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return into
}

// of is an object of a resource.
func of(t *testing.T, resource, text string) Item {
	t.Helper()
	i := Item{Resource: resource}
	switch resource {
	case "pods":
		i.Pod = parse[corev1.Pod](t, text)
	case "services":
		i.Service = parse[corev1.Service](t, text)
	case "persistentvolumeclaims":
		i.Claim = parse[corev1.PersistentVolumeClaim](t, text)
	}
	return i
}

// bounding is a quota with nothing used of what it bounds.
func bounding(t *testing.T, spec string) *corev1.ResourceQuota {
	t.Helper()
	q := parse[corev1.ResourceQuota](t, `{"metadata":{"name":"q"},"spec":`+spec+`}`)
	q.Status, _ = QuotaStatus(q, nil, func(string) bool { return true }, noon)
	return q
}

const (
	small   = `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"1Gi","example.com/disk":"2"},"limits":{"cpu":"1"}}}]}}`
	nothing = `{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`
	urgent  = `{"spec":{"priorityClassName":"urgent","activeDeadlineSeconds":9,"containers":[{"name":"a"}]}}`
	nodes   = `{"spec":{"type":"NodePort","ports":[{"port":1},{"port":2}]}}`
	disk    = `{"spec":{"storageClassName":"fast","resources":{"requests":{"storage":"1500m"}}}}`
)

// What quotas charge for an object, and why they refuse it.
func TestQuotasAdmit(t *testing.T) {
	for _, test := range []struct{ spec, resource, object, was, want string }{
		{spec: `{"hard":{"pods":"1","count/pods":"1","services":"1"}}`, resource: "pods", object: small, want: "count/pods=1,pods=1,services=0"},
		{spec: `{"hard":{"cpu":"1","requests.memory":"1Gi","limits.cpu":"2","requests.example.com/disk":"2"}}`, resource: "pods", object: small,
			want: "cpu=500m,limits.cpu=1,requests.example.com/disk=2,requests.memory=1Gi"},
		{spec: `{"hard":{"cpu":"100m","pods":"0"}}`, resource: "pods", object: small,
			want: "exceeded quota: q, requested: cpu=500m,pods=1, used: cpu=0,pods=0, limited: cpu=100m,pods=0"},
		{spec: `{"hard":{"cpu":"1","limits.memory":"1"}}`, resource: "pods", object: nothing, want: "failed quota: q: must specify cpu for: a,b; limits.memory for: a,b"},
		{spec: `{"hard":{"pods":"0"},"scopes":["BestEffort"]}`, resource: "pods", object: small},
		{spec: `{"hard":{"pods":"0"},"scopes":["BestEffort","NotTerminating"]}`, resource: "pods", object: nothing,
			want: "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"},
		{spec: `{"hard":{"pods":"9"},"scopes":["Terminating"]}`, resource: "pods", object: urgent, want: "pods=1"},
		{spec: `{"hard":{"pods":"9"},"scopes":["Terminating"]}`, resource: "pods", object: urgent, was: nothing, want: "pods=1"},
		{spec: `{"hard":{"pods":"9"}}`, resource: "pods", object: nothing, was: small},
		{spec: `{"hard":{"pods":"9"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["urgent"]}]}}`, resource: "pods", object: urgent, want: "pods=1"},
		{spec: `{"hard":{"pods":"9"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["urgent"]}]}}`, resource: "pods", object: urgent},
		{spec: `{"hard":{"services":"2","services.nodeports":"1"}}`, resource: "services", object: nodes,
			want: "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1"},
		{spec: `{"hard":{"services":"2","services.nodeports":"2"}}`, resource: "services", object: nodes, was: `{}`, want: "services=0,services.nodeports=2"},
		{spec: `{"hard":{"persistentvolumeclaims":"2","requests.storage":"1k","fast.storageclass.storage.k8s.io/requests.storage":"2","slow.storageclass.storage.k8s.io/requests.storage":"0"}}`,
			resource: "persistentvolumeclaims", object: disk,
			want: "fast.storageclass.storage.k8s.io/requests.storage=2,persistentvolumeclaims=1,requests.storage=2,slow.storageclass.storage.k8s.io/requests.storage=0"},
		{spec: `{"hard":{"count/deployments.apps":"1"}}`, resource: "deployments.apps", want: "count/deployments.apps=1"},
		{spec: `{"hard":{"secrets":"1"}}`, resource: "secrets", want: "secrets=1"},
		{spec: `{"hard":{"secrets":"1"},"scopes":["BestEffort"]}`, resource: "secrets"},
		{spec: `{"hard":{"secrets":"1"}}`, resource: "configmaps"},
	} {
		is := of(t, test.resource, test.object)
		var old *Item
		if test.was != "" {
			was := of(t, test.resource, test.was)
			old = &was
		}
		q := bounding(t, test.spec)
		charged, err := Charge([]*corev1.ResourceQuota{q}, is, old, noon)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(charged) > 0:
			got = listed(charged[0].Status.Used)
		}
		if got != test.want {
			t.Errorf("%s, a new %s %s: found %q, want %q", test.spec, test.resource, test.object, got, test.want)
		}
	}
}

// A quota that nobody has counted yet refuses what it bounds.
func TestAQuotaOfUnknownUsageRefuses(t *testing.T) {
	q := bounding(t, `{"hard":{"pods":"1","cpu":"1"}}`)
	q.Status.Used = nil
	_, err := Charge([]*corev1.ResourceQuota{q}, of(t, "pods", small), nil, noon)
	if want := "status unknown for quota: q, resources: cpu,pods"; err == nil || err.Error() != want {
		t.Errorf("found %v, want %s", err, want)
	}
}

// What is there is counted; of pods at their end the object alone, and names that count nothing aren't said.
func TestUsageIsCounted(t *testing.T) {
	ended := strings.Replace(small, "{", `{"status":{"phase":"Failed"},`, 1)
	late := strings.Replace(small, "{", `{"metadata":{"deletionTimestamp":"2026-11-23T11:59:00Z","deletionGracePeriodSeconds":30},`, 1)
	two := of(t, "pods", small)
	two.Times = 2
	q := parse[corev1.ResourceQuota](t, `{"spec":{"hard":{"pods":"9","count/pods":"9","requests.cpu":"9","secrets":"9","count/ghosts.example.com":"1"}}}`)
	is, changed := QuotaStatus(q, []Item{two, of(t, "pods", ended), of(t, "pods", late), {Resource: "secrets", Times: 3}},
		func(resource string) bool { return resource == "pods" }, noon)
	if got, want := listed(is.Used), "count/pods=4,pods=2,requests.cpu=1,secrets=3"; got != want || !changed {
		t.Errorf("found %s, changed %v; want %s", got, changed, want)
	}
	q.Status = is
	if _, changed := QuotaStatus(q, []Item{two, of(t, "pods", ended), of(t, "pods", late), {Resource: "secrets", Times: 3}},
		func(resource string) bool { return resource == "pods" }, noon); changed {
		t.Error("the same again is a change, want none")
	}
}

// A pod asks for what its containers add up to, or its init containers need before them.
func TestPodsAddUp(t *testing.T) {
	p := parse[corev1.Pod](t, `{"spec":{"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"1"}}}],
		"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"4","memory":"512Mi"}}}]}}`)
	if got, want := listed(Requests(&p.Spec)), "cpu=5,memory=1Gi"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	p.Spec.Resources = &corev1.ResourceRequirements{Requests: parse[corev1.Pod](t, small).Spec.Containers[0].Resources.Requests}
	if got, want := listed(Requests(&p.Spec)), "cpu=500m,memory=1Gi"; got != want {
		t.Errorf("with resources of its own: found %s, want %s", got, want)
	}
}

// A quota counts what a pod's sandbox takes too, of limits only where there are any.
func TestOverheadIsCharged(t *testing.T) {
	p := parse[corev1.Pod](t, `{"spec":{"overhead":{"cpu":"250m","memory":"64Mi"},"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}]}}`)
	all := corev1.ResourceList{}
	podUsage(all, p, noon)
	want := "cpu=1250m,limits.cpu=2250m,memory=64Mi,pods=1,requests.cpu=1250m,requests.memory=64Mi"
	if got := listed(all); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

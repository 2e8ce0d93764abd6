package podadmission

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func limits(t *testing.T, items string) []*corev1.LimitRange {
	t.Helper()
	r := &corev1.LimitRange{}
	if err := json.Unmarshal([]byte(items), &r.Spec.Limits); err != nil {
		t.Fatal(err)
	}
	return []*corev1.LimitRange{r}
}

func asking(t *testing.T, resources ...string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	for i, text := range resources {
		c := corev1.Container{Name: string(rune('a' + i))}
		if err := json.Unmarshal([]byte(text), &c.Resources); err != nil {
			t.Fatal(err)
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	return p
}

// A container that says nothing gets what the LimitRange says, and the pod an annotation about it.
func TestLimitRangesFillIn(t *testing.T) {
	p := asking(t, `{"requests":{"cpu":"2"}}`, `{"limits":{"cpu":"3","memory":"3Gi"},"requests":{"cpu":"3","memory":"3Gi"}}`)
	limit(p, limits(t, `[{"type":"Container","default":{"cpu":"4","memory":"2Gi"},"defaultRequest":{"cpu":"1","memory":"1Gi"}}]`)[0])
	got, err := json.Marshal(p.Spec.Containers)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"a","resources":{"limits":{"cpu":"4","memory":"2Gi"},"requests":{"cpu":"2","memory":"1Gi"}}},` +
		`{"name":"b","resources":{"limits":{"cpu":"3","memory":"3Gi"},"requests":{"cpu":"3","memory":"3Gi"}}}]`
	if string(got) != want {
		t.Errorf("found %s\nwant %s", got, want)
	}
	if got, want := p.Annotations[setBy], "LimitRanger plugin set: memory request for container a; cpu, memory limit for container a"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// What LimitRanges forbid, in the server's words.
func TestLimitRangesForbid(t *testing.T) {
	for _, test := range []struct{ items, resources, want string }{
		{`[{"type":"Container","min":{"cpu":"1"}}]`, `{}`, "minimum cpu usage per Container is 1.  No request is specified"},
		{`[{"type":"Container","min":{"cpu":"1"}}]`, `{"requests":{"cpu":"500m"}}`, "minimum cpu usage per Container is 1, but request is 500m"},
		{`[{"type":"Container","max":{"cpu":"1"}}]`, `{"requests":{"cpu":"2"}}`, "maximum cpu usage per Container is 1.  No limit is specified"},
		{`[{"type":"Container","max":{"cpu":"1","memory":"1Gi"}}]`, `{"limits":{"cpu":"2","memory":"2Gi"}}`,
			"[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]"},
		{`[{"type":"Container","maxLimitRequestRatio":{"cpu":"2"}}]`, `{"limits":{"cpu":"5"},"requests":{"cpu":"2"}}`,
			"cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000"},
		{`[{"type":"Container","maxLimitRequestRatio":{"cpu":"2"}}]`, `{"limits":{"cpu":"5"}}`,
			"cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"},
		{`[{"type":"Pod","max":{"cpu":"3"}}]`, `{"limits":{"cpu":"2"},"requests":{"cpu":"2"}}`, "maximum cpu usage per Pod is 3, but limit is 4"},
		{`[{"type":"Container","min":{"cpu":"1"},"max":{"cpu":"2"}},{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"}}]`, `{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}`, ""},
	} {
		got := ""
		p := asking(t, test.resources, test.resources)
		if test.items[10] == 'C' {
			p.Spec.Containers = p.Spec.Containers[:1]
		}
		if err := CheckLimits(p, limits(t, test.items)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s, %s: found %q, want %q", test.items, test.resources, got, test.want)
		}
	}
	claim := &corev1.PersistentVolumeClaim{}
	claim.Spec.Resources.Requests = asking(t, `{"requests":{"storage":"5Gi"}}`).Spec.Containers[0].Resources.Requests
	err := CheckClaim(claim, limits(t, `[{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"2Gi"}}]`))
	if want := "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 5Gi"; err == nil || err.Error() != want {
		t.Errorf("claim: found %v, want %s", err, want)
	}
}

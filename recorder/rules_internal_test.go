package recorder

import (
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"10", "9", true}, {"9", "10", false}, {"10", "10", false}, {"1", "", true}, {"1", "0", true},
		{"99999999999999999999999", "99999999999999999999998", true}, // beyond 64 bits
		{"abc", "abd", true}, {"abc", "abc", false}, // no order: only a repeat can be told
	} {
		if got := newer(c.a, c.b); got != c.want {
			t.Errorf("newer(%q, %q): found %t, want %t", c.a, c.b, got, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		failures int
		jitter   float64
		asked    time.Duration
		want     time.Duration
	}{
		{1, 0, 0, 100 * time.Millisecond}, {1, 0.5, 0, 150 * time.Millisecond}, {2, 0, 0, 200 * time.Millisecond},
		{7, 0, 0, 5 * time.Second}, {1000, 0, 0, 5 * time.Second}, {1000, 0.999, 0, 9995 * time.Millisecond},
		{1, 0, time.Minute, time.Minute}, {0, 0, 0, 100 * time.Millisecond},
	} {
		if got := backoff(c.failures, c.jitter, c.asked); got != c.want {
			t.Errorf("backoff(%d, %g, %s): found %s, want %s", c.failures, c.jitter, c.asked, got, c.want)
		}
	}
}

func TestFreeVersions(t *testing.T) {
	for _, c := range []struct {
		last, next string
		n          int
		want       []string
	}{
		{"100", "105", 2, []string{"103", "104"}}, {"100", "103", 5, []string{"101", "102"}},
		{"100", "101", 1, nil}, {"100", "100", 1, nil}, {"105", "100", 1, nil}, {"", "5", 1, nil}, {"a", "b", 1, nil},
	} {
		if got := free(c.last, c.next, c.n); !slices.Equal(got, c.want) {
			t.Errorf("free(%s, %s, %d): found %v, want %v", c.last, c.next, c.n, got, c.want)
		}
	}
}

// The guess is apimachinery's, but for the names that it gets wrong.
func TestPluralsAsApimachineryGuesses(t *testing.T) {
	for _, kind := range []string{"Node", "Pod", "PodDisruptionBudget", "Ingress", "NetworkPolicy", "StorageClass", "Lease", "Machine", "NodeClaim"} {
		want, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
		if got := pluralOf(kind); got != want.Resource {
			t.Errorf("%s: found %s, want %s", kind, got, want.Resource)
		}
	}
	for kind, want := range map[string]string{"Endpoints": "endpoints", "Gateway": "gateways"} {
		if got := pluralOf(kind); got != want {
			t.Errorf("%s: found %s, want %s", kind, got, want)
		}
	}
}

func TestNewestTime(t *testing.T) {
	for object, want := range map[string]string{
		`{"metadata":{"creationTimestamp":"2026-01-01T00:00:05Z","managedFields":[{"time":"2026-01-01T00:00:09Z"}]}}`:           "00:00:09",
		`{"metadata":{"creationTimestamp":"2026-01-01T00:00:05Z"},"spec":{"notAfter":"2027-01-01T00:00:00Z"}}`:                  "00:00:05",
		`{"metadata":{"deletionTimestamp":"2026-01-01T00:01:00Z","deletionGracePeriodSeconds":30}}`:                             "00:00:30",
		`{"spec":{"renewTime":"2026-01-01T00:00:01.500000Z"},"status":{"conditions":[{"lastHeartbeatTime":"nonsense"}, null]}}`: "00:00:01",
	} {
		if got := newestTime([]byte(object)).Format("15:04:05"); got != want {
			t.Errorf("%s: found %s, want %s", object, got, want)
		}
	}
}

func TestRefusedNamesTheRemedy(t *testing.T) {
	err := refused("list", resourceOf("Pod", "v1", "pods"), errors.New("boom"))
	if err.Error() != "list pods: boom" {
		t.Errorf("found %q", err)
	}
}

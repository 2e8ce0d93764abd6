package auditlog

import (
	"strings"
	"testing"
)

// A server with much to do begins a deletion later than it was asked for. Where a later state says when, the tape says so from the
// beginning; not where somebody else has asked for another grace since, and not by the state of another pod.
func TestDeletionsBeginAsShown(t *testing.T) {
	const pod = `"spec":{"nodeName":"a","terminationGracePeriodSeconds":5}`
	ending := func(uid, end, grace string) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"` + uid + `","resourceVersion":"60",` + born +
			`,"deletionTimestamp":"` + end + `","deletionGracePeriodSeconds":` + grace + `},` + pod + `,"status":{"phase":"Running"}}`
	}
	for _, c := range []struct{ later, want string }{
		{ending("u", "2026-11-20T10:00:08Z", "5"), "2026-11-20T10:00:08Z"},
		{ending("u", "2026-11-20T10:00:04Z", "1"), "2026-11-20T10:00:07Z"},
		{ending("other", "2026-11-20T10:00:09Z", "5"), "2026-11-20T10:00:07Z"},
	} {
		lines, _ := told(t,
			request{sec: 1, verb: "get", path: "shop/pods/web", resp: podAt(50, pod+`,"status":{"phase":"Running"}`)},
			request{sec: 2, verb: "delete", path: "shop/pods/web", user: "ann", req: `{}`},
			request{sec: 4, verb: "patch", path: "shop/pods/web/status", resp: c.later},
		)
		if want := `02 MODIFIED 51 ` + c.want + ` {"nodeName":"a","terminationGracePeriodSeconds":5} {"phase":"Running"}`; len(lines) < 3 || lines[2] != want {
			t.Errorf("found %q, want %q", lines, want)
		}
	}
}

// An eviction sets its condition in a write before the deletion's, which may fall into the second before: a later state says when.
func TestEvictionsMarkAsShown(t *testing.T) {
	const pod = `"spec":{"nodeName":"a","terminationGracePeriodSeconds":5}`
	const marked = `{"type":"DisruptionTarget","status":"True","lastTransitionTime":"2026-11-20T10:00:02Z","reason":"EvictionByEvictionAPI","message":"Eviction API: evicting"}`
	lines, _ := told(t,
		request{sec: 1, verb: "get", path: "shop/pods/web", resp: podAt(50, pod+`,"status":{"phase":"Running"}`)},
		request{sec: 2, verb: "create", path: "shop/pods/web/eviction", user: "ann", req: `{}`},
		request{sec: 4, verb: "patch", path: "shop/pods/web/status", resp: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"60",` + born +
			`,"deletionTimestamp":"2026-11-20T10:00:08Z","deletionGracePeriodSeconds":5},` + pod + `,"status":{"phase":"Running","conditions":[` + marked + `]}}`},
	)
	seen := 0
	for _, line := range lines {
		if strings.Contains(line, "DisruptionTarget") {
			seen++
			if !strings.Contains(line, `"lastTransitionTime":"2026-11-20T10:00:02Z"`) {
				t.Errorf("found %q, want the condition's time as it is shown later, 10:00:02", line)
			}
		}
	}
	if seen < 3 {
		t.Errorf("found %q, want the condition, the deletion and what was shown later", lines)
	}
}

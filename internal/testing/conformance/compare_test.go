package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answer makes one of a body in JSON; several values are the events of a stream.
func answer(t *testing.T, status int, stream bool, body string) *Answer {
	t.Helper()
	bodies, err := decode("application/json", []byte(body), stream)
	if err != nil {
		t.Fatal(err)
	}
	return &Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Bodies: bodies, Stream: stream}
}

func TestCompareBodies(t *testing.T) {
	for name, c := range map[string]struct {
		want, got string
		found     string // "" for alike
	}{
		"the same":             {`{"a":[1,"x",null,true]}`, `{"a":[1,"x",null,true]}`, ""},
		"another value":        {`{"a":{"b":1}}`, `{"a":{"b":2}}`, "body.a.b: want 1, got 2"},
		"another type":         {`{"a":1}`, `{"a":"1"}`, `body.a: want 1, got "1"`},
		"a member less":        {`{"a":1,"b":{"c":1}}`, `{"a":1}`, "body.b: want {c}, got nothing"},
		"a member more":        {`{}`, `{"a":null}`, "body.a: want nothing, got <nil>"},
		"an element less":      {`{"items":[1,2]}`, `{"items":[1]}`, "body.items: want 2 of them, got 1"},
		"null is not empty":    {`{"rows":null}`, `{"rows":[]}`, "body.rows: want <nil>, got [0]"},
		"managed fields":       {`{"metadata":{"name":"a","managedFields":[1]}}`, `{"metadata":{"name":"a"}}`, ""},
		"elsewhere they count": {`{"spec":{"managedFields":[1]}}`, `{"spec":{}}`, "body.spec.managedFields: want [1], got nothing"},
		"the present":          {`{"metadata":{"resourceVersion":"512"}}`, `{"metadata":{"resourceVersion":"500"}}`, ""},
		"the past":             {`{"metadata":{"resourceVersion":"499"}}`, `{"metadata":{"resourceVersion":"500"}}`, `body.metadata.resourceVersion: want "499", got "500"`},
		"a token":              {`{"metadata":{"continue":"abc"}}`, `{"metadata":{"continue":"xyz"}}`, ""},
		"no token":             {`{"metadata":{"continue":"abc"}}`, `{"metadata":{"continue":""}}`, `body.metadata.continue: want "abc", got ""`},
		"ages":                 {`{"rows":[{"cells":["a","2m5s"]}]}`, `{"rows":[{"cells":["a","65s"]}]}`, ""},
		"another age":          {`{"rows":[{"cells":["a","2m5s"]}]}`, `{"rows":[{"cells":["a","3s"]}]}`, `body.rows[].cells[]: want "2m5s", got "3s"`},
		"ages are of cells":    {`{"a":"2m5s"}`, `{"a":"65s"}`, `body.a: want "2m5s", got "65s"`},
		"the current version": {
			`{"message":"Timeout: Too large resource version: 900, current: 512"}`, `{"message":"Timeout: Too large resource version: 900, current: 500"}`, "",
		},
		"named elements": {
			`{"resources":[{"name":"a"},{"name":"b","verbs":["get","list"]}]}`, `{"resources":[{"name":"b","verbs":["get"]}]}`,
			"body.resources[a]: want {name}, got nothing; body.resources[b].verbs[list]: want \"list\", got nothing",
		},
		"an element too many": {`{"verbs":["get"]}`, `{"verbs":["get","put"]}`, `body.verbs[put]: want nothing, got "put"`},
		"another order":       {`{"verbs":["get","list"]}`, `{"verbs":["list","get"]}`, "body.verbs[list]: want it in another place, got it after get"},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := answer(t, 200, false, c.want), answer(t, 200, false, c.got)
			got.Now = time.Unix(1000, 0)
			want.Now = got.Now.Add(time.Minute)
			same(t, c.found, Compare(Request{Path: "/api"}, want, got, 500))
		})
	}
}

func same(t *testing.T, want string, found []Difference) {
	t.Helper()
	var all []string
	for _, d := range found {
		all = append(all, d.String())
	}
	if d := cmp.Diff(want, strings.Join(all, "; ")); d != "" {
		t.Error(d)
	}
}

func TestCompareStreams(t *testing.T) {
	const (
		one      = `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"}}}`
		bookmark = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}`
		end      = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}`
		endRow   = `{"type":"BOOKMARK","object":{"rows":[{"object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}]}}`
	)
	for name, c := range map[string]struct{ want, got, found string }{
		"a bookmark more":             {one, bookmark + one, ""},
		"the end of initial events":   {one + end, one, "body: want 2 of them, got 1"},
		"the end of a table's events": {one + endRow, one, "body: want 2 of them, got 1"},
		"an event of another type":    {one, strings.Replace(one, "ADDED", "MODIFIED", 1), `body.type: want "ADDED", got "MODIFIED"`},
		"an event twice":              {one, one + one, "body: want 1 of them, got 2"},
		"an event's version":          {one, strings.Replace(one, `"7"`, `"8"`, 1), `body.object.metadata.resourceVersion: want "7", got "8"`},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, c.found, Compare(Request{Stream: true}, answer(t, 200, true, c.want), answer(t, 200, true, c.got), 9))
		})
	}
}

func TestCompareStatusAndHeaders(t *testing.T) {
	want, got := answer(t, 404, false, `{"message":"no such thing"}`), answer(t, 200, false, `{"kind":"Node"}`)
	same(t, `status: want 404 Not Found "no such thing", got 200 OK`, Compare(Request{}, want, got, 0))
	want, got = answer(t, 200, false, `{}`), answer(t, 200, false, `{}`)
	want.Header.Set("Date", "today")
	want.Header.Set("Etag", "a")
	got.Header.Set("Etag", "b")
	same(t, "", Compare(Request{}, want, got, 0))
	want.Header.Set("Warning", "old")
	got.Header.Del("Etag")
	same(t, `header Etag: want "true", got "false"; header Warning: want "old", got ""`, Compare(Request{}, want, got, 0))
}

func TestAges(t *testing.T) {
	for age, least := range map[string]time.Duration{"0s": 0, "119s": 119 * time.Second, "2m5s": 125 * time.Second, "3h": 3 * time.Hour, "2d4h": 52 * time.Hour, "3y12d": (3*365 + 12) * 24 * time.Hour} {
		if got, _, ok := parseAge(age); !ok || got != least {
			t.Errorf("%s: found %s %v, want %s", age, got, ok, least)
		}
	}
	for _, no := range []string{"", "s", "5", "5x", "<none>", "1.5s", "-1s", "5s ", "99999999999999999999s"} {
		if _, _, ok := parseAge(no); ok {
			t.Errorf("%q: found an age, want none", no)
		}
	}
	if !sameAge("3m", "2m59s", 0, 0) || sameAge("3m", "2m", 0, 0) || !sameAge("10m", "9m", time.Minute, 0) ||
		sameAge("26s", "13s", 0, 5*time.Second) || !sameAge("26s", "13s", 0, 13*time.Second) {
		t.Error("ages: found other moments alike, or the same ones different")
	}
}

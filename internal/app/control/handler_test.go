package control_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// still is the demo at its beginning, which no goroutine runs.
func still(t *testing.T, e control.Sources) (*control.Control, *replay.Player) {
	t.Helper()
	header, events := scenarios.Demo()
	p, err := replay.NewPlayer(replay.Events(&header, events), replay.StartPaused())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	return control.New(p, e), p
}

func gvr(r timeline.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// ask puts a request to a Control and returns the answer, decoded into into.
func ask(t *testing.T, c *control.Control, method, path, body string, into any) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, r)
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
		}
	}
	return w
}

func TestVerbs(t *testing.T) {
	c, p := still(t, control.Sources{})
	for _, step := range []struct {
		verb, body string
		want       func(control.Status) bool
	}{
		{"resume", "", func(s control.Status) bool { return !s.Paused }},
		{"pause", "{}", func(s control.Status) bool { return s.Paused }},
		{"speed", `{"speed":"20x"}`, func(s control.Status) bool { return s.Speed == "20x" }},
		{"seek", `{"to":"T+4s"}`, func(s control.Status) bool { return s.Event == control.Seconds(4e9) && s.Rewinds == 0 && !s.Ended }},
		{"mark", `{"name":"here"}`, func(s control.Status) bool {
			return len(s.Markers) == 1 && s.Markers[0] == control.Marker{Name: "here", At: 4e9, Set: true}
		}},
		{"seek", `{"to":"+30s"}`, func(s control.Status) bool {
			return s.Ended && s.Note == "the tape ends at T+26.000s, before T+34.000s"
		}},
		{"seek", `{"to":"T+5s"}`, func(s control.Status) bool { return s.Position == control.Seconds(5e9) && s.Note == "" }},
		{"seek", `{"to":"+3s"}`, func(s control.Status) bool { return s.Position == control.Seconds(8e9) && s.Note == "" }},
		{"seek", `{"to":"-4s"}`, func(s control.Status) bool { return s.Position == control.Seconds(4e9) && s.Note == "" }},
		{"seek", `{"to":"-5s"}`, func(s control.Status) bool {
			return s.Position == 0 && s.Note == "the tape begins at T+0.000s, after T-1.000s"
		}},
		{"seek", `{"to":"T+99m"}`, func(s control.Status) bool {
			return s.Ended && s.Note == "the tape ends at T+26.000s, before T+1h39m00.000s"
		}},
		{"seek", `{"to":"1s"}`, func(s control.Status) bool { return s.Event == 0 && s.Rewinds == 4 }},
		{"seek", `{"to":"end"}`, func(s control.Status) bool { return s.Event == control.Seconds(26e9) && s.Ended }},
	} {
		var s control.Status
		if w := ask(t, c, "POST", control.Path+step.verb, step.body, &s); w.Code != http.StatusOK || !step.want(s) {
			t.Errorf("%s %s: %d, %s", step.verb, step.body, w.Code, w.Body)
		}
	}
	if got := p.Status().Speed; got != 20 {
		t.Errorf("the player's speed is %s", got)
	}
}

func TestStatusInJSON(t *testing.T) {
	c, p := still(t, control.Sources{
		Summary: func() replay.Summary { return replay.Summary{Duration: 26e9} },
		Faults:  func() []control.Fault { return []control.Fault{{At: 1e9, Text: "drop nodes/a"}} },
	})
	w, err := p.Cluster().Watch(metav1.SchemeGroupVersion.WithResource("nodes"), "", metav1.ListOptions{})
	if err == nil {
		w.Stop()
		t.Fatal("a watch of what isn't there")
	}
	nodes := p.Header().Resources[0]
	w, err = p.Cluster().Watch(gvr(nodes), "", metav1.ListOptions{LabelSelector: "a=b"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	got := strings.TrimSpace(ask(t, c, "GET", control.Path+"status", "", nil).Body.String())
	want := `{"apiVersion":"nodesim.dev/v1","kind":"ReplayStatus","tape":"demo","position":"0s","event":"0s","events":20,` +
		`"duration":"26s","speed":"1x","paused":true,"ended":false,"rewinds":0,"markers":[],` +
		`"watches":[{"resource":"nodes","labelSelector":"a=b","resourceVersion":"` + w.Version() + `","lag":0}],` +
		`"faults":[{"at":"1s","text":"drop nodes/a"}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWhatIsRefused(t *testing.T) {
	c, _ := still(t, control.Sources{})
	for _, r := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"POST", "status", "", 405, "want GET"},
		{"GET", "step", "", 405, "want POST"},
		{"DELETE", "pause", "", 405, "want POST"},
		{"GET", "", "", 404, "status, pause, resume"},
		{"POST", "jump", "", 404, "status, pause, resume"},
		{"POST", "step/1", "", 404, "status, pause, resume"},
		{"POST", "step", `{"count":-1}`, 400, "want 1 or more"},
		{"POST", "step", `{"count":"two"}`, 400, "count"},
		{"POST", "step", `{"number":2}`, 400, `unknown field "number"`},
		{"POST", "step", `{"until":"lunch"}`, 400, "want event, transition, marker"},
		{"POST", "step", `{"until":"transition"}`, 400, "no observer"},
		{"POST", "step", `{} {}`, 400, "nothing after it"},
		{"POST", "step", `{`, 400, "EOF"},
		{"POST", "pause", `{"for":"1s"}`, 400, "unknown field"},
		{"POST", "seek", `{}`, 400, "want a time on the tape"},
		{"POST", "seek", `{"to":"+end"}`, 400, "want a distance such as +30s or -1m30s"},
		{"POST", "seek", `{"to":"--5s"}`, 400, "want a distance such as +30s or -1m30s"},
		{"POST", "seek", `{"to":"+T+5s"}`, 400, "want a distance such as +30s or -1m30s"},
		{"POST", "seek", `{"to":"-5"}`, 400, "want a distance such as +30s or -1m30s"},
		{"POST", "seek", `{"to":"5"}`, 400, "has no unit"},
		{"POST", "speed", `{"speed":"fast"}`, 400, "want a factor such as 20x"},
		{"POST", "mark", `{"name":""}`, 400, "want a line of text"},
		{"POST", "mark", `{"name":"a\nb"}`, 400, "want a line of text"},
		{"POST", "mark", `{"name":"` + strings.Repeat("x", 201) + `"}`, 400, "want at most 200"},
		{"POST", "mark", `{"name":"` + strings.Repeat("x", 64<<10) + `"}`, 413, "64 KiB"},
	} {
		var s metav1.Status
		w := ask(t, c, r.method, control.Path+r.path, r.body, &s)
		if w.Code != r.code || int(s.Code) != r.code || s.Kind != "Status" || s.Reason == "" || !strings.Contains(s.Message, r.says) {
			t.Errorf("%s %s %.40s: %d, want %d and %q: %s", r.method, r.path, r.body, w.Code, r.code, r.says, w.Body)
		}
		if r.code == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", r.method, r.path)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", control.Path+"step", strings.NewReader("count=1"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if c.Handler().ServeHTTP(w, r); w.Code != 415 {
		t.Errorf("a form: %d, want 415", w.Code)
	}
}

// A tape that can't go back says so, and stays where it is.
func TestATapeThatCantGoBack(t *testing.T) {
	header, events := scenarios.Demo()
	p, err := replay.NewPlayer(&onceOnly{src: replay.Events(&header, events)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	c := control.New(p, control.Sources{})
	ask(t, c, "POST", control.Path+"seek", `{"to":"9s"}`, nil)
	var s metav1.Status
	if w := ask(t, c, "POST", control.Path+"seek", `{"to":"1s"}`, &s); w.Code != 409 || !strings.Contains(s.Message, "once only") {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
	if s := c.Status(); s.Event != 8e9 || s.Error != "" {
		t.Errorf("after it: at %v, error %q", s.Position, s.Error)
	}
}

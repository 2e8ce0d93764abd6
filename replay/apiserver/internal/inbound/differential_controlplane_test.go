//go:build controlplane

package inbound_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// said is an answer of either server.
type said struct {
	code     int
	object   map[string]any
	warnings []string
}

func (s said) status() string {
	if s.object["kind"] != "Status" {
		return fmt.Sprint(s.code, " ", s.object["kind"])
	}
	details, _ := s.object["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	seen := map[string]bool{}
	causes = slices.DeleteFunc(causes, func(c any) bool { // kinds validate their metadata more than once
		twice := seen[fmt.Sprint(c)]
		seen[fmt.Sprint(c)] = true
		return twice
	})
	if causes != nil {
		details["causes"] = causes
	}
	raw, _ := json.Marshal(details)
	out := fmt.Sprint(s.code, " ", s.object["status"], " ", s.object["reason"], ": ", s.object["message"], " ", string(raw))
	for _, v := range vague {
		out = v.ReplaceAllString(out, "…")
	}
	return out
}

// generated is a generated name, in which the two have no choice but to differ.
var generated = regexp.MustCompile(`(Bad_|made-)[a-z0-9]{5}\b`)

// vague lists what two servers say in words of their own: what a scheme is called,
// a patched object in an error, whose members have no order, a pod's spec before
// and after.
var vague = []*regexp.Regexp{
	regexp.MustCompile(`in scheme \\*"[^"]*"`), regexp.MustCompile(`(?s)Invalid value: \\*"(\{|map).*?[}\]]\\*": `),
	regexp.MustCompile(`(?s)if it was previously negative\)(\n|\\n).*?(, "?reason|$)`), regexp.MustCompile(`"details":null`),
	generated,
}

// TestAsKubeAPIServer puts the same writes to a real kube-apiserver and to a
// replay of the same state, as the same HTTP requests.
func TestAsKubeAPIServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	s := newServer(t, testcluster.Shared(t).Config())
	s.fill(ctx)
	source, known := s.copied()
	player, err := replay.NewPlayer(source)
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := apiserver.New(player, apiserver.RecordWrites(func(apiserver.Write) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		replayed.Close()
		if err := player.Close(); err != nil {
			t.Error(err)
		}
	})
	var all []call
	for _, sub := range subjects {
		all = append(all, sub.calls()...)
	}
	all = append(all, stories()...)
	unused := sets.KeySet(differences)
	for _, c := range all {
		c.body = known.Replace(c.body)
		resp, raw := s.ask(c)
		want, got := heard(resp.StatusCode, resp.Header, raw), ask(t, replayed, c)
		why := differs(got, want)
		if _, listed := differences[kindless(c.name)]; listed {
			c.name = kindless(c.name)
		}
		if _, listed := differences[c.name]; listed {
			unused.Delete(c.name)
			if why == "" {
				t.Errorf("%s: is listed as different and isn't", c)
			}
			continue
		}
		if why != "" {
			t.Errorf("%s\n%s", c, why)
		}
	}
	if len(unused) > 0 {
		t.Errorf("differences of calls that aren't made: %v", sets.List(unused))
	}
	t.Logf("%d writes, %d differences", len(all), len(differences))
}

// ask is a call of the replay's server.
func ask(t testing.TB, s http.Handler, c call) said {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, c.request(t, "http://replay"))
	return heard(w.Code, w.Header(), w.Body.Bytes())
}

// heard reads an answer.
func heard(code int, h http.Header, body []byte) said {
	s := said{code: code, warnings: h.Values("Warning")}
	if json.Unmarshal(body, &s.object) != nil {
		s.object = map[string]any{"kind": "text", "text": string(body)}
	}
	return s
}

// differs says in what; "" where in nothing that is compared: of an object all
// that the desk says has to be so, and a server may say more.
func differs(got, want said) string {
	if got.status() != want.status() {
		return fmt.Sprintf(" got %s\nwant %s", clip(got.status()), clip(want.status()))
	}
	if !slices.Equal(got.warnings, want.warnings) {
		return fmt.Sprintf(" got warnings %q\nwant %q", got.warnings, want.warnings)
	}
	if got.object["kind"] == "Status" {
		return ""
	}
	return within("", got.object, want.object)
}

func clip(s string) string {
	if len(s) > 1500 {
		return s[:1500] + "…"
	}
	return s
}

// within says what of an answer the other doesn't say.
func within(at string, got, want any) string {
	switch at {
	case ".metadata.uid", ".metadata.creationTimestamp", ".metadata.resourceVersion", ".metadata.deletionTimestamp":
		if (got == nil) != (want == nil) {
			return fmt.Sprintf("%s: got %v, want %v", at, got, want)
		}
		return ""
	}
	switch g := got.(type) {
	case string:
		if w, _ := want.(string); generated.ReplaceAllString(g, "…") == generated.ReplaceAllString(w, "…") {
			return ""
		}
	case map[string]any:
		w, _ := want.(map[string]any)
		for k, v := range g {
			if why := within(at+"."+k, v, w[k]); why != "" {
				return why
			}
		}
		return ""
	case []any:
		w, _ := want.([]any)
		if len(g) != len(w) {
			return fmt.Sprintf("%s: got %v, want %v", at, got, want)
		}
		for i := range g {
			if why := within(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); why != "" {
				return why
			}
		}
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%s: got %v, want %v", at, got, want)
	}
	return ""
}

// differences are the writes that are answered in another way, and why.
var differences = map[string]string{
	"pods update with a bad label":        "an admission plugin gives the pod its tolerations back before it is compared",
	"pod no tolerations":                  "an admission plugin gives the pod its tolerations back",
	"node with less than nothing":         "the server defaults what is allocatable to what there is, and refuses that too",
	"widgets apply what spoils a type":    "the schema of a custom resource isn't here to refuse it by: 400 instead of 500",
	"widgets create with another version": "the server reads the object by its schema before it looks at the version, and warns that the schema has no spec",
}

// kindless is the name of a call that is tried on each kind.
func kindless(name string) string {
	_, rest, _ := strings.Cut(name, " ")
	return "* " + rest
}

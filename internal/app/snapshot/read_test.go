package snapshot_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

const (
	aNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","creationTimestamp":"2026-11-19T22:00:00Z","labels":{"eks.amazonaws.com/nodegroup":"workers","topology.kubernetes.io/zone":"eu-central-1a","node.kubernetes.io/instance-type":"m5.large"}},"status":{"nodeInfo":{"kubeletVersion":"v1.34.2","bootID":"b"}}}`
	aPod  = `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"web-6d4-a%d","labels":{"app":"web","pod-template-hash":"6d4"},"annotations":{"note":"hunter2"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-6d4","uid":"u","controller":true}]},"spec":{"nodeName":"n%d","containers":[{"name":"web","image":"web:1","env":[{"name":"P","value":"hunter2"}],"args":["hunter2"]}]},"status":{"phase":"Running"}}`
	aPDB  = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"namespace":"shop","name":"web"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}`
)

// objects are two nodes with a pod each, and a budget.
func objects() []string {
	return []string{fmt.Sprintf(aNode, 1), fmt.Sprintf(aNode, 2), fmt.Sprintf(aPod, 1, 1), fmt.Sprintf(aPod, 2, 2), aPDB}
}

func list() string {
	return `{"apiVersion":"v1","items":[` + strings.Join(objects(), ",\n") + `],"kind":"List","metadata":{"resourceVersion":""}}` + "\n"
}

// read reads a source, and says what is in it in a word.
func read(t *testing.T, s snapshot.Source) (string, error) {
	t.Helper()
	f, err := snapshot.Read(t.Context(), s)
	if err != nil {
		return "", err
	}
	var said bytes.Buffer
	snapshot.Describe(&said, "it", f, f.Start)
	for i := range f.Workloads {
		if text := fmt.Sprint(f.Workloads[i]); strings.Contains(text, "hunter2") {
			t.Errorf("found a canary in %s", text)
		}
	}
	first, _, _ := strings.Cut(said.String(), "\n")
	return first, nil
}

const whole = "it: 2 nodes in 1 group, 2 pods of 1 workload, 1 budget; as it was just now"

func put(t *testing.T, folder, name, text string) string {
	t.Helper()
	file := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestForms: the same objects, in every form in which people have them.
func TestForms(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(list())) // into memory
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(list())) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	yamlList := "apiVersion: v1\nkind: List\nitems:\n"
	for _, o := range objects() {
		yamlList += "- " + o + "\n"
	}
	for name, text := range map[string]string{
		"a list":              list(),
		"Windows line ends":   strings.ReplaceAll(list(), "\n", "\r\n"),
		"a byte order mark":   "\ufeff" + list(),
		"UTF-16":              string(wide),
		"gzip":                packed.String(),
		"lists in a row":      list() + list(),
		"objects in a row":    strings.Join(objects(), "\n"),
		"YAML":                yamlList,
		"YAML of Windows":     strings.ReplaceAll(yamlList, "\n", "\r\n"),
		"documents of YAML":   "---\n" + strings.Join(objects(), "\n---\n") + "\n",
		"with what is unread": list() + `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`,
	} {
		if got, err := read(t, snapshot.Source{File: put(t, t.TempDir(), "cluster.txt", text)}); err != nil || got != whole {
			t.Errorf("%s: found %q, error %v: want %q", name, got, err, whole)
		}
		if got, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text)}); err != nil || got != whole {
			t.Errorf("%s on standard input: found %q, error %v: want %q", name, got, err, whole)
		}
	}
}

// typed is a list as an API server has it, whose items don't say what they are.
func typed(t *testing.T, apiVersion, kind string, items ...string) string {
	t.Helper()
	for i, item := range items {
		var o map[string]json.RawMessage
		if err := json.Unmarshal([]byte(item), &o); err != nil {
			t.Fatal(err)
		}
		delete(o, "kind")
		delete(o, "apiVersion")
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		items[i] = string(text)
	}
	return fmt.Sprintf(`{"kind":"%sList","apiVersion":%q,"metadata":{},"items":[%s]}`, kind, apiVersion, strings.Join(items, ","))
}

func TestFolders(t *testing.T) {
	all := objects()
	dump, gathered := t.TempDir(), t.TempDir()
	put(t, dump, "nodes.json", typed(t, "v1", "Node", all[0], all[1]))
	put(t, dump, "shop/pods.json", typed(t, "v1", "Pod", all[2], all[3]))
	put(t, dump, "shop/poddisruptionbudgets.json", typed(t, "policy/v1", "PodDisruptionBudget", all[4]))
	put(t, dump, "shop/web-6d4-a1/logs.txt", "hunter2")
	put(t, dump, "shop/services.json", "no JSON at all")
	all = objects()
	put(t, gathered, "must-gather.local/quay-io/cluster-scoped-resources/core/nodes/n1.yaml", "---\n"+all[0])
	put(t, gathered, "must-gather.local/quay-io/cluster-scoped-resources/core/nodes/n2.yaml", "---\n"+all[1])
	put(t, gathered, "must-gather.local/quay-io/namespaces/shop/core/pods.yaml", "---\n"+typed(t, "v1", "Pod", all[2], all[3]))
	put(t, gathered, "must-gather.local/quay-io/namespaces/shop/core/secrets.yaml", "---\nhunter2: {")
	put(t, gathered, "must-gather.local/quay-io/namespaces/shop/pods/web-6d4-a1/web-6d4-a1.yaml", "---\n"+objects()[2])
	put(t, gathered, "must-gather.local/quay-io/namespaces/shop/policy/poddisruptionbudgets.yaml", "---\n"+typed(t, "policy/v1", "PodDisruptionBudget", all[4]))
	for _, folder := range []string{dump, gathered} {
		if got, err := read(t, snapshot.Source{File: folder}); err != nil || got != whole {
			t.Errorf("%s: found %q, error %v: want %q", folder, got, err, whole)
		}
	}
}

// TestBadInput: what is wrong is said on one line, with its place.
func TestBadInput(t *testing.T) {
	torn := list()[:len(list())-300]
	for want, text := range map[string]string{
		"line 4: the JSON ends in the middle of a value": torn,
		"line 2: invalid character":                      list()[:200] + "\n}}}",
		"no object of Kubernetes":                        "",
		"the document of line 1: ":                       "a: {",
		"found a scenario file already":                  "apiVersion: nodesim.dev/v1\nkind: Scenario\n",
		"found no nodes: want a cluster that has some":   objects()[2],
		"Pod shop/web-6d4-a1: json: cannot unmarshal":    strings.Replace(list(), `"app":"web","pod-`, `"app":7,"pod-`, 1),
		"want an object of Kubernetes, or a List":        "[1, 2]",
	} {
		_, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "(standard input): ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("found error %v, want one line with %q", err, want)
		}
	}
	folder := t.TempDir()
	put(t, folder, "nodes.json", torn)
	if _, err := read(t, snapshot.Source{File: folder}); err == nil || !strings.Contains(err.Error(), "nodes.json: line 4: ") {
		t.Errorf("found error %v, want the file and the line", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := snapshot.Read(ctx, snapshot.Source{File: "-", In: strings.NewReader(list())}); err == nil {
		t.Error("found no error of a context that is over")
	}
}

// TestWatchEvents: a watch has no state of one moment, and the error says what makes a tape of it. Beside objects its events are left out.
func TestWatchEvents(t *testing.T) {
	event := `{"type":"ADDED","object":` + objects()[0] + "}\n"
	arrived := `{"t":"2026-11-20T22:21:09.113Z","resource":"nodes","event":` + event + "}\n"
	const want = "(standard input): found 2 watch events: want a tape, which nodesim import makes of such events, or what kubectl get nodes,"
	for _, text := range []string{event + event, arrived + event} {
		if _, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text)}); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found error %v, want one line that begins with %q", err, want)
		}
	}
	if got, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(list() + event)}); err != nil || got != whole {
		t.Errorf("found %q, error %v: want %q", got, err, whole)
	}
}

// TestTooMany: what is too large is none of its objects' fault.
func TestTooMany(t *testing.T) {
	var text strings.Builder
	for i := range spec.MaxNodes + 1 {
		fmt.Fprintf(&text, `{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n%d"}}`+"\n", i)
	}
	_, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text.String())})
	if err == nil || !strings.HasSuffix(err.Error(), "CSINodes: want at most as many, which is what a scenario may have; read a part of the cluster") {
		t.Errorf("found error %v, want one that says to read a part", err)
	}
}

// TestQuotedKinds: YAML may quote what a document is, and JSON may have spaces.
func TestQuotedKinds(t *testing.T) {
	for _, text := range []string{"apiVersion: nodesim.dev/v1\nkind: \"Scenario\"\n", `{"apiVersion": "nodesim.dev/v1", "kind": "Scenario"}`} {
		if _, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text)}); err == nil || !strings.Contains(err.Error(), "found a scenario file already") {
			t.Errorf("%s: found error %v, want that it is a scenario", text, err)
		}
	}
}

// A server serves the objects in pages of one, forgets where the first page of pods ended, and forbids and lacks some kinds.
type server struct {
	t       *testing.T
	asked   []string
	refused map[string]int // status by the path's last word
	forgot  bool
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	resource := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	w.Header().Set("Content-Type", "application/json")
	status := func(code int, reason string) {
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"no","code":%d}`, reason, code)
	}
	if r.URL.Path == "/version" {
		_, _ = fmt.Fprint(w, `{"gitVersion":"v1.34.2"}`)
		return
	}
	if code := s.refused[resource]; code != 0 {
		status(code, map[int]string{http.StatusForbidden: "Forbidden", http.StatusNotFound: "NotFound"}[code])
		return
	}
	of := map[string][]string{"nodes": objects()[:2], "pods": objects()[2:4], "poddisruptionbudgets": objects()[4:]}[resource]
	next := ""
	switch again := r.URL.Query().Get("continue"); {
	case r.URL.Query().Get("limit") == "":
	case len(of) > 1 && again == "":
		of, next = of[:1], "more"
	case again != "" && resource == "pods":
		s.forgot = true
		status(http.StatusGone, "Expired")
		return
	case again != "":
		of = of[1:]
	}
	text := strings.TrimSuffix(typed(s.t, "v1", "X", of...), "}")
	_, _ = fmt.Fprint(w, strings.Replace(text, `"metadata":{}`, fmt.Sprintf(`"metadata":{"continue":%q}`, next), 1)+"}")
}

func TestAPIServer(t *testing.T) {
	s := &server{t: t, refused: map[string]int{"jobs": http.StatusForbidden, "replicationcontrollers": http.StatusNotFound}}
	api := httptest.NewServer(s)
	defer api.Close()
	now := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	source := snapshot.Source{REST: &rest.Config{Host: api.URL}, Name: "prod", Now: now}
	f, err := snapshot.Read(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	if f.Nodes() != 2 || len(f.Workloads) != 1 || len(f.Workloads[0].Pods) != 2 || len(f.Budgets) != 1 || !f.Start.Equal(now) || f.Metadata.Name != "prod" || !s.forgot {
		t.Errorf("found %d nodes, %d workloads, %d budgets at %s of %s: want 2, 1, 1 of prod, all pages", f.Nodes(), len(f.Workloads), len(f.Budgets), f.Start, f.Metadata.Name)
	}
	for _, want := range []string{"can't list jobs.batch: forbidden: want list on jobs.batch, in all namespaces", "the cluster has no replicationcontrollers of v1"} {
		if !contains(f.LeftOut, want) {
			t.Errorf("found %q left out, want %q", f.LeftOut, want)
		}
	}
	for _, asked := range s.asked {
		if !strings.HasPrefix(asked, "GET ") {
			t.Errorf("found the request %s: want none but GET", asked)
		}
	}
	s.refused["nodes"] = http.StatusForbidden
	if _, err := snapshot.Read(t.Context(), source); err == nil || !strings.Contains(err.Error(), "cluster prod: can't list nodes: forbidden: want list on nodes") {
		t.Errorf("found error %v, want one that says which right is missing", err)
	}
}

func contains(lines []string, want string) bool {
	for _, line := range lines {
		if line == want {
			return true
		}
	}
	return false
}

// TestTape: a tape is read at a moment.
func TestTape(t *testing.T) {
	const tape = "../../../examples/stuck-drain.yaml"
	f, err := snapshot.Read(t.Context(), snapshot.Source{File: tape})
	if err != nil {
		t.Fatal(err)
	}
	if f.Nodes() != 2 || len(f.Workloads) != 1 || f.Workloads[0].Kind != spec.KindDeployment || cordoned(f) != 0 {
		t.Errorf("found %d nodes and %d workloads: want those of the recording's begin", f.Nodes(), len(f.Workloads))
	}
	if f, err = snapshot.Read(t.Context(), snapshot.Source{File: tape, At: time.Minute}); err != nil || cordoned(f) == 0 {
		t.Errorf("found no cordoned node at 1m, error %v", err)
	}
}

func cordoned(f *spec.File) (n int) {
	for i := range f.Groups {
		for _, m := range f.Groups[i].Members {
			if m.Cordoned {
				n++
			}
		}
	}
	return n
}

func TestKey(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	first, err := snapshot.Key("")
	if err != nil || len(first) < 16 {
		t.Fatalf("found %d characters, error %v: want a key", len(first), err)
	}
	if again, err := snapshot.Key(""); err != nil || !bytes.Equal(first, again) {
		t.Errorf("found another key, error %v: want the same", err)
	}
	if _, err := snapshot.Key(put(t, home, "short", "1234\n")); err == nil || !strings.Contains(err.Error(), "found 4 characters: want 16 or more") {
		t.Errorf("found error %v, want one about a short key", err)
	}
}

package snapshot_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// yamlOf is a list as kubectl or must-gather writes it: its kind after its items.
func yamlOf(kind string, items ...string) string {
	text := "---\napiVersion: v1\nitems:\n"
	for _, o := range items {
		text += "- " + o + "\n"
	}
	return text + "kind: " + kind + "\nmetadata:\n  resourceVersion: \"\"\n"
}

// TestCutOff: no part of an input is taken for the whole of it.
func TestCutOff(t *testing.T) {
	for name, text := range map[string]string{"a List": yamlOf("List", objects()...), "JSON": list()} {
		for n := range len(text) {
			got, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text[:n])})
			switch {
			case err == nil && got != whole:
				t.Fatalf("%s: of %d bytes of %d found %q, want an error or all of it", name, n, len(text), got)
			case err == nil && n < strings.LastIndex(text, "List"):
				t.Fatalf("%s: found no error of %d bytes of %d", name, n, len(text))
			}
		}
	}
	nodes, pods := yamlOf("NodeList", objects()[:2]...), yamlOf("PodList", objects()[2:4]...)
	for n := 0; n < strings.Index(pods, "List"); n++ {
		folder := t.TempDir()
		put(t, folder, "nodes.yaml", nodes)
		put(t, folder, "pods.yaml", pods[:n])
		f, err := snapshot.Read(t.Context(), snapshot.Source{File: folder})
		if err == nil && !strings.Contains(strings.Join(f.LeftOut, "\n"), "files that hold no object: 1 (pods.yaml)") || err != nil && !strings.Contains(err.Error(), "pods.yaml: ") {
			t.Fatalf("found error %v of a folder with %d bytes of %d of the pods, want one that names the file, or a line that does", err, n, len(pods))
		}
	}
	for want, text := range map[string]string{
		"a list without a kind: the input is cut off":                  "apiVersion: v1\nitems:\n- " + objects()[0],
		"the kind \"Lis\": the input is cut off":                       "apiVersion: v1\nitems:\n- " + objects()[0] + "\nkind: Lis",
		"an apiVersion without a kind: the input is cut off":           objects()[0] + "\n" + `{"apiVersion":"v1"}`,
		"line 3: items[2]: found an object without a kind: want":       strings.Replace(list(), `"kind":"Pod",`, "", 1),
		"line 4: items[3]: Pod shop/web-6d4-a2: json: cannot":          strings.Replace(list(), `"nodeName":"n2"`, `"nodeName":2`, 1),
		"document of line 1: items[3]: Pod shop/web-6d4-a2: json: can": strings.Replace(yamlOf("List", objects()...), `"nodeName":"n2"`, `"nodeName":2`, 1)[4:],
		`found the answer "pods is forbidden" of an API server`:        `{"kind":"Status","apiVersion":"v1","message":"pods is forbidden"}`,
	} {
		_, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found error %v, want one line with %q", err, want)
		}
	}
}

// packed is a text as gzip or zstd packs it.
func packed(t *testing.T, text string) (gz, zst string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // into memory
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), string(e.EncodeAll([]byte(text), nil))
}

// TestPacked: what is compressed and cut off, and archives, are refused with what to do.
func TestPacked(t *testing.T) {
	gz, zst := packed(t, list())
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "nodes.json", Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	archive, _ := packed(t, b.String()+strings.Repeat("\x00", 1024))
	for text, want := range map[string]string{
		gz[:len(gz)/2]:   "found compressed data that end in the middle: want the whole file",
		zst[:len(zst)/2]: "found compressed data that end in the middle: want the whole file",
		archive:          "found a tar archive: want what is in it",
		"PK\x03\x04":     "found a zip archive: want what is in it",
	} {
		if _, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text)}); err == nil || !strings.HasSuffix(err.Error(), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, want %q", err, want)
		}
	}
	folder := t.TempDir()
	gz, _ = packed(t, strings.Join(objects()[:2], "\n"))
	_, zst = packed(t, strings.Join(objects()[2:], "\n"))
	put(t, folder, "nodes.json.gz", gz)
	put(t, folder, "sub/pods.json.zst", zst)
	if got, err := read(t, snapshot.Source{File: folder}); err != nil || got != whole {
		t.Errorf("found %q, error %v: want %q", got, err, whole)
	}
}

// leftOut are the lines of a source's file.
func leftOut(t *testing.T, s snapshot.Source) string {
	t.Helper()
	f, err := snapshot.Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(f.LeftOut, "\n")
}

// TestSkippedFiles: files of a folder that aren't read are named, and so are pods and budgets that aren't there.
func TestSkippedFiles(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, "nodes.json", typed(t, "v1", "Node", objects()[0], objects()[1]))
	put(t, folder, "pods.json", "")
	put(t, folder, "sub/cluster-pods.json", list())
	put(t, folder, "sub/events.json", "no JSON at all")
	put(t, folder, "notes.txt", "not an object")
	put(t, folder, "real/statefulsets.txt", typed(t, "policy/v1", "PodDisruptionBudget", aPDB))
	for link, to := range map[string]string{"poddisruptionbudgets.json": "real/statefulsets.txt", "jobs.json": filepath.Join(t.TempDir(), "out"), "daemonsets.json": "real", "shop": "real"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	said := leftOut(t, snapshot.Source{File: folder})
	for _, want := range []string{
		"files that hold no object: 1 (pods.json); ", "links that lead out of the folder, to a folder or to nothing: 3 (daemonsets.json, jobs.json, shop); ",
		"files that aren't named after a kind that is read: 1 (sub/cluster-pods.json); ", "pods: not read: the input has none: if the cluster has none either, nothing is missing; kubectl get pods -A -o json prints them",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("found\n%s\nleft out, want %q", said, want)
		}
	}
	if strings.Contains(said, "budgets: not read") {
		t.Errorf("found\n%s\nleft out, want the budgets of the link", said)
	}
	if said := leftOut(t, snapshot.Source{File: folder, Key: []byte("0123456789abcdef")}); strings.Contains(said, ".json)") || strings.Contains(said, "sub/") {
		t.Errorf("found names of files in an anonymous file:\n%s", said)
	}
	only := t.TempDir()
	if err := os.Symlink(filepath.Join(folder, "nodes.json"), filepath.Join(only, "nodes.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, snapshot.Source{File: only}); err == nil || !strings.Contains(err.Error(), "; links that lead out of the folder") {
		t.Errorf("found error %v, want one that names the link", err)
	}
}

// TestPodsAndBudgetsThatWereNotRead: the file says so, but not of a list that has none.
func TestPodsAndBudgetsThatWereNotRead(t *testing.T) {
	nodes, pods, none := strings.Join(objects()[:2], "\n"), strings.Join(objects()[2:4], "\n"), typed(t, "policy/v1", "PodDisruptionBudget")
	for _, c := range []struct {
		text          string
		pods, budgets bool
	}{
		{nodes, false, false}, {nodes + pods, true, false}, {nodes + pods + none, true, true}, {nodes + typed(t, "v1", "Pod") + aPDB, true, true},
	} {
		f, err := snapshot.Read(t.Context(), snapshot.Source{File: "-", In: strings.NewReader(c.text)})
		if err != nil {
			t.Fatal(err)
		}
		if spec.Unread(f.LeftOut, spec.PodsOfCluster) == c.pods || spec.Unread(f.LeftOut, spec.BudgetsOfCluster) == c.budgets {
			t.Errorf("found %q left out, want pods read: %v, budgets read: %v", f.LeftOut, c.pods, c.budgets)
		}
	}
	s := &server{t: t, refused: map[string]int{"pods": http.StatusForbidden, "poddisruptionbudgets": http.StatusNotFound}}
	api := httptest.NewServer(s)
	defer api.Close()
	f, err := snapshot.Read(t.Context(), snapshot.Source{REST: &rest.Config{Host: api.URL}, Name: "prod", Now: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"pods: not read: can't list pods: forbidden: want list on pods, in all namespaces", "budgets: not read: the cluster has no poddisruptionbudgets of policy/v1",
	} {
		if !contains(f.LeftOut, want) {
			t.Errorf("found %q left out, want %q", f.LeftOut, want)
		}
	}
}

// TestListsOfNone: kubectl prints a List of none without its kind, so that the file's name has to say it.
func TestListsOfNone(t *testing.T) {
	const none = `{"apiVersion":"v1","items":[],"kind":"List","metadata":{"resourceVersion":""}}`
	for name, read := range map[string]bool{
		"poddisruptionbudgets.json": true, "shop/poddisruptionbudgets.json": true, "pdb.json": true, "jobs.json": false, "some.json": false,
	} {
		folder := t.TempDir()
		put(t, folder, "nodes.json", strings.Join(objects()[:2], "\n"))
		put(t, folder, "pods.json", strings.Join(objects()[2:4], "\n"))
		put(t, folder, name, none)
		if said := leftOut(t, snapshot.Source{File: folder}); strings.Contains(said, "budgets: not read") == read || strings.Contains(said, "hold no object") {
			t.Errorf("%s: found\n%s\nleft out, want budgets read: %v", name, said, read)
		}
	}
	said := leftOut(t, snapshot.Source{File: "-", In: strings.NewReader(strings.Join(objects()[:4], "\n"))})
	if want := "budgets: not read: the input has none: if the cluster has none either, nothing is missing; "; !strings.Contains(said, want) {
		t.Errorf("found\n%s\nleft out, want %q", said, want)
	}
}

// TestListsInAList: jq -s makes one of several.
func TestListsInAList(t *testing.T) {
	nodes, pods := typed(t, "v1", "Node", objects()[:2]...), typed(t, "v1", "Pod", objects()[2:4]...)
	budgets := `{"apiVersion":"v1","kind":"List","items":[` + aPDB + `]}`
	text := func(lists ...string) string {
		return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(lists, ",") + `]}`
	}
	if got, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(text(nodes, pods, budgets))}); err != nil || got != whole {
		t.Errorf("found %q, error %v: want %q", got, err, whole)
	}
	own := `{"apiVersion":"example.com/v1","kind":"AllowList","metadata":{"name":"a"}}`
	if said := leftOut(t, snapshot.Source{File: "-", In: strings.NewReader(text(nodes, own, text(text(pods))))}); !strings.Contains(said, "objects of other kinds: 2 (AllowList 1, List 1)") {
		t.Errorf("found\n%s\nleft out, want the object whose kind ends in List, and the list in a list in a list", said)
	}
}

// TestDocumentsOfOthers: a document that has an apiVersion and no kind is one of another program, if it isn't what is left of an object.
func TestDocumentsOfOthers(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, "cluster.json", list())
	put(t, folder, "Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	if said := leftOut(t, snapshot.Source{File: folder}); !strings.Contains(said, "documents that are no object of Kubernetes: 1; they have no kind") || !strings.Contains(said, "(Chart.yaml); objects may be missing") {
		t.Errorf("found\n%s\nleft out, want the chart", said)
	}
	for _, begin := range []string{"apiVersion: v1\n", "apiVersion: v1\nitems:\n", "apiVersion: v1\nmetadata:\n  name: a\n"} {
		put(t, folder, "Chart.yaml", begin)
		if _, err := read(t, snapshot.Source{File: folder}); err == nil || !strings.Contains(err.Error(), "found an apiVersion without a kind: the input is cut off") {
			t.Errorf("%q: found error %v, want one about what is cut off", begin, err)
		}
	}
}

// TestTapeByHand: one with SYNCs of some lists, all at its beginning, may have been cut off, and is read.
func TestTapeByHand(t *testing.T) {
	text, err := os.ReadFile("../../../examples/surge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const end = `"resource":"poddisruptionbudgets","rv":"350"}`
	head := string(text[:bytes.Index(text, []byte(end))])
	head = head[:strings.LastIndex(head, "--- ")] // the budgets' SYNC
	tape := put(t, t.TempDir(), "hand.yaml", head)
	f, err := snapshot.Read(t.Context(), snapshot.Source{File: tape})
	if err != nil || len(f.Budgets) == 0 {
		t.Fatalf("found error %v, want the budgets", err)
	}
	const want = "lists that the tape ends without a SYNC of: poddisruptionbudgets.policy; some of their objects may be missing"
	if said := strings.Join(f.LeftOut, "\n"); !strings.Contains(said, want) || strings.Contains(said, "not read") {
		t.Errorf("found\n%s\nleft out, want %q", said, want)
	}
	if _, err := snapshot.Read(t.Context(), snapshot.Source{File: put(t, t.TempDir(), "torn.yaml", head+`--- {"at":"0s`)}); err == nil || !strings.Contains(err.Error(), "before a whole list of poddisruptionbudgets.policy") {
		t.Errorf("found error %v of a torn line, want the list", err)
	}
}

// TestTornTape: a tape that ends within its first lists is refused, wherever it is cut; one that ends later is read.
func TestTornTape(t *testing.T) {
	text, err := os.ReadFile("../../../examples/surge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	from := bytes.Index(text, []byte(`{"at":"0s"`))
	until := bytes.Index(text, []byte(`"resource":"poddisruptionbudgets","rv":"350"}`)) + len(`"resource":"poddisruptionbudgets","rv":"350"}`)
	torn := func(n int, at time.Duration) (*spec.File, error) {
		return snapshot.Read(t.Context(), snapshot.Source{File: put(t, t.TempDir(), "torn.yaml", string(text[:n])), At: at})
	}
	for n := from; n < until; n += 97 {
		f, err := torn(n, 0)
		if err == nil && !(spec.Unread(f.LeftOut, spec.PodsOfCluster) && spec.Unread(f.LeftOut, spec.BudgetsOfCluster)) {
			t.Errorf("found no error of %d bytes, and %q left out", n, f.LeftOut)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("found an error of several lines: %v", err)
		}
	}
	nodes := from + bytes.Index(text[from:], []byte(`{"at":"0s","type":"SYNC"`)) - len("--- ")
	if f, err := torn(nodes, 0); err != nil || !spec.Unread(f.LeftOut, spec.PodsOfCluster) || !spec.Unread(f.LeftOut, spec.BudgetsOfCluster) {
		t.Errorf("found error %v of a tape with nodes alone, as somebody may have written it, want one without pods and budgets", err)
	}
	if _, err := torn(6000, 0); err == nil || !strings.Contains(err.Error(), "found its end before a whole list of nodes, pods, poddisruptionbudgets.policy: a last line without its end was dropped: want the whole tape") {
		t.Errorf("found error %v, want one that names the lists", err)
	}
	if f, err := torn(len(text)-200, 0); err != nil || strings.Contains(strings.Join(f.LeftOut, "\n"), "end") {
		t.Errorf("found error %v at the beginning of a tape whose end is torn", err)
	}
	f, err := torn(len(text)-200, replay.End)
	if err != nil || !strings.Contains(strings.Join(f.LeftOut, "\n"), "the tape's end: a last line without its end was dropped") {
		t.Errorf("found error %v, want a line about the end", err)
	}
}

// TestMoments: a moment that a tape or other objects don't have is said.
func TestMoments(t *testing.T) {
	const tape = "../../../examples/surge.yaml"
	if said := leftOut(t, snapshot.Source{File: tape, At: 10 * time.Hour}); !strings.Contains(said, "the moment: the tape ends at T+55.419s, before T+10h00m00.000s; the file has the cluster as it was at the tape's end") {
		t.Errorf("found\n%s\nleft out, want the end of the tape", said)
	}
	for _, at := range []time.Duration{0, 30 * time.Second, replay.End} {
		if said := leftOut(t, snapshot.Source{File: tape, At: at}); strings.Contains(said, "the moment: ") || strings.Contains(said, "not read") {
			t.Errorf("at %s: found\n%s\nleft out", at, said)
		}
	}
	folder := t.TempDir()
	for _, file := range []string{folder, put(t, folder, "nodes.json", list())} {
		if _, err := read(t, snapshot.Source{File: file, At: 2 * time.Minute}); err == nil || !strings.Contains(err.Error(), "found objects of one moment, and --at 120s: want a tape with it") {
			t.Errorf("%s: found error %v, want one about --at", file, err)
		}
	}
	if _, err := read(t, snapshot.Source{File: folder, At: replay.End}); err == nil || !strings.Contains(err.Error(), "and --at end: want a tape") {
		t.Errorf("found error %v, want one about --at end", err)
	}
	if _, err := read(t, snapshot.Source{File: filepath.Join(folder, "missing.json")}); err == nil || !strings.HasSuffix(err.Error(), "missing.json: no such file or folder: want a tape, what kubectl get -o json prints, or a folder of that") {
		t.Errorf("found error %v, want what to name", err)
	}
}

// TestGap: between a GAP of a tape and its SYNC nobody knows what is there.
func TestGap(t *testing.T) {
	text, err := os.ReadFile("../../../examples/surge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head := string(text[:bytes.Index(text, []byte(`"resource":"poddisruptionbudgets","rv":"350"}`))+len(`"resource":"poddisruptionbudgets","rv":"350"}`)])
	tape := put(t, t.TempDir(), "gap.yaml", head+"\n"+`--- {"at":"5s","type":"GAP","resource":"pods"}`+"\n"+`--- {"at":"9s","type":"SYNC","resource":"pods","rv":"400"}`+"\n")
	const want = "the moment is in a gap of the tape: pods are as they were before it"
	if said := leftOut(t, snapshot.Source{File: tape, At: 6 * time.Second}); !strings.Contains(said, want) {
		t.Errorf("found\n%s\nleft out, want %q", said, want)
	}
	if said := leftOut(t, snapshot.Source{File: tape}); strings.Contains(said, want) {
		t.Errorf("found\n%s\nleft out before the gap", said)
	}
}

// TestUndated: a file that doesn't know when its cluster was read says so.
func TestUndated(t *testing.T) {
	got, err := read(t, snapshot.Source{File: "-", In: strings.NewReader(strings.ReplaceAll(list(), "2026-11-19T22", "1970-01-01T00"))})
	if err != nil || !strings.HasSuffix(got, "; as it was at a time that isn't known") {
		t.Errorf("found %q, error %v: want a time that isn't known", got, err)
	}
}

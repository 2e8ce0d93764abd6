package formats_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/formats"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

// imported makes a tape of a dump, and tells how.
func imported(t testing.TB, d *formats.Dump, err error) (tape string, said []string, _ error) {
	t.Helper()
	if err != nil {
		return "", nil, err
	}
	defer d.Close()
	var out bytes.Buffer
	sum, err := recorder.Import(t.Context(), d.Reader, recorder.ImportOptions{
		Input: "it", Name: "roll", Torn: d.Torn,
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.NewWriter(&out, h) },
	})
	return out.String(), append([]string{d.Format}, append(d.LeftOut, sum.LeftOut...)...), err
}

func fromBytes(t testing.TB, raw []byte) (string, []string, error) {
	t.Helper()
	d, err := formats.Open(t.Context(), bytes.NewReader(raw))
	return imported(t, d, err)
}

// textOf is all of a dump.
func textOf(t testing.TB, d *formats.Dump) string {
	t.Helper()
	text, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// feed is what a replay of a tape tells.
func feed(t *testing.T, tape string) string {
	t.Helper()
	r, err := timeline.NewReader(strings.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	o.Verbose = true
	f := observe.New(r.Header(), o)
	var lines strings.Builder
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		entries, err := f.Apply(ev)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			fmt.Fprintln(&lines, e)
		}
	}
}

// clean fails where a Secret, or an environment, is on a tape.
func clean(t *testing.T, tape string) {
	t.Helper()
	for _, canary := range []string{"hunter2", "aHVudGVyMg", "kind: Secret"} {
		if strings.Contains(tape, canary) {
			t.Errorf("found %q on the tape:\n%s", canary, tape)
		}
	}
}

// valid fails where a tape breaks an invariant of clusters.
func valid(t *testing.T, tape string) {
	t.Helper()
	r, err := timeline.NewReader(strings.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	report, err := inspect.Check(r, inspect.CheckOptions(r.Header()))
	if err != nil || len(report.Violations) > 0 {
		t.Errorf("found %v and the violations %v", err, report.Violations)
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The files of testdata are made up after the formats as their programs write them: audit events
// (k8s.io/apiserver, pkg/apis/audit/v1/types.go), CloudWatch's FilterLogEvents, LogEntry with AuditLog
// of Cloud Logging (google/cloud/audit/audit_log.proto), resource logs of Azure Monitor, ResourcePatches
// (sigs.k8s.io/kwok, pkg/kwokctl/snapshot/save.go), records of phenixblue/k8shark
// (internal/archive/format/format.go), traces of acrlabs/simkube (sk-store/src/trace.rs), oc adm inspect
// (openshift/oc, pkg/cli/admin/inspect) and kubectl cluster-info dump.
func TestFormats(t *testing.T) {
	for _, name := range []string{"audit.log", "kwok.yaml", "k8shark.jsonl", "simkube.json"} {
		t.Run(name, func(t *testing.T) {
			tape, said, err := fromBytes(t, read(t, name))
			if err != nil {
				t.Fatal(err)
			}
			clean(t, tape)
			valid(t, tape)
			base := strings.TrimSuffix(name, filepath.Ext(name))
			golden.Assert(t, base+".tape", tape)
			golden.Assert(t, base+".feed", strings.Join(said, "\n")+"\n\n"+feed(t, tape))
		})
	}
	for _, name := range []string{"must-gather", "cluster-info"} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join("testdata", name)
			d, err := formats.OpenFolder(t.Context(), folder)
			tape, said, err := imported(t, d, err)
			if err != nil {
				t.Fatal(err)
			}
			clean(t, tape)
			golden.Assert(t, name+".tape", "# "+strings.Join(said, "\n# ")+"\n"+tape)
			again, _, err := fromBytes(t, compressed(t, tarOf(t, folder)))
			if err != nil || again != tape {
				t.Errorf("as a tar: found %v and\n%s\nwant\n%s", err, again, tape)
			}
		})
	}
}

// What a cloud's log service exports of a log gives the same tape as the log.
func TestClouds(t *testing.T) {
	want, _, err := fromBytes(t, read(t, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"eks.json", "gke.json", "aks.json"} {
		got, said, err := fromBytes(t, read(t, name))
		if err != nil || got != want {
			t.Errorf("%s (%q): found %v and\n%s\nwant\n%s", name, said, err, got, want)
		}
	}
	for form, wrap := range map[string]func(line string) string{
		"logs insights": func(l string) string { return fmt.Sprintf(`{"@timestamp":"x","@message":%q}`, l) },
		"query results": func(l string) string { return fmt.Sprintf(`{"results":[[{"field":"@message","value":%q}]]}`, l) },
		"subscription": func(l string) string {
			return fmt.Sprintf(`{"messageType":"DATA_MESSAGE","logEvents":[{"id":"1","message":%q}]}`, l)
		},
		"parsed by logs insights": func(l string) string { return `{"@message":` + l + `}` },
		"export to S3":            func(l string) string { return "2026-11-20T10:00:00.000Z " + l },
		"AzureDiagnostics":        func(l string) string { return fmt.Sprintf(`{"Category":"kube-audit","log_s":%q}`, l) },
		"event hub":               func(l string) string { return fmt.Sprintf(`{"records":[{"properties":{"log":%q}}]}`, l) },
		"event list": func(l string) string {
			return `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[` + l + `]}`
		},
		"AKSAudit": aksAudit,
		"twice":    func(l string) string { return l + "\n" + l },
	} {
		var log strings.Builder
		for line := range strings.Lines(string(read(t, "audit.log"))) {
			log.WriteString(wrap(strings.TrimSpace(line)) + "\n")
		}
		if got, said, err := fromBytes(t, []byte(log.String())); err != nil || got != want {
			t.Errorf("%s (%q): found %v and\n%s", form, said, err, got)
		}
	}
}

func aksAudit(line string) string {
	var m map[string]json.RawMessage
	_ = json.Unmarshal([]byte(line), &m) // a line of testdata
	row := map[string]any{"TimeGenerated": "2026-11-20T10:00:00Z"}
	for member, column := range map[string]string{
		"auditID": "AuditId", "stage": "Stage", "verb": "Verb", "requestURI": "RequestUri", "userAgent": "UserAgent", "user": "User",
		"objectRef": "ObjectRef", "responseStatus": "ResponseStatus", "requestReceivedTimestamp": "RequestReceivedTime", "stageTimestamp": "StageReceivedTime",
	} {
		row[column] = m[member]
	}
	row["RequestObject"], row["ResponseObject"] = string(m["requestObject"]), string(m["responseObject"])
	out, _ := json.Marshal(row) // nothing in it can fail
	return string(out)
}

// Archives of k8shark hold the same records in a zip, or, of its first version, in a tar.
func TestSharkArchives(t *testing.T) {
	want, _, err := fromBytes(t, read(t, "k8shark.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var zipped, tarred bytes.Buffer
	z, a := zip.NewWriter(&zipped), tar.NewWriter(&tarred)
	put := func(name string, content []byte) {
		f, err := z.Create("k8shark-capture/" + name + ".zst")
		if err == nil {
			_, err = f.Write(zstded(t, content))
		}
		if err == nil {
			err = a.WriteHeader(&tar.Header{Name: "k8shark-capture/" + name, Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o600})
		}
		if err == nil {
			_, err = a.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for line := range bytes.Lines(read(t, "k8shark.jsonl")) {
		n++
		put(fmt.Sprintf("records/%d.json", n), line)
	}
	put("index.json", []byte(`{"entries":{}}`))
	if err := errors.Join(z.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	for form, raw := range map[string][]byte{"zip": zipped.Bytes(), "tar.gz": compressed(t, tarred.Bytes())} {
		if got, said, err := fromBytes(t, raw); err != nil || got != want {
			t.Errorf("%s (%q): found %v and\n%s\nwant\n%s", form, said, err, got, want)
		}
	}
}

// A trace of SimKube is MessagePack.
func TestSimKubeBinary(t *testing.T) {
	d := json.NewDecoder(bytes.NewReader(read(t, "simkube.json")))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := fromBytes(t, sorted)
	if err != nil {
		t.Fatal(err)
	}
	packed := pack(nil, v)
	if got, said, err := fromBytes(t, packed); err != nil || got != want {
		t.Errorf("%q: found %v and\n%s\nwant\n%s", said, err, got, want)
	}
	if _, _, err := fromBytes(t, packed[:len(packed)-9]); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("cut off: found %v", err)
	}
}

// pack writes MessagePack, in the forms that rmp_serde chooses.
func pack(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		b = binary.BigEndian.AppendUint16(append(b, 0xde), uint16(len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = pack(pack(b, k), v[k])
		}
	case []any:
		b = append(b, 0x90|byte(len(v)))
		for _, e := range v {
			b = pack(b, e)
		}
	case string:
		b = append(append(b, 0xd9, byte(len(v))), v...)
	case json.Number:
		n, _ := v.Int64() // all of testdata's are
		if n >= 0 && n < 128 {
			return append(b, byte(n))
		}
		b = binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(n))
	case bool:
		b = append(b, 0xc2)
		if v {
			b[len(b)-1]++
		}
	default:
		b = append(b, 0xc0)
	}
	return b
}

func compressed(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t testing.TB, raw []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(raw, nil)
}

func tarOf(t *testing.T, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	a := tar.NewWriter(&b)
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err == nil {
			err = a.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Typeflag: tar.TypeReg, Size: int64(len(raw)), Mode: 0o600})
		}
		if err == nil {
			_, err = a.Write(raw)
		}
		return err
	})
	if err := errors.Join(err, a.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What can't be read is refused by what was found.
func TestRefused(t *testing.T) {
	line := string(read(t, "audit.log"))
	kwok := string(read(t, "kwok.yaml"))
	for input, want := range map[string]string{
		"once upon a time\n":                                                `found "once upon a time", want watch events as JSON, an audit log (audit.k8s.io/v1`,
		`{"once":"upon","a":"time","there":"was"}`:                          `found "{\"once\":\"upon\",\"a\":\"time\",\"there\":\"was\"}", want watch events as JSON`,
		`{"events":[{"logStreamName":"authenticator","message":"x"}]}`:      "found no audit event",
		strings.Replace(line, "audit.k8s.io/v1", "audit.k8s.io/v1beta1", 1): `found an audit event of "audit.k8s.io/v1beta1": want audit.k8s.io/v1`,
		line + `{"auditID":}` + "\n" + line:                                 "byte 2",
		`{"auditID":"1","stage":"ResponseComplete"}`:                        "without a time",
		`{"message":"no event","logEvents":[{"message":"x"}]}`:              "found no audit event",
		strings.Replace(kwok, "x-k8s.io/v1alpha1", "x-k8s.io/v1", 1):        `found a ResourcePatch of "action.kwok.x-k8s.io/v1", want action.kwok.x-k8s.io/v1alpha1`,
		strings.Replace(kwok, `"create"`, `"conjure"`, 1):                   "want create, patch or delete",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n": "found YAML objects without a ResourcePatch: " +
			"want a recording of kwokctl; of a cluster's state what kubectl get … -o json prints",
		"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n": "found YAML objects without a ResourcePatch",
		"kind: Node\n" + strings.Repeat("a", 17<<20):                                                  "more than 16 MiB",
		strings.Replace(string(read(t, "simkube.json")), `"version": 2`, `"version": 1`, 1):           "found version 1, want 2",
		"age-encryption.org/v1\n":                           "decrypt it first",
		"apiVersion: nodesim.dev/v1\nkind: Timeline\n---\n": "found a tape",
		"PK\x03\x04 and nothing":                            "a capture that was interrupted has no index",
		"\x81\xa1a\xc1":                                     "found the type 0xc1",
		strings.Repeat("\x91", 300):                         "found",
		strings.Repeat("\x81", 300):                         "200 deep",
	} {
		_, _, err := fromBytes(t, []byte(input))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: found %v, want %q", input, err, want)
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := formats.OpenFolder(t.Context(), folder)
	if err == nil || !strings.Contains(err.Error(), "found notes.txt: want what must-gather") {
		t.Errorf("a folder: found %v", err)
	}
	if _, _, err := fromBytes(t, compressed(t, compressed(t, compressed(t, []byte("{}"))))); err == nil {
		t.Error("compressed three times: found no error")
	}
}

// A log whose last line is cut off makes a tape without an END.
func TestTorn(t *testing.T) {
	for _, name := range []string{"audit.log", "kwok.yaml", "k8shark.jsonl"} {
		raw := read(t, name)
		tape, said, err := fromBytes(t, raw[:len(raw)-30])
		if err != nil || strings.Contains(tape, `"type":"END"`) || !strings.Contains(strings.Join(said, "\n"), "cut off") {
			t.Errorf("%s: found %v, %q and\n%s", name, err, said, tape)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"audit.log", "eks.json", "gke.json", "aks.json", "kwok.yaml", "k8shark.jsonl", "simkube.json"} {
		f.Add(read(f, name))
	}
	f.Add(pack(nil, map[string]any{"version": json.Number("2"), "events": []any{}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tape, _, err := fromBytes(t, raw)
		if err != nil {
			return
		}
		r, err := timeline.NewReader(strings.NewReader(tape))
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("a tape that can't be read: %v\n%s", err, tape)
		}
	})
}

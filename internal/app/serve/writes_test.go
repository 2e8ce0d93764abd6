package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/app/serve"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// A write is said in words, and is a line after those that are there.
func TestWritesAreSaidAndLogged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "writes.jsonl")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	w, err := serve.NewWrites(func(line string) { said = append(said, line) }, file)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(apiserver.Write{At: 92 * time.Second, Verb: "patch", Resource: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, Name: "a", Manager: "kubectl-label", DryRun: true, Code: 200})
	w.Record(apiserver.Write{Verb: "create", Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Subresource: "eviction", Namespace: "shop", Name: "web-1", Code: 429, Reason: metav1.StatusReasonTooManyRequests})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"T+1m32.000s  write patch (dry run) nodes a by kubectl-label",
		"T+0.000s  write create pods/eviction shop/web-1: refused with 429 TooManyRequests",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +said):\n%s", diff)
	}
	log, err := os.ReadFile(file)
	if lines := strings.Split(string(log), "\n"); err != nil || len(lines) != 4 || lines[0] != "{}" || !strings.HasPrefix(lines[1], `{"at":"92s","verb":"patch"`) {
		t.Errorf("%v: %q", err, log)
	}
}

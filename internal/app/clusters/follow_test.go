package clusters

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/localcluster"
)

// gone is a writer that ends the cluster when it has been handed the first lines, and adds one before.
type gone struct {
	got bytes.Buffer // not embedded: io.Copy would find its ReadFrom
	log string
	t   *testing.T
}

func (g *gone) Write(p []byte) (int, error) {
	if g.got.Len() == 0 {
		file, err := os.OpenFile(g.log, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			g.t.Fatal(err)
		}
		if _, err := file.WriteString("last\n"); err != nil {
			g.t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			g.t.Fatal(err)
		}
		if err := os.Remove(g.log); err != nil {
			g.t.Fatal(err)
		}
	}
	return g.got.Write(p)
}

// A follower of a log has all of it when the cluster ends.
func TestFollow(t *testing.T) {
	r := Record{Name: "demo", Folder: t.TempDir()}
	log := localcluster.LogIn(r.Folder, localcluster.Scheduler)
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte("first\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var once bytes.Buffer
	if err := r.CopyLog(t.Context(), &once, localcluster.Scheduler, false); err != nil || once.String() != "first\n" {
		t.Errorf("found %q, %v", once.String(), err)
	}
	all := gone{log: log, t: t}
	if err := r.CopyLog(t.Context(), &all, localcluster.Scheduler, true); err != nil || all.got.String() != "first\nlast\n" {
		t.Errorf("found %q, %v", all.got.String(), err)
	}
	for component, want := range map[string]string{
		localcluster.Etcd: "has logged nothing yet", "kube-shceduler": "did you mean kube-scheduler?", "kubelet": "want etcd, kube-apiserver, ",
	} {
		if err := r.CopyLog(t.Context(), &once, component, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", component, err, want)
		}
	}
}

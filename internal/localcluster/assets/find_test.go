package assets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes a program and, if whole, its receipt.
func put(t *testing.T, folder, name, text string, whole bool) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if whole {
		if err := os.WriteFile(receipt(path), fmt.Appendf(nil, "%d\n", len(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func ownFolder(t *testing.T) string {
	t.Helper()
	t.Setenv("NODESIM_CACHE", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", "")
	folder, err := folderOf(KubernetesVersion)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestFindWantsAWholeBinary(t *testing.T) {
	folder := ownFolder(t)
	refused := func(why string) {
		t.Helper()
		path, err := Find("etcd")
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "run `make controlplane`") {
			t.Errorf("found %q, %v, want an error that says %q and what to run", path, err, why)
		}
	}
	refused("not built yet")
	put(t, folder, "etcd", "program", false)
	refused("its build did not end")
	path := put(t, folder, "etcd", "program", true)
	if got, err := Find("etcd"); got != path || err != nil {
		t.Errorf("found %q, %v, want %q", got, err, path)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	refused("damaged one of 3 bytes, want 7")
}

func TestFindPrefersWhatTheUserNames(t *testing.T) {
	folder := ownFolder(t)
	foreign := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", foreign)
	ours := put(t, folder, "kwok", "ours", true)
	theirs := put(t, foreign, "etcd", "theirs", false)
	put(t, folder, "etcd", "ours", true)
	for name, want := range map[string]string{"etcd": theirs, "kwok": ours} {
		if got, err := Find(name); got != want || err != nil {
			t.Errorf("%s: found %q, %v, want %q", name, got, err, want)
		}
	}
	// Our own folder, named by the user, is still our own: receipts count.
	t.Setenv("KUBEBUILDER_ASSETS", folder)
	put(t, folder, "kubectl", "half", false)
	if got, err := Find("kubectl"); err == nil {
		t.Errorf("found %q without a receipt, want an error", got)
	}
}

package clusters

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/localcluster"
)

// claimed takes a name as Up does, without programs.
func claimed(t *testing.T, name string) *Cluster {
	t.Helper()
	c, err := claim(t.Context(), Options{ControlPlane: localcluster.Options{Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func names(t *testing.T) string {
	t.Helper()
	list, err := List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range list {
		all = append(all, r.Name+" "+string(r.State))
	}
	return strings.Join(all, ", ")
}

func TestNamesOfTheLiving(t *testing.T) {
	t.Setenv("NODESIM_CACHE", filepath.Join(t.TempDir(), "no[t] a pattern"))
	if got := names(t); got != "" {
		t.Errorf("found %q, want none", got)
	}
	two, one := claimed(t, "two"), claimed(t, "one")
	if got := names(t); got != "one starting, two starting" {
		t.Errorf("found %q", got)
	}
	_, err := claim(t.Context(), Options{ControlPlane: localcluster.Options{Name: "one"}})
	if err == nil || !strings.Contains(err.Error(), `cluster "one": is there already, kept by process `) {
		t.Errorf("a second one: found %v", err)
	}
	for name, want := range map[string]string{
		"three":     `cluster "three": found none of that name: did you mean two?`,
		"elsewhere": `cluster "elsewhere": found none of that name: want one, two`,
		"On_e":      `cluster "On_e": want a name of at most 40 small letters, digits and hyphens between them`,
		"../one":    `cluster "../one": want a name of at most 40 small letters, digits and hyphens between them`,
	} {
		if _, err := Find(t.Context(), name); err == nil || err.Error() != want && name != "three" {
			t.Errorf("%s: found %v, want %s", name, err, want)
		}
	}
	// The keeper of one has died: its lock is free. The next lookup sweeps up.
	if err := one.unlock(); err != nil {
		t.Fatal(err)
	}
	if got := names(t); got != "two starting" {
		t.Errorf("found %q, want the living alone", got)
	}
	if _, err := os.Stat(one.record.Folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what the dead has left: found %v, want it gone", err)
	}
	if err := errors.Join(os.RemoveAll(two.record.Folder), two.unlock()); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), "two"); err == nil || !strings.Contains(err.Error(), "found none at all: want one that nodesim cluster up has started") {
		t.Errorf("found %v", err)
	}
}

// Of how a cluster in the background has ended there is word, until its name is taken again or it is taken down.
func TestWordOfAnEnd(t *testing.T) {
	t.Setenv("NODESIM_CACHE", t.TempDir())
	end := func() {
		c := claimed(t, "demo")
		if err := errors.Join(c.Note(errors.New("etcd ended by itself")), os.RemoveAll(c.record.Folder), c.unlock()); err != nil {
			t.Fatal(err)
		}
	}
	end()
	find := func() string { _, err := Find(t.Context(), "demo"); return err.Error() }
	if got := find(); !strings.HasPrefix(got, `cluster "demo": it has ended, at `) || !strings.HasSuffix(got, ": etcd ended by itself") {
		t.Errorf("found %s", got)
	}
	if err := Down(t.Context(), "demo"); err == nil || !strings.Contains(err.Error(), "it has ended") {
		t.Errorf("down: found %v, want to be told once more", err)
	}
	if got := find(); !strings.Contains(got, "found none at all") {
		t.Errorf("found %s, want the word gone", got)
	}
	end()
	c := claimed(t, "demo")
	defer func() { _ = c.unlock() }()
	if got := names(t); got != "demo starting" {
		t.Errorf("found %q", got)
	}
}

func TestAKubeconfigThatIsThere(t *testing.T) {
	t.Setenv("NODESIM_CACHE", t.TempDir())
	folder := t.TempDir()
	file := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(file, []byte("clusters: [prod]"), 0o600); err != nil {
		t.Fatal(err)
	}
	up := func(path string) string {
		_, err := Up(t.Context(), Options{Kubeconfig: path, ControlPlane: localcluster.Options{Name: "demo"}})
		return err.Error()
	}
	if got := up(file); !strings.Contains(got, "is there already: want a file that isn't") {
		t.Errorf("found %s", got)
	}
	if got := up(filepath.Join(folder, "none", "kubeconfig")); !strings.Contains(got, "found no folder "+filepath.Join(folder, "none")) {
		t.Errorf("found %s", got)
	}
	c := claimed(t, "other")
	defer func() { _ = c.unlock() }()
	c.record.State, c.record.Kubeconfig = Running, file
	if err := c.record.write(); err != nil {
		t.Fatal(err)
	}
	if got := up(file); !strings.Contains(got, `is that of cluster "other", which runs`) {
		t.Errorf("found %s", got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "clusters: [prod]" {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

// A start that is given up leaves no name.
func TestAStartThatFails(t *testing.T) {
	t.Setenv("NODESIM_CACHE", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	if _, err := Up(t.Context(), Options{ControlPlane: localcluster.Options{Name: "demo"}}); err == nil || !strings.Contains(err.Error(), "found no program go") {
		t.Errorf("found %v", err)
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("NODESIM_CACHE"), "clusters", "[^.]*"))
	if err != nil || len(left) > 0 {
		t.Errorf("found %v, %v, want nothing left", left, err)
	}
	given, up := context.WithCancel(t.Context())
	up()
	if _, err := List(given); err != nil {
		t.Errorf("a list that waits for nobody: %v", err)
	}
}

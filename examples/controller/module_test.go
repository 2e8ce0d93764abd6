package controller

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module  = "github.com/nodesim/nodesim"
	version = "v0.1.0"
	root    = "../.."
)

// TestInAModuleOfItsOwn does what docs/testing.md says, in a folder outside this module: it gets a tagged version from a
// module proxy, copies a tape, and tests the controller of this folder on it. Go refuses a replace of the main module's
// own in a module that is got, so that a go.mod which nobody can get fails here.
func TestInAModuleOfItsOwn(t *testing.T) {
	proxy, yours := t.TempDir(), t.TempDir()
	release(t, proxy)
	copyFile(t, filepath.Join(yours, "controller.go"), "controller.go")
	copyFile(t, filepath.Join(yours, "testdata", "surge.yaml"), filepath.Join(root, "examples", "surge.yaml"))
	copyFile(t, filepath.Join(yours, "testdata", "surge.golden"), filepath.Join("testdata", "surge.golden"))
	copyFile(t, filepath.Join(yours, "go.sum"), filepath.Join(root, "go.sum")) // so that no database of checksums is asked
	write(t, filepath.Join(yours, "controller_test.go"), firstTest(t))

	command := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = yours
		cmd.Env = append(os.Environ(),
			"GOFLAGS=-trimpath -modcacherw", "GOWORK=off", "GO111MODULE=on", "GOMODCACHE="+filepath.Join(proxy, "cache"),
			"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download"))+","+goEnv(t, "GOPROXY"),
			"GONOSUMDB="+strings.TrimPrefix(goEnv(t, "GONOSUMDB")+","+module, ","),
		)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	command("go", "mod", "init", "example.com/reporter")
	command("go", "get", module+"@"+version)
	command("go", "mod", "tidy")
	command("go", "test", "-vet=off", "-count=1", ".")

	modules := strings.Fields(command("go", "list", "-m", "all"))
	var is struct {
		Replace []any
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(command("go", "mod", "edit", "-json")), &is); err != nil {
		t.Fatal(err)
	}
	required := slices.ContainsFunc(is.Require, func(r struct{ Path, Version string }) bool { return r.Path == module && r.Version == version })
	if len(is.Replace) > 0 || !required || !slices.Contains(modules, module) {
		t.Errorf("found %+v in go.mod: want %s %s, and no replace", is, module, version)
	}
	packages := strings.Fields(command("go", "list", "-deps", "-test", "."))
	t.Logf("%d packages are compiled for the test; go.mod names %d modules, and knows of %d", len(packages), len(is.Require), len(modules)/2)
}

// firstTest is the test that docs/testing.md begins with.
func firstTest(t *testing.T) string {
	page, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "\n```go controller_test.go\n")
	code, _, ends := strings.Cut(after, "\n```\n")
	if !found || !ends {
		t.Fatal("docs/testing.md: found no block of controller_test.go")
	}
	return code + "\n"
}

// release writes this module, as it would be tagged, into the folder of a module proxy (https://go.dev/ref/mod#goproxy-protocol).
func release(t *testing.T, proxy string) {
	folder := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	write(t, filepath.Join(folder, "list"), version+"\n")
	write(t, filepath.Join(folder, version+".info"), `{"Version":"`+version+`"}`)
	copyFile(t, filepath.Join(folder, version+".mod"), filepath.Join(root, "go.mod"))
	file, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // as below, if a part of it fails
	w := zip.NewWriter(file)
	for _, name := range releasedFiles(t) {
		part, err := w.Create(module + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		from, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(part, from)
		_ = from.Close() // it was only read
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// releasedFiles are the files of the module: those in Git, and new ones, but for those of modules below it.
func releasedFiles(t *testing.T) (names []string) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var others []string
	for _, name := range all {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			others = append(others, path.Dir(name)+"/")
		}
	}
	for _, name := range all {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		within := slices.ContainsFunc(others, func(other string) bool { return strings.HasPrefix(name, other) })
		if err == nil && info.Mode().IsRegular() && !within {
			names = append(names, name)
		}
	}
	return names
}

func goEnv(t *testing.T, name string) string {
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func copyFile(t *testing.T, to, from string) {
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(text))
}

func write(t *testing.T, to, text string) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Package assets knows where the binaries of a control plane are, and builds the ones that are missing.
//
// In: KUBEBUILDER_ASSETS (a folder of other binaries, which always comes first) and NODESIM_CACHE (where
// ours are kept; the user's cache folder otherwise). Out: a path for each binary, or an error that says what to run.
//
// A binary of ours counts only with its receipt beside it, written after the binary was built, run and moved into
// place: an interrupted build, a full disk or two builds at once leave nothing that looks finished. The folder's
// name holds the versions, so that a newer version never meets an older one.
//
// The package uses the standard library and a leaf alone, so that `make controlplane` compiles in a second on a fresh machine.
// It must never write into the folder that KUBEBUILDER_ASSETS names.
package assets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// The versions that test/controlplane builds. A test checks them against its go.mod files.
const (
	KubernetesVersion = "1.36.3"
	EtcdVersion       = "3.6.8"
	KwokVersion       = "0.8.0"
)

// A Binary is one program of the control plane.
type Binary struct {
	Name    string   // file name, as KUBEBUILDER_ASSETS spells it
	Module  string   // folder below test/controlplane that holds the go.mod
	Package string   // what is built there
	Version string   // what the binary has to say about itself
	Ask     []string // the arguments that make it say so
}

// Kwok is built for benchmarks alone, which run it beside nodesim. It has a module of its own, with libraries of another
// version, all of which would be compiled for it.
const Kwok = "kwok"

// Binaries are all programs, in the order in which they are built: the two that most tests need come first.
func Binaries() []Binary {
	kubernetes := func(name string, ask ...string) Binary {
		return Binary{
			Name: name, Module: ".", Package: "k8s.io/kubernetes/cmd/" + name,
			Version: "v" + KubernetesVersion, Ask: ask,
		}
	}
	return []Binary{
		{Name: "etcd", Module: ".", Package: "./etcd", Version: EtcdVersion, Ask: []string{"--version"}},
		kubernetes("kube-apiserver", "--version"),
		kubernetes("kube-controller-manager", "--version"),
		kubernetes("kube-scheduler", "--version"),
		kubernetes("kubectl", "version", "--client"),
		{
			Name: Kwok, Module: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok",
			Version: KwokVersion, Ask: []string{"--version"},
		},
	}
}

// Cache is nodesim's own folder in the user's cache, or NODESIM_CACHE. It need not exist.
func Cache() (string, error) {
	cache := os.Getenv("NODESIM_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find a folder for the control plane: %w; set NODESIM_CACHE", err)
		}
		cache = filepath.Join(user, "nodesim")
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return "", fmt.Errorf("find a folder for the control plane: %w", err)
	}
	return cache, nil
}

// Folder is where our own binaries are kept. It need not exist.
func Folder() (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	key := fmt.Sprintf("kubernetes-%s_etcd-%s_kwok-%s_%s-%s",
		KubernetesVersion, EtcdVersion, KwokVersion, runtime.GOOS, runtime.GOARCH)
	return filepath.Join(cache, "controlplane", key), nil
}

// Find returns the path of a binary: the one of KUBEBUILDER_ASSETS if it is there, else ours if it is whole.
func Find(name string) (string, error) {
	folder, err := Folder()
	if err != nil {
		return "", err
	}
	foreign := foreignFolder(folder)
	if foreign != "" {
		if path := filepath.Join(foreign, name); executable(path) {
			return path, nil
		}
	}
	path := filepath.Join(folder, name)
	if err := checkReceipt(path); err != nil {
		where := folder
		if foreign != "" {
			where = foreign + " (KUBEBUILDER_ASSETS) or " + folder
		}
		return "", fmt.Errorf("no %s in %s: %w; run `make controlplane` to build it", name, where, err)
	}
	return path, nil
}

// foreignFolder returns what KUBEBUILDER_ASSETS names, unless that is our own folder, where receipts count.
func foreignFolder(ours string) string {
	named := os.Getenv("KUBEBUILDER_ASSETS")
	if named == "" {
		return ""
	}
	if path, err := filepath.Abs(named); err == nil && path == ours {
		return ""
	}
	return named
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// receipt is the file that says that the binary beside it is whole.
func receipt(path string) string { return path + ".whole" }

// checkReceipt says why the binary at path doesn't count. The size catches what a crash of the machine can do to a
// file after its rename; `make controlplane` also runs it.
func checkReceipt(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return errors.New("not built yet")
	}
	text, err := os.ReadFile(receipt(path))
	if err != nil {
		return errors.New("its build did not end")
	}
	size, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || size != info.Size() || !executable(path) {
		return fmt.Errorf("found a damaged one of %d bytes, want %s", info.Size(), strings.TrimSpace(string(text)))
	}
	return nil
}

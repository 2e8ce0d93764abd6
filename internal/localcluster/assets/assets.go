// Package assets knows where the binaries of a control plane are, and downloads or builds the ones that are missing.
//
// In: KUBEBUILDER_ASSETS (a folder of other binaries, which comes first unless a version of Kubernetes is asked for) and
// NODESIM_CACHE (where ours are kept; the user's cache folder otherwise). Out: a path for each binary, or an error that
// says what to run.
//
// A program that was released for this platform, and whose checksum is in released.tsv, is downloaded (NODESIM_MIRROR
// says from where, or "off"). Any other, and each whose download fails, is built from Go modules, whose checksums are in
// the go.sum of test/controlplane.
//
// A binary of ours counts only with its receipt beside it, written after the binary was made, run and moved into
// place: an interrupted build or download, a full disk or two builds at once leave nothing that looks finished. The
// folder's name holds the versions, so that a newer version never meets an older one.
//
// The package uses the standard library and leaves alone, so that `make controlplane` compiles in seconds on a fresh
// machine. It must never write into the folder that KUBEBUILDER_ASSETS names, nor run a download that it hasn't verified.
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

// binaries are all programs with a version of Kubernetes, in the order in which they are made: the two that most tests
// need come first.
func binaries(version string) []Binary {
	module := minorOf(version)
	if version == KubernetesVersion {
		module = "."
	}
	kubernetes := func(name string, ask ...string) Binary {
		return Binary{
			Name: name, Module: module, Package: "k8s.io/kubernetes/cmd/" + name,
			Version: "v" + version, Ask: ask,
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

// folderOf is where our own binaries are kept, with a version of Kubernetes. It need not exist.
func folderOf(version string) (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	key := fmt.Sprintf("kubernetes-%s_etcd-%s_kwok-%s_%s-%s",
		version, EtcdVersion, KwokVersion, runtime.GOOS, runtime.GOARCH)
	return filepath.Join(cache, "controlplane", key), nil
}

// Find returns the path of a binary: the one of KUBEBUILDER_ASSETS if it is there, else ours if it is whole.
func Find(name string) (string, error) {
	folder, err := folderOf(KubernetesVersion)
	if err != nil {
		return "", err
	}
	return findIn(folder, foreignFolder(folder), name)
}

func findIn(folder, foreign, name string) (string, error) {
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

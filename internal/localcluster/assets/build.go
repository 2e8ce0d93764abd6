package assets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// Build makes every binary available that is not, and returns the folder to export as KUBEBUILDER_ASSETS: the one
// already named there, if no version is asked for, or ours. modules is the folder test/controlplane. Kwok is left out
// unless extras name it.
//
// Builds at the same time wait for one another. A cancelled context leaves whole binaries only; the next Build goes
// on from them.
func (s Supply) Build(ctx context.Context, modules string, extras ...string) (string, error) {
	o, err := s.open()
	if err != nil {
		return "", err
	}
	var missing []Binary
	for _, b := range binaries(o.version) {
		if b.Name == Kwok && !slices.Contains(extras, Kwok) {
			continue
		}
		if o.foreign != "" && executable(filepath.Join(o.foreign, b.Name)) {
			continue
		}
		missing = append(missing, b)
	}
	if o.foreign != "" && len(missing) > 0 {
		fmt.Fprintf(o.Log, "controlplane: KUBEBUILDER_ASSETS=%s has no %s; using those of %s\n",
			o.foreign, namesOf(missing), o.folder)
	}
	if err := o.make(ctx, modules, missing); err != nil {
		return "", err
	}
	if o.foreign != "" {
		return o.foreign, nil
	}
	return o.folder, nil
}

func namesOf(list []Binary) string {
	var all []string
	for _, b := range list {
		all = append(all, b.Name)
	}
	return strings.Join(all, ", ")
}

// make downloads or builds what isn't whole of a list.
func (o opened) make(ctx context.Context, modules string, list []Binary) (err error) {
	folder, log := o.folder, o.Log
	if len(list) == 0 || whole(ctx, folder, list) == nil {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("build the control plane: %w", err)
	}
	path := filepath.Join(folder, ".lock")
	unlock, err := atomicfile.Lock(ctx, path, func() { fmt.Fprintf(log, "controlplane: waiting for another build (%s)\n", path) })
	if err != nil {
		return fmt.Errorf("build the control plane: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	// The lock's former holder may have been killed; no other program can be building now.
	leftovers, err := fs.Glob(os.DirFS(folder), ".building-*")
	if err != nil {
		return fmt.Errorf("build the control plane: %w", err)
	}
	for _, old := range leftovers {
		if err := os.RemoveAll(filepath.Join(folder, old)); err != nil {
			return fmt.Errorf("build the control plane: remove a leftover: %w", err)
		}
	}
	scratch, err := os.MkdirTemp(folder, ".building-")
	if err != nil {
		return fmt.Errorf("build the control plane: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for i, b := range list {
		final := filepath.Join(folder, b.Name)
		if checkReceipt(final) == nil && b.prove(ctx, final) == nil {
			continue
		}
		if err := o.one(ctx, b, modules, scratch, fmt.Sprintf("%d of %d", i+1, len(list))); err != nil {
			return err
		}
	}
	return nil
}

// one downloads a binary, or builds it where that can't be done.
func (o opened) one(ctx context.Context, b Binary, modules, scratch, nth string) error {
	began := time.Now()
	took := func(what string) {
		fmt.Fprintf(o.Log, "controlplane: %s %s in %s\n", what, b.Name, time.Since(began).Round(time.Second))
	}
	release, missing := o.from.find(b)
	if missing == nil {
		missing = o.from.fetch(ctx, b, release, o.folder, scratch, o.Log)
		if missing == nil {
			took("downloaded")
			return nil
		}
		if ctx.Err() != nil {
			return missing
		}
		fmt.Fprintf(o.Log, "controlplane: %v: building %s from Go modules instead\n", missing, b.Name)
	}
	fmt.Fprintf(o.Log, "controlplane: building %s %s (%s)\n", b.Name, b.Version, nth)
	err := b.build(ctx, modules, scratch, filepath.Join(o.folder, b.Name), o.Offline, o.Log)
	switch {
	case errors.Is(err, errNoGo) && o.from != nil:
		return fmt.Errorf("build %s %s (%w): %w", b.Name, b.Version, missing, err)
	case err != nil:
		return fmt.Errorf("build %s %s: %w", b.Name, b.Version, err)
	}
	took("built")
	return nil
}

// whole reports whether every binary is there and runs.
func whole(ctx context.Context, folder string, list []Binary) error {
	for _, b := range list {
		path := filepath.Join(folder, b.Name)
		if err := checkReceipt(path); err != nil {
			return err
		}
		if err := b.prove(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (b Binary) build(ctx context.Context, modules, scratch, final string, offline bool, log io.Writer) error {
	fresh := filepath.Join(scratch, b.Name)
	compiler, err := exec.LookPath("go")
	if err != nil {
		return errNoGo
	}
	cmd := exec.CommandContext(ctx, compiler, "build", "-trimpath", "-ldflags", b.linkerFlags(), "-o", fresh, b.Package)
	cmd.Dir = filepath.Join(modules, b.Module)
	// Nothing of the caller's build settings may reach these: no workspace, no vendoring, no C compiler, and the
	// version control of this repository says nothing about them.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly -buildvcs=false",
		"GOOS=", "GOARCH=")
	if offline {
		cmd.Env = append(cmd.Env, "GOPROXY=off")
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = 5 * time.Second
	if err := patiently(cmd, b.Name, log); err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	if err := b.prove(ctx, fresh); err != nil {
		return err
	}
	return install(fresh, final)
}

// errNoGo says what is missing, and the ways out.
var errNoGo = errors.New("found no program go on the PATH: want Go 1.26 or later to build it with, or a folder with etcd, " +
	"kube-apiserver, kube-controller-manager and kube-scheduler in KUBEBUILDER_ASSETS (that of setup-envtest lacks the last two), " +
	"or a cluster that you have, such as one of kind, by its kubeconfig")

// patiently runs a compiler and says every now and then that it still does.
func patiently(cmd *exec.Cmd, name string, log io.Writer) error {
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(20 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			fmt.Fprintf(log, "controlplane: still building %s, for %s now\n", name, time.Since(began).Round(time.Second))
		}
	}
}

func (b Binary) linkerFlags() string {
	flags := []string{"-s", "-w"}
	if strings.HasPrefix(b.Package, "k8s.io/kubernetes/") {
		part := strings.Split(strings.TrimPrefix(b.Version, "v"), ".")
		for _, set := range []string{"gitVersion=" + b.Version, "gitMajor=" + part[0], "gitMinor=" + part[1]} {
			flags = append(flags, "-X", "k8s.io/component-base/version."+set)
		}
	}
	return strings.Join(flags, " ")
}

// prove runs the binary and wants its version in what it says.
func (b Binary) prove(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, b.Ask...)
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", path, strings.Join(b.Ask, " "), err, firstLine(said))
	}
	if !bytes.Contains(said, []byte(b.Version)) {
		return fmt.Errorf("%s %s: found %q, want version %s", path, strings.Join(b.Ask, " "), firstLine(said), b.Version)
	}
	return nil
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line
}

// install moves a proven binary into place and writes its receipt last.
func install(fresh, final string) error {
	if err := os.Remove(receipt(final)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.Open(fresh)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(fresh, final); err != nil {
		return err
	}
	note := fresh + ".whole"
	if err := os.WriteFile(note, fmt.Appendf(nil, "%d\n", info.Size()), 0o644); err != nil {
		return err
	}
	return os.Rename(note, receipt(final))
}

// Command image writes the container image of a release: an OCI image layout in a tar, for all architectures, which docker load,
// kind load image-archive, skopeo and crane read. The image has nodesim, certificates of public authorities, licences and a user,
// and nothing else: no shell, no package manager. It needs no daemon and no registry, and the same input gives the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "the version that is released, such as v0.1.0")
	commit := flag.String("commit", "", "the commit that is released")
	created := flag.String("created", "", "the time of that commit, in seconds since 1970")
	licenses := flag.String("licenses", "", "the file with the licences")
	out := flag.String("out", "", "the tar to write")
	flag.Parse()
	if err := run(*version, *commit, *created, *licenses, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run takes a program for each architecture, as amd64=FILE.
func run(version, commit, created, licenses, out string, programs []string) error {
	seconds, err := strconv.ParseInt(created, 10, 64)
	if err != nil || version == "" || out == "" || len(programs) == 0 {
		return fmt.Errorf("found version %q, created %q, out %q and %d programs: want -version v0.1.0 -created SECONDS -out FILE amd64=FILE",
			version, created, out, len(programs))
	}
	texts, err := os.ReadFile(licenses)
	if err != nil {
		return err
	}
	l := &layout{version: version, commit: commit, created: time.Unix(seconds, 0).UTC()}
	for _, program := range programs {
		arch, file, ok := strings.Cut(program, "=")
		if !ok {
			return fmt.Errorf("program %q: want one such as amd64=FILE", program)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := l.add(arch, text, texts); err != nil {
			return fmt.Errorf("image for %s: %w", arch, err)
		}
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := l.write(f); err != nil {
		_ = f.Close() // the first error says why
		return fmt.Errorf("write %s: %w", out, err)
	}
	return f.Close()
}

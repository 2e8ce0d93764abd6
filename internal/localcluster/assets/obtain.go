package assets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/localcluster/assets/download"
)

// longest is the most bytes that a download may have, and a program in an archive. The largest there is, kube-apiserver,
// has about 100 MB.
const longest = 1 << 30

// said is the time between two lines of progress.
const said = 5 * time.Second

// A source has released programs for downloading. A nil one has none.
type source struct {
	releases []Release
	mirror   *url.URL
	client   download.Client
	every    time.Duration // between two lines of progress

	lost []string // hosts to which there was no connection
}

// openSource returns the source that the environment allows, nil for none.
func openSource(offline bool) (*source, error) {
	base, off, err := mirror()
	if err != nil {
		return nil, err
	}
	if off || offline {
		return nil, nil
	}
	all, err := Releases()
	if err != nil {
		return nil, err
	}
	return &source{releases: all, mirror: base, every: said}, nil
}

// errNotReleased is of a program that has no row in released.tsv.
var errNotReleased = errors.New("no released program is known for this version and platform")

// find returns where a program was released for this platform.
func (s *source) find(b Binary) (Release, error) {
	if s != nil {
		at := slices.IndexFunc(s.releases, func(r Release) bool {
			return r.Program == b.Name && r.Version == strings.TrimPrefix(b.Version, "v") && r.Platform == Platform()
		})
		if at >= 0 {
			return s.releases[at], nil
		}
	}
	return Release{}, errNotReleased
}

// fetch downloads a program, and puts it in place if it runs. What is there of a download that was given up stays in the
// folder, for the next time.
func (s *source) fetch(ctx context.Context, b Binary, r Release, folder, scratch string, log io.Writer) error {
	address, err := r.from(s.mirror)
	if err != nil {
		return err
	}
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	shown := download.Shown(address)
	if slices.Contains(s.lost, at.Host) {
		return fmt.Errorf("download %s: there was no connection to %s before", shown, at.Host)
	}
	fmt.Fprintf(log, "controlplane: downloading %s %s from %s\n", b.Name, b.Version, shown)
	client := s.client
	client.Progress = progress(b.Name, s.every, log)
	arrived := filepath.Join(folder, ".download-"+b.Name+"-"+path.Base(at.Path))
	err = client.Fetch(ctx, download.File{URL: address, Sum: r.Sum, Limit: longest}, arrived)
	if err != nil {
		if errors.Is(err, download.ErrUnreachable) {
			s.lost = append(s.lost, at.Host)
		}
		return err
	}
	defer os.Remove(arrived) //nolint:errcheck // it is gone where it was the program; a rest is overwritten by the next download
	fresh := filepath.Join(scratch, b.Name+".downloaded")
	if r.Member == "" {
		err = os.Rename(arrived, fresh)
	} else {
		err = unpackMember(arrived, r.Member, fresh, longest)
	}
	if err == nil {
		err = os.Chmod(fresh, 0o755)
	}
	if err == nil {
		err = b.prove(ctx, fresh)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	return install(fresh, filepath.Join(folder, b.Name))
}

// progress writes a line now and then.
func progress(name string, every time.Duration, log io.Writer) func(done, total int64) {
	last := time.Now()
	return func(done, total int64) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %d", total>>20)
		}
		fmt.Fprintf(log, "controlplane: downloading %s: %d%s MiB\n", name, done>>20, of)
	}
}

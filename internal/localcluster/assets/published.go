package assets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/localcluster/assets/download"
)

// platforms are those for which programs are released.
var platforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"}

// A version in an address: what a maintainer types must not lead elsewhere.
var plainVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// Published returns the rows of released.tsv for versions of Kubernetes, and of etcd unless that is "", with the
// checksums that their servers publish, or the mirror of the environment. A program without one is left out, and named
// in log. A row of released.tsv with the same address and another checksum is an error.
func Published(ctx context.Context, log io.Writer, etcd string, kubernetes ...string) ([]Release, error) {
	base, off, err := mirror()
	switch {
	case err != nil:
		return nil, err
	case off:
		return nil, fmt.Errorf("environment variable %s=off: want it unset, or a mirror: checksums come from the network", MirrorVariable)
	}
	known, err := Releases()
	if err != nil {
		return nil, err
	}
	p := publisher{base: base, known: known, log: log}
	var all []Release
	if etcd != "" {
		if all, err = p.etcd(ctx, etcd); err != nil {
			return nil, err
		}
	}
	for _, v := range kubernetes {
		more, err := p.kubernetes(ctx, v)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

type publisher struct {
	base  *url.URL
	known []Release
	log   io.Writer
}

// kubernetes reads the checksum of each program: its file has the digest, and nothing or the program's name after it.
func (p publisher) kubernetes(ctx context.Context, version string) ([]Release, error) {
	if !plainVersion.MatchString(version) {
		return nil, fmt.Errorf("version %q of Kubernetes: want one such as %s", version, KubernetesVersion)
	}
	var all []Release
	for _, platform := range platforms {
		for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
			r := Release{
				Program: name, Version: version, Platform: platform,
				URL: "https://dl.k8s.io/release/v" + version + "/bin/" + platform + "/" + name,
			}
			text, err := p.read(ctx, Release{URL: r.URL + ".sha256"})
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(p.log, "checksums: %s %s for %s: not released\n", name, version, platform)
				continue
			}
			if err != nil {
				return nil, err
			}
			digest, _, _ := strings.Cut(strings.TrimSpace(text), " ")
			if r, err = p.with(r, digest); err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// etcd reads SHA256SUMS, whose lines are those of sha256sum(1).
func (p publisher) etcd(ctx context.Context, version string) ([]Release, error) {
	if !plainVersion.MatchString(version) {
		return nil, fmt.Errorf("version %q of etcd: want one such as %s", version, EtcdVersion)
	}
	folder := "https://github.com/etcd-io/etcd/releases/download/v" + version + "/"
	text, err := p.read(ctx, Release{URL: folder + "SHA256SUMS"})
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 {
			digests[strings.TrimPrefix(fields[1], "*")] = fields[0]
		}
	}
	var all []Release
	for _, platform := range platforms {
		name, kind := "etcd-v"+version+"-"+strings.ReplaceAll(platform, "/", "-"), ".tar.gz"
		if strings.HasPrefix(platform, "darwin") {
			kind = ".zip"
		}
		digest, is := digests[name+kind]
		if !is {
			fmt.Fprintf(p.log, "checksums: etcd %s for %s: not released\n", version, platform)
			continue
		}
		r, err := p.with(Release{Program: "etcd", Version: version, Platform: platform, URL: folder + name + kind, Member: name + "/etcd"}, digest)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// with sets the checksum, which must be that of released.tsv where that has the same file.
func (p publisher) with(r Release, digest string) (Release, error) {
	r.Sum = download.Sum("sha256:" + digest)
	if err := r.Sum.Check(); err != nil {
		return r, fmt.Errorf("%s: %w", r.URL, err)
	}
	at := slices.IndexFunc(p.known, func(k Release) bool { return k.URL == r.URL && strings.HasPrefix(string(k.Sum), "sha256:") })
	if at >= 0 && p.known[at].Sum != r.Sum {
		return r, fmt.Errorf("%s: found %s published, and %s in released.tsv: find out which is right before either is used", r.URL, r.Sum, p.known[at].Sum)
	}
	return r, nil
}

// read returns a small text; where there is none, the error is fs.ErrNotExist.
func (p publisher) read(ctx context.Context, r Release) (string, error) {
	address, err := r.from(p.base)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	shown := download.Shown(address)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		var asked *url.Error
		if errors.As(err, &asked) {
			err = asked.Err // without the address, which has the user
		}
		return "", fmt.Errorf("%s: %w", shown, err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return "", fmt.Errorf("%s: found 404 Not Found: %w", shown, fs.ErrNotExist)
	default:
		return "", fmt.Errorf("%s: found %s, want 200 OK", shown, response.Status)
	}
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return "", fmt.Errorf("%s: %w", shown, err)
	}
	return string(text), nil
}

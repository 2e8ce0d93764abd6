package assets

import (
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/nodesim/nodesim/internal/localcluster/assets/download"
)

// A Release is a program that was released, and can be downloaded.
type Release struct {
	Program, Version string
	Platform         string // such as linux/amd64
	Sum              download.Sum
	URL              string
	Member           string // the program's name in the archive at URL; "" where that is the program
}

//go:embed released.tsv
var released string

// Releases are the rows of released.tsv.
func Releases() ([]Release, error) {
	var all []Release
	number := 0
	for line := range strings.Lines(released) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cell := strings.Split(line, "\t")
		if len(cell) != 6 {
			return nil, fmt.Errorf("released.tsv: line %d: found %d columns, want 6", number, len(cell))
		}
		r := Release{Program: cell[0], Version: cell[1], Platform: cell[2], Sum: download.Sum(cell[3]), URL: cell[4]}
		if cell[5] != "-" {
			r.Member = cell[5]
		}
		if err := r.Sum.Check(); err != nil {
			return nil, fmt.Errorf("released.tsv: line %d: %w", number, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Row is the line of released.tsv.
func (r Release) Row() string {
	member := r.Member
	if member == "" {
		member = "-"
	}
	return strings.Join([]string{r.Program, r.Version, r.Platform, string(r.Sum), r.URL, member}, "\t")
}

// Platform is that of this program, as released.tsv has it.
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// MirrorVariable names the environment variable that says from where programs are downloaded: "off" is from nowhere, an
// address is that of a mirror, with the hosts as its first folders (https://mirror.example.com/dl.k8s.io/release/…).
const MirrorVariable = "NODESIM_MIRROR"

// mirror says where the environment wants downloads to come from.
func mirror() (base *url.URL, off bool, err error) {
	text := os.Getenv(MirrorVariable)
	switch text {
	case "":
		return nil, false, nil
	case "off":
		return nil, true, nil
	}
	base, err = url.Parse(text)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return nil, false, fmt.Errorf("environment variable %s=%q: want off, or the address of a mirror that begins with https://", MirrorVariable, download.Shown(text))
	}
	return base, false, nil
}

// from is the address of a release at a mirror, if there is one.
func (r Release) from(base *url.URL) (string, error) {
	if base == nil {
		return r.URL, nil
	}
	address, err := url.Parse(r.URL)
	if err != nil {
		return "", err
	}
	return base.JoinPath(address.Host, address.Path).String(), nil
}

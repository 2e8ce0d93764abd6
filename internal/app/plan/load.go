package plan

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"

	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// headSize is how much of a file says whether it is a scenario.
const headSize = 64 << 10

// IsScenario reports whether a file, or - for standard input, holds a scenario, and no tape and no objects of a cluster. It returns
// what is to be read in place of standard input.
func IsScenario(file string, in io.Reader) (is bool, rest io.Reader, err error) {
	if file == "-" {
		r := bufio.NewReaderSize(in, headSize)
		head, err := r.Peek(headSize)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return isScenario(head), r, err
	}
	f, err := os.Open(file)
	if err != nil {
		if _, unknown := scenarios.Find(file); errors.Is(err, fs.ErrNotExist) && unknown == nil {
			return false, in, fmt.Errorf("file %q: there is none of that name: did you mean --simulate %s?", file, file)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: want a scenario file, a tape, what kubectl get -o json prints, or a folder of kubectl cluster-info dump or must-gather", err)
		}
		return false, in, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return false, in, err
	}
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	return isScenario(head), in, err
}

var ours = regexp.MustCompile(`(?m)^apiVersion:\s*["']?` + regexp.QuoteMeta(spec.APIVersion) + `\b`)

// isScenario takes what is of nodesim and no tape for a scenario as well, which says then what is wrong with its kind.
func isScenario(head []byte) bool {
	return snapshot.Is(head, spec.FileKind) || ours.Match(head) && !snapshot.Is(head, "Timeline")
}

// Cluster reads a cluster that is to be rolled, from where it is.
func Cluster(ctx context.Context, s snapshot.Source) (*scenarios.File, error) {
	f, err := snapshot.Read(ctx, s)
	if err != nil {
		return nil, err
	}
	return &scenarios.File{File: *f}, nil
}

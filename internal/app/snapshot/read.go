package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// A Source is where a cluster is read from.
type Source struct {
	// File is a tape, objects as kubectl get prints them, a folder that must-gather or kubectl cluster-info dump has left, or - for
	// standard input. It is empty where the cluster itself is read.
	File string
	// In is standard input.
	In io.Reader
	// At is the moment of a tape.
	At time.Duration
	// InScope refuses a tape where no node is in the scope that its header names at that moment.
	InScope bool
	// REST says how to reach the cluster's API server.
	REST *rest.Config
	// Name of the cluster, where there is no file: its context.
	Name string
	// Now is the present, of a cluster that is read itself.
	Now time.Time
	// Key, where it isn't empty, has names be pseudonyms; see [snapshot.Options].
	Key []byte
}

// Read makes a scenario file of the cluster. The error names the source, and where in it something is wrong.
func Read(ctx context.Context, s Source) (*spec.File, error) {
	if s.File == "" {
		return s.live(ctx)
	}
	if s.File != "-" {
		info, err := os.Stat(s.File)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return s.folder(ctx)
		}
	}
	return s.file(ctx)
}

// label is the source as errors name it.
func (s *Source) label() string {
	if s.File == "-" {
		return "(standard input)"
	}
	return s.File
}

// options are those of the file that is made.
func (s *Source) options() snapshot.Options {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(filepath.Clean(s.File)), ".gz"), ".zst")
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if s.File == "-" {
		name = ""
	}
	return snapshot.Options{Name: name, Key: s.Key}
}

// maxRead bounds what is read of a file, and of all files of a folder: objects are in memory while they are decoded.
const maxRead = 2 << 30

// headSize is how much of a file says whether it is a tape.
const headSize = 64 << 10

func (s *Source) file(ctx context.Context) (_ *spec.File, err error) {
	in := s.In
	if s.File != "-" {
		f, err := os.Open(s.File)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	raw := bufio.NewReaderSize(in, headSize)
	head, err := inside(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.label(), err)
	}
	switch {
	case is(head, "Timeline"):
		return s.tape(ctx, raw)
	case is(head, spec.FileKind):
		return nil, fmt.Errorf("%s: found a scenario file already: want a tape, objects as kubectl get -o json prints them, or a folder of them", s.label())
	}
	var r snapshot.Reading
	text, err := whole(raw, maxRead)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.label(), err)
	}
	n, err := add(ctx, &r, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.label(), err)
	}
	return s.made(&r, n, s.options())
}

// is reports whether the head of a file begins a document of nodesim's of a kind.
func is(head []byte, kind string) bool {
	return bytes.Contains(head, []byte("nodesim.dev/")) && (bytes.Contains(head, []byte("kind: "+kind)) || bytes.Contains(head, []byte(`"kind":"`+kind+`"`)))
}

// inside is the beginning of a file, decompressed. It reads nothing off.
func inside(raw *bufio.Reader) ([]byte, error) {
	head, err := raw.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	in, err := unpacked(bytes.NewReader(head), head)
	if err != nil {
		return nil, err
	}
	text := make([]byte, headSize)
	n, _ := io.ReadFull(in, text) // what was peeked at may end in the middle
	return text[:n], nil
}

// unpacked reads what gzip or zstd has packed, as its head says.
func unpacked(in io.Reader, head []byte) (io.Reader, error) {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return in, nil
}

// whole reads a file, decompressed, of so many bytes at most.
func whole(raw *bufio.Reader, most int64) ([]byte, error) {
	head, err := raw.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	in, err := unpacked(raw, head)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("found more than %d MiB: want less, since it is read at once: one file for each kind, in a folder", most>>20)
	}
	return text, err
}

// made is the file of what was read, n objects in all.
func (s *Source) made(r *snapshot.Reading, n counts, o snapshot.Options) (*spec.File, error) {
	if n.all == 0 {
		return nil, fmt.Errorf("%s: found no object of Kubernetes: want what kubectl get nodes,pods,pdb,deploy,rs,sts,ds,job,pvc,pv -A -o json prints, "+
			"a folder of kubectl cluster-info dump or must-gather, or a tape", s.label())
	}
	if n.taken["PodDisruptionBudget"] == 0 {
		o.LeftOut = append(o.LeftOut, "budgets: the input has none; kubectl get pdb -A -o json prints them")
	}
	o.LeftOut = append(o.LeftOut, "the API server's version: the input doesn't have it; that of the newest kubelet is here")
	f, err := r.File(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.label(), err)
	}
	return f, nil
}

// tape reads a tape at a moment.
func (s *Source) tape(ctx context.Context, in io.Reader) (*spec.File, error) {
	tape := ui.File(s.File, in)
	m, err := simcluster.MomentOf(ctx, tape.Source(), s.At)
	if err != nil {
		return nil, err
	}
	var r snapshot.Reading
	o := s.options()
	o.Header, o.At = m.Header, m.Header.Metadata.Start.Add(m.At)
	if s.File == "-" {
		o.Name = m.Header.Metadata.Name
	}
	for resource, list := range m.Objects {
		for _, raw := range list {
			if err := r.Add(resource.APIVersion(), resource.Kind, raw); err != nil {
				return nil, fmt.Errorf("tape %s at %s: %w", tape.Name, timeline.FormatAt(m.At), err)
			}
		}
	}
	var lacks []string
	for _, wanted := range snapshot.Resources() {
		has := func(is timeline.Resource) bool { return is.Group == wanted.Group && is.Resource == wanted.Resource }
		if !slices.ContainsFunc(m.Header.Resources, has) {
			lacks = append(lacks, wanted.String())
		}
	}
	if len(lacks) > 0 {
		o.LeftOut = append(o.LeftOut, "the tape has no "+strings.Join(lacks, ", ")+"; workloads are what their pods say")
	}
	if m.Header.Source.Kind != timeline.SourceScenario {
		o.LeftOut = append(o.LeftOut, "host ports: a tape doesn't have them")
	}
	if nodes(m) == 0 {
		return nil, fmt.Errorf("tape %s at %s: found no node: want a moment at which it has some, such as --at 10s", tape.Name, timeline.FormatAt(m.At))
	}
	if s.InScope {
		if err := unmatched(m); err != nil {
			return nil, fmt.Errorf("tape %s at %s: %w", tape.Name, timeline.FormatAt(m.At), err)
		}
	}
	f, err := r.File(o)
	if err != nil {
		return nil, fmt.Errorf("tape %s at %s: %w", tape.Name, timeline.FormatAt(m.At), err)
	}
	return f, nil
}

// nodes counts those that are there.
func nodes(m scenarios.Moment) (n int) {
	for resource, list := range m.Objects {
		if resource.Group == "" && resource.Resource == "nodes" {
			n += len(list)
		}
	}
	return n
}

// unmatched is the error of a header's scope that none of the nodes is in.
func unmatched(m scenarios.Moment) error {
	o, err := observe.OptionsFor(m.Header, "", "", "")
	if err != nil {
		return err
	}
	o.Pods = noderoll.PodScope{} // nodes are looked for, whatever else the tape is about
	f := observe.New(m.Header, o)
	for resource, list := range m.Objects {
		if resource.Group != "" || resource.Resource != noderoll.Nodes {
			continue
		}
		for _, raw := range list {
			ev := timeline.Event{Type: timeline.Added, Resource: resource.Resource, Name: rawjson.Text(raw, "metadata", "name"), Object: raw}
			if _, err := f.Apply(ev); err != nil {
				return err
			}
		}
	}
	return f.Unmatched()
}

package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
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
	// At is the moment of a tape, [replay.End] for its end.
	At time.Duration
	// InScope refuses a tape where no node is in the scope that its header names at that moment.
	InScope bool
	// REST says how to reach the cluster's API server.
	REST *rest.Config
	// Name of the cluster, where there is no file: its context.
	Name string
	// Now is the present: of a cluster that is read itself when it is read, and of objects the latest time that can be.
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
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: no such file or folder: want a tape, what kubectl get -o json prints, or a folder of that", s.File)
		case err != nil:
			return nil, err
		case info.IsDir() && s.At != 0:
			return nil, s.noMoments()
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
	base := unpackedName(filepath.Base(filepath.Clean(s.File)))
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
	case Is(head, "Timeline"):
		return s.tape(ctx, raw)
	case Is(head, spec.FileKind):
		return nil, fmt.Errorf("%s: found a scenario file already: want a tape, objects as kubectl get -o json prints them, or a folder of them", s.label())
	case s.At != 0:
		return nil, s.noMoments()
	}
	r := snapshot.Reading{Now: s.Now}
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

// noMoments is the error of a source that has one moment alone.
func (s *Source) noMoments() error {
	at := timeline.FormatAt(s.At)
	if s.At == replay.End {
		at = "end"
	}
	return fmt.Errorf("%s: found objects of one moment, and --at %s: want a tape with it, or no --at", s.label(), at)
}

// Is reports whether the head of a file begins a document of nodesim's of a kind, in YAML or JSON.
func Is(head []byte, kind string) bool {
	if !bytes.Contains(head, []byte("nodesim.dev/")) {
		return false
	}
	for _, found := range aKind.FindAllSubmatch(head, -1) {
		if string(found[1]) == kind {
			return true
		}
	}
	return false
}

var aKind = regexp.MustCompile(`\bkind["']?\s*:\s*["']?(\w+)\b`)

// inside is the beginning of a file, decompressed. It reads nothing off.
func inside(raw *bufio.Reader) ([]byte, error) {
	head, err := raw.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	in, err := unpacked(bytes.NewReader(head), head)
	if err != nil {
		return nil, cutOff(err)
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
		return nil, cutOff(err)
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("found more than %d MiB: want less, since it is read at once: one file for each kind, in a folder", most>>20)
	}
	return text, cutOff(err)
}

// cutOff is an error of reading what is compressed.
func cutOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("found compressed data that end in the middle: want the whole file")
	}
	return err
}

// noneThere says why something wasn't read: kubectl prints the same List whether it was asked for it or not, where a cluster has none.
const noneThere = "the input has none: if the cluster has none either, nothing is missing; "

// made is the file of what was read, n objects in all.
func (s *Source) made(r *snapshot.Reading, n counts, o snapshot.Options) (*spec.File, error) {
	if n.all == 0 && n.events > 0 {
		return nil, fmt.Errorf("%s: found %s: want a tape, which nodesim import makes of such events, or what "+snapshot.KubectlGet+" prints",
			s.label(), phrase.Count(n.events, "watch event"))
	}
	if n.all == 0 {
		return nil, fmt.Errorf("%s: found no object of Kubernetes: want what "+snapshot.KubectlGet+" prints, "+
			"a folder of kubectl cluster-info dump or must-gather, or a tape%s", s.label(), strings.Join(append([]string{""}, o.LeftOut...), "; "))
	}
	if _, read := n.taken["Pod"]; !read {
		o.LeftOut = append(o.LeftOut, spec.NotRead(spec.PodsOfCluster)+noneThere+"kubectl get pods -A -o json prints them")
	}
	if _, read := n.taken["PodDisruptionBudget"]; !read {
		o.LeftOut = append(o.LeftOut, spec.NotRead(spec.BudgetsOfCluster)+noneThere+"kubectl get pdb -A -o json prints them")
	}
	if n.foreign > 0 {
		o.LeftOut = append(o.LeftOut, fmt.Sprintf("documents that are no object of Kubernetes: %d; they have no kind", n.foreign))
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
	tape := &listened{tape: ui.File(s.File, in), until: s.At}
	m, err := simcluster.MomentOf(ctx, tape, s.At)
	if err != nil {
		return nil, err
	}
	var r snapshot.Reading
	o := s.options()
	if o.LeftOut, err = tape.lacks(m.Header); err != nil {
		return nil, fmt.Errorf("tape %s: %w", tape.tape.Name, err)
	}
	o.Header, o.At = m.Header, m.Header.Metadata.Start.Add(m.At)
	if s.File == "-" {
		o.Name = m.Header.Metadata.Name
	}
	for resource, list := range m.Objects {
		for _, raw := range list {
			if err := r.Add(resource.APIVersion(), resource.Kind, raw); err != nil {
				return nil, fmt.Errorf("tape %s at %s: %w", tape.tape.Name, timeline.FormatAt(m.At), err)
			}
		}
	}
	if m.Header.Source.Kind != timeline.SourceScenario {
		o.LeftOut = append(o.LeftOut, "host ports: a tape doesn't have them")
	}
	if len(nodesOf(m)) == 0 {
		return nil, fmt.Errorf("tape %s at %s: found no node: want a moment at which it has some, such as --at 10s", tape.tape.Name, timeline.FormatAt(m.At))
	}
	if s.InScope {
		if err := unmatched(m); err != nil {
			return nil, fmt.Errorf("tape %s at %s: %w", tape.tape.Name, timeline.FormatAt(m.At), err)
		}
	}
	f, err := r.File(o)
	if err != nil {
		return nil, fmt.Errorf("tape %s at %s: %w", tape.tape.Name, timeline.FormatAt(m.At), err)
	}
	return f, nil
}

// nodesOf are those that are there.
func nodesOf(m scenarios.Moment) [][]byte {
	for resource, list := range m.Objects {
		if resource.Group == "" && resource.Resource == noderoll.Nodes {
			return list
		}
	}
	return nil
}

// unmatched is the error of a header's scope that none of the nodes is in.
func unmatched(m scenarios.Moment) error {
	scope, err := observe.ScopeOf(m.Header)
	if err != nil {
		return err
	}
	for _, raw := range nodesOf(m) {
		ev := timeline.Event{Type: timeline.Added, Resource: noderoll.Nodes, Name: rawjson.Text(raw, "metadata", "name"), Object: raw}
		if err := scope.Apply(ev); err != nil {
			return err
		}
	}
	return scope.Unmatched()
}

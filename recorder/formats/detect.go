package formats

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// readable is what an input may be, for people.
const readable = "watch events as JSON, an audit log (audit.k8s.io/v1, also as EKS, GKE and AKS export it), a recording of kwokctl, " +
	"an archive of k8shark, a trace of SimKube, or what must-gather or kubectl cluster-info dump has kept"

// format is one that can be read; without a converter it is a dump already.
type format struct {
	name    string
	convert func(context.Context, io.Reader, *writer) error
	whole   bool // half of it would look like a whole one
}

// headSize is how much of an input says what it is.
const headSize = 64 << 10

// unpacked is an input without its compression and its byte order mark.
type unpacked struct {
	*bufio.Reader
	head []byte // its beginning
	same bool   // it is the input as it came
	cut  bool   // so far: the compressed data end in the middle
}

// inner reads compressed data. Where they are cut off, what there is ends; damage before their last bytes stays an error.
type inner struct {
	io.Reader
	packed *bufio.Reader
	cut    *bool
}

func (r inner) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		if _, more := r.packed.Peek(1); errors.Is(more, io.EOF) {
			*r.cut, err = true, io.EOF
		}
	}
	return n, err
}

// unpack finds out how an input is compressed.
func unpack(in io.Reader) (*unpacked, error) {
	u := &unpacked{}
	for layers := range 3 { // an archive may be compressed more than once
		all := bufio.NewReaderSize(in, headSize)
		head, err := all.Peek(headSize)
		switch {
		case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
			z, err := gzip.NewReader(all)
			if err != nil {
				return nil, fmt.Errorf("gzip: %w", err)
			}
			in = inner{z, all, &u.cut}
			continue
		case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
			z, err := zstd.NewReader(all, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
			if err != nil {
				return nil, fmt.Errorf("zstd: %w", err)
			}
			in = inner{z.IOReadCloser(), all, &u.cut}
			continue
		}
		if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		u.Reader, u.head, u.same = all, head, layers == 0
		if mark := []byte("\ufeff"); err == nil && bytes.HasPrefix(head, mark) { // of Windows
			u.head, u.same = head[len(mark):], false
			_, err = all.Discard(len(mark))
		}
		return u, err
	}
	return nil, errors.New("found something compressed three times, want once at most")
}

var (
	yamlKind   = regexp.MustCompile(`(?m)^(kind|apiVersion): *\S`)
	timeFirst  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T[0-9:.]+Z? +\{`)
	auditWords = []string{
		`"auditID"`, `\"auditID\"`, `"@message"`, `"logEvents"`, `"logStreamName"`, `"protoPayload"`, `"AuditId"`, `"log_s"`,
	}
	// azureAudit is the category of an entry of AKS' logs.
	azureAudit = regexp.MustCompile(`"[cC]ategory": ?"kube-audit(-admin)?"`)
)

// detect tells by its beginning what an input is.
func detect(head []byte) (format, error) {
	text := bytes.TrimLeft(head, " \t\r\n\ufeff")
	switch {
	case len(text) == 0:
		return format{}, nil // the import says that it is empty
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return format{}, errors.New("found UTF-16, as PowerShell's > writes it: want UTF-8, such as by | Out-File -Encoding utf8")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return format{"archive of k8shark", sharkZip, true}, nil
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return format{"", archive, true}, nil
	case bytes.HasPrefix(head, []byte("age-encryption.org/")):
		return format{}, errors.New("found an encrypted archive: decrypt it first")
	case text[0] == '{' || text[0] == '[':
		if f, known := detectJSON(text); known {
			return f, nil
		}
	case timeFirst.Match(text):
		return format{"", auditLog, false}, nil
	case head[0]&0xf0 == 0x80 || head[0] == 0xde || head[0] == 0xdf:
		return format{"trace of SimKube", simkubeBinary, true}, nil
	case bytes.Contains(text, []byte("kind: Timeline")) && bytes.Contains(text, []byte("nodesim.dev/")):
		return format{}, errors.New("found a tape: nodesim replays it as it is")
	case yamlKind.Match(text):
		return format{"recording of kwokctl", kwok, false}, nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return format{}, fmt.Errorf("found %.60q, want %s", first, readable)
}

// detectJSON tells formats of JSON apart by the members that each has and no other.
func detectJSON(text []byte) (f format, known bool) {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) })
	}
	switch {
	case has(`"applied_objs"`, `"pod_lifecycles"`):
		return format{"trace of SimKube", simkubeJSON, true}, true
	case has(`"captured_at"`) && has(`"api_path"`):
		return format{"archive of k8shark", sharkLines, false}, true
	case has(`"event":{`, `"event": {`):
		return format{}, true
	case has(auditWords...), azureAudit.Match(text):
		return format{"", auditLog, false}, true
	}
	// An import says what is wrong with these, be they bare objects.
	return format{}, has(`"object"`, `"kind"`, `"refused"`, `"items"`) || len(text) < 20
}

// archive is a tar: of must-gather, of a folder of kubectl cluster-info dump, or of the first k8shark.
func archive(ctx context.Context, in io.Reader, w *writer) error {
	s, shark := newStates(), newShark()
	if err := eachInTar(ctx, in, func(name string, r io.Reader) error {
		switch {
		case shark.wants(name):
			return shark.file(name, r)
		case s.wants(name):
			return s.file(name, r)
		}
		return nil
	}); err != nil {
		return err
	}
	if len(shark.records) > 0 {
		w.dump.Format = "archive of k8shark"
		return shark.write(w)
	}
	return s.write(w)
}

func sharkZip(ctx context.Context, in io.Reader, w *writer) error {
	raw, err := readAll(in, "archive", maxArchive)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return fmt.Errorf("archive: %w; a capture that was interrupted has no index", err)
	}
	shark := newShark()
	for _, f := range z.File {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !shark.wants(f.Name) {
			continue
		}
		r, err := f.Open()
		if err == nil {
			err = errors.Join(shark.file(f.Name, r), r.Close())
		}
		if err != nil {
			return fmt.Errorf("archive: %s: %w", f.Name, err)
		}
	}
	return shark.write(w)
}

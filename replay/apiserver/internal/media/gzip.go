package media

import (
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipFrom bounds how long an answer has to be, in bytes, before it is compressed,
// and gzipLevel how hard; both are those of kube-apiserver
// (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters: writers.go and
// compression.go).
const (
	gzipFrom  = 128 << 10
	gzipLevel = 1
)

// Body is where the body of an answer goes, a list's or an object's. It isn't
// for watches, which kube-apiserver doesn't compress.
//
// It holds back the first 128 KiB where the client accepts gzip: an answer that
// is longer is compressed, as kube-apiserver does with the feature
// APIResponseCompression, on by default. The answer's other headers have to be
// set before the first Write.
type Body struct {
	w     http.ResponseWriter
	held  []byte
	gzip  *gzip.Writer
	hold  bool
	begun bool
}

// Compress returns the body of the answer to a request. Close it when done.
func Compress(w http.ResponseWriter, req *http.Request) *Body {
	return &Body{w: w, hold: acceptsGzip(req.Header.Get("Accept-Encoding"))}
}

// acceptsGzip looks for the word gzip by itself: a quality after it isn't
// understood, as in the API server (responsewriters/compression.go).
func acceptsGzip(accept string) bool {
	for token := range strings.SplitSeq(accept, ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}

// Begun reports whether anything was written to the client, so that it is too
// late for an error.
func (b *Body) Begun() bool { return b.begun }

// Write takes a part of the body.
func (b *Body) Write(p []byte) (int, error) {
	if b.hold {
		if len(b.held)+len(p) <= gzipFrom {
			b.held = append(b.held, p...)
			return len(p), nil
		}
		b.compress()
		if _, err := b.gzip.Write(b.held); err != nil {
			return 0, err
		}
		b.held = nil
	}
	if b.gzip != nil {
		return b.gzip.Write(p)
	}
	b.begun = true
	return b.w.Write(p)
}

func (b *Body) compress() {
	b.hold, b.begun = false, true
	b.w.Header().Set("Content-Encoding", "gzip")
	b.w.Header().Add("Vary", "Accept-Encoding")
	b.gzip = writers.Get().(*gzip.Writer)
	b.gzip.Reset(b.w)
}

// Close writes what was held back. It may be called once only.
func (b *Body) Close() error {
	if b.gzip != nil {
		err := b.gzip.Close()
		b.gzip.Reset(nil)
		writers.Put(b.gzip)
		b.gzip = nil
		return err
	}
	if len(b.held) == 0 {
		return nil
	}
	b.begun = true
	_, err := b.w.Write(b.held)
	b.held = nil
	return err
}

var writers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzipLevel)
	if err != nil { // the level is one
		return gzip.NewWriter(nil)
	}
	return w
}}

package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// content is a file that no compression makes smaller than a socket's buffer.
var content = func() []byte {
	var all bytes.Buffer
	for digest := sha256.Sum256(nil); all.Len() < 1<<20; digest = sha256.Sum256(digest[:]) {
		all.Write(digest[:])
	}
	return all.Bytes()
}()

func sumOf(text []byte) Sum {
	digest := sha256.Sum256(text)
	return Sum("sha256:" + hex.EncodeToString(digest[:]))
}

// A site answers requests by one function each, and the rest as a server of files does.
type site struct {
	*httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc
	ranges  []string // of the requests, in their order
}

func serve(t *testing.T, answers ...http.HandlerFunc) *site {
	t.Helper()
	s := &site{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		answer := whole
		if len(s.answers) > 0 {
			answer, s.answers = s.answers[0], s.answers[1:]
		}
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranges
}

// whole serves the file, and ranges of it.
func whole(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "program", time.Time{}, bytes.NewReader(content))
}

// noRanges serves the file from its begin, whatever is asked for.
func noRanges(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }

// cutAfter promises the rest of the file, and ends the connection after so many bytes.
func cutAfter(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		whole(&short{w, n}, r)
		panic(http.ErrAbortHandler)
	}
}

// short passes a number of bytes on.
type short struct {
	http.ResponseWriter
	left int
}

func (s *short) Write(text []byte) (int, error) {
	n := min(s.left, len(text))
	s.left -= n
	if _, err := s.ResponseWriter.Write(text[:n]); err != nil {
		return 0, err
	}
	if n < len(text) {
		return n, http.ErrAbortHandler
	}
	return n, nil
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// A case of Fetch: a client whose pauses are noted and take no time.
type fetching struct {
	Client
	file   File
	path   string
	pauses []time.Duration
}

func fetch(t *testing.T, s *site) *fetching {
	t.Helper()
	f := &fetching{path: filepath.Join(t.TempDir(), "program")}
	f.file = File{URL: s.URL + "/program", Sum: sumOf(content), Limit: int64(len(content))}
	f.Wait = func(ctx context.Context, d time.Duration) error {
		f.pauses = append(f.pauses, d)
		return ctx.Err()
	}
	return f
}

func (f *fetching) do(t *testing.T) error { t.Helper(); return f.Fetch(t.Context(), f.file, f.path) }

// want fails unless the file is there, whole, and alone.
func (f *fetching) want(t *testing.T) {
	t.Helper()
	if err := f.do(t); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.path)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("found %d bytes, %v, want the %d of the file", len(got), err, len(content))
	}
	f.wantAlone(t, "program")
}

// wantAlone fails unless the folder holds these files and no other.
func (f *fetching) wantAlone(t *testing.T, names ...string) {
	t.Helper()
	found, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(names) {
		t.Fatalf("found %v in the folder, want %q", found, names)
	}
	for i, entry := range found {
		if entry.Name() != names[i] {
			t.Errorf("found %s in the folder, want %s", entry.Name(), names[i])
		}
	}
}

// leave writes what an earlier download has left.
func (f *fetching) leave(t *testing.T, text []byte) {
	t.Helper()
	if err := os.WriteFile(f.path+".part", text, 0o644); err != nil {
		t.Fatal(err)
	}
}

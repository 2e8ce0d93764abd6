package media

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Long answers are compressed for those who understand it.
func TestCompress(t *testing.T) {
	const limit = 128 << 10
	for _, c := range []struct {
		story, accept string
		length        int
		want          bool
	}{
		{"long", "gzip", limit + 1, true},
		{"long, one of several", "deflate, gzip", 3 * limit, true},
		{"not long", "gzip", limit, false},
		{"empty", "gzip", 0, false},
		{"not asked for", "", 2 * limit, false},
		{"asked for in a way that isn't read", "gzip;q=1", 2 * limit, false},
	} {
		t.Run(c.story, func(t *testing.T) {
			req, rec := asks("", ""), httptest.NewRecorder()
			req.Header.Set("Accept-Encoding", c.accept)
			b := Compress(rec, req)
			text := strings.Repeat("node\n", c.length/5+1)[:c.length]
			for rest := text; len(rest) > 0; { // in pieces, as a list comes
				n := min(len(rest), 50_000)
				if k, err := b.Write([]byte(rest[:n])); err != nil || k != n {
					t.Fatal(k, err)
				}
				rest = rest[n:]
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if got := rec.Header().Get("Content-Encoding") == "gzip"; got != c.want {
				t.Fatalf("compressed: %v, header %v", got, rec.Header())
			}
			if got := rec.Header().Get("Vary") == "Accept-Encoding"; got != c.want {
				t.Errorf("header %v", rec.Header())
			}
			if b.Begun() != (c.length > 0) {
				t.Errorf("begun: %v", b.Begun())
			}
			if got := plain(t, rec, c.want); got != text {
				t.Errorf("%d bytes came as %d", len(text), len(got))
			}
		})
	}
}

func plain(t *testing.T, rec *httptest.ResponseRecorder, compressed bool) string {
	t.Helper()
	if !compressed {
		return rec.Body.String()
	}
	r, err := gzip.NewReader(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// Before anything is sent, an answer can still become an error.
func TestBegun(t *testing.T) {
	req, rec := asks("", ""), httptest.NewRecorder()
	req.Header.Set("Accept-Encoding", "gzip")
	b := Compress(rec, req)
	if _, err := b.Write([]byte("x")); err != nil || b.Begun() {
		t.Error("a held byte counts as sent", err)
	}
	http.Error(rec, "no", http.StatusConflict)
	if rec.Code != http.StatusConflict {
		t.Error(rec.Code)
	}
}

package assets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/localcluster/assets/download"
)

// program is what is released in these tests.
const program = "#!/bin/sh\necho tiny 1.2.3\n"

// A store answers with what is at a path.
type store struct {
	*httptest.Server
	asked atomic.Int64
}

func keep(t *testing.T, files map[string][]byte) *store {
	t.Helper()
	s := &store{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		text, is := files[r.URL.Path]
		if !is {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(text))
	}))
	t.Cleanup(s.Close)
	return s
}

func sha(text []byte) download.Sum {
	digest := sha256.Sum256(text)
	return download.Sum("sha256:" + hex.EncodeToString(digest[:]))
}

// release is tiny's, at a path of a store.
func (s *store) release(path, member string, sum download.Sum) Release {
	return Release{Program: "tiny", Version: "1.2.3", Platform: Platform(), Sum: sum, URL: s.URL + path, Member: member}
}

// supplyOf is a supply of releases, without pauses, that says each step of its progress.
func supplyOf(folder string, log *bytes.Buffer, all ...Release) opened {
	now := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return opened{Supply: Supply{Log: log}, folder: folder, from: &source{releases: all, client: download.Client{Wait: now}}}
}

func tarball(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	all := tar.NewWriter(packed)
	for name, text := range files {
		head := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}
		if strings.HasPrefix(text, "-> ") {
			head.Typeflag, head.Linkname, head.Size, text = tar.TypeSymlink, strings.TrimPrefix(text, "-> "), 0, ""
		}
		if err := all.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := all.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	all := zip.NewWriter(&out)
	for name, text := range files {
		w, err := all.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// noGo leaves no compiler on the PATH.
func noGo(t *testing.T) { t.Helper(); t.Setenv("PATH", t.TempDir()+":/bin:/usr/bin") }

// A released program is there after its download, alone or out of an archive, and nothing else of the download is.
func TestAReleasedProgramIsDownloaded(t *testing.T) {
	noGo(t)
	tgz := tarball(t, map[string]string{"tools/tiny": program, "../../escape": "bad", "tiny": "another"})
	zipFile := zipped(t, map[string]string{"tools/tiny": program, "/escape": "bad"})
	s := keep(t, map[string][]byte{"/tiny": []byte(program), "/tiny.tar.gz": tgz, "/tiny.zip": zipFile})
	for name, r := range map[string]Release{
		"itself": s.release("/tiny", "", sha([]byte(program))),
		"tar.gz": s.release("/tiny.tar.gz", "tools/tiny", sha(tgz)),
		"zip":    s.release("/tiny.zip", "tools/tiny", sha(zipFile)),
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			var log bytes.Buffer
			o := supplyOf(folder, &log, r)
			if err := o.make(t.Context(), "nowhere", []Binary{tiny}); err != nil {
				t.Fatalf("%v\n%s", err, log.String())
			}
			for _, want := range []string{"downloading tiny 1.2.3 from " + r.URL, "downloading tiny: 0 of 0 MiB", "downloaded tiny in "} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("found the log %q, want %q in it", log.String(), want)
				}
			}
			if err := whole(t.Context(), folder, []Binary{tiny}); err != nil {
				t.Error(err)
			}
			left, err := os.ReadDir(folder)
			if err != nil || len(left) != 3 {
				t.Errorf("found %v, %v, want tiny, its receipt and the lock", left, err)
			}
			before := s.asked.Load()
			if err := o.make(t.Context(), "nowhere", []Binary{tiny}); err != nil || s.asked.Load() != before {
				t.Errorf("once more: found %v and %d requests, want none", err, s.asked.Load()-before)
			}
		})
	}
}

// What can't be downloaded is built, and the log says why. Where there is no Go either, one line says both.
func TestAFailedDownloadIsBuilt(t *testing.T) {
	wrong := sha([]byte("another program"))
	stranger := []byte("#!/bin/sh\necho tiny 9\n")
	tgz := tarball(t, map[string]string{"tools/tiny": "-> /bin/sh"})
	s := keep(t, map[string][]byte{"/tiny": []byte(program), "/tiny.tar.gz": tgz, "/cut.tar.gz": tgz[:len(tgz)/2], "/stranger": stranger})
	gone := keep(t, nil)
	gone.Close()
	from := moduleThat(t, "tiny 1.2.3")
	for name, c := range map[string]struct {
		release Release
		want    string
	}{
		"damaged":            {s.release("/tiny", "", wrong), "found the checksum " + string(sha([]byte(program))) + ", want " + string(wrong)},
		"not there":          {s.release("/none", "", wrong), "found 404 Not Found"},
		"nobody there":       {gone.release("/tiny", "", wrong), "no connection"},
		"no such member":     {s.release("/tiny.tar.gz", "tools/large", sha(tgz)), "found no file tools/large in the archive"},
		"a link":             {s.release("/tiny.tar.gz", "tools/tiny", sha(tgz)), "found no file tools/tiny in the archive"},
		"a broken archive":   {s.release("/cut.tar.gz", "tools/tiny", sha(tgz[:len(tgz)/2])), "unexpected EOF"},
		"another version":    {s.release("/stranger", "", sha(stranger)), `found "tiny 9", want version 1.2.3`},
		"another platform":   {Release{Program: "tiny", Version: "1.2.3", Platform: "plan9/mips"}, ""},
		"of another program": {Release{Program: "large", Version: "1.2.3", Platform: Platform()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			var log bytes.Buffer
			if err := supplyOf(folder, &log, c.release).make(t.Context(), from, []Binary{tiny}); err != nil {
				t.Fatalf("%v\n%s", err, log.String())
			}
			if !strings.Contains(log.String(), c.want) || !strings.Contains(log.String(), "built tiny in ") ||
				strings.Contains(log.String(), "from Go modules instead") != (c.want != "") {
				t.Errorf("found the log %q, want %q in it, and a build", log.String(), c.want)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) != 3 {
				t.Errorf("found %v, %v, want tiny, its receipt and the lock", left, err)
			}
			if c.want == "" {
				c.want = errNotReleased.Error()
			}
			noGo(t)
			err := supplyOf(t.TempDir(), &log, c.release).make(t.Context(), from, []Binary{tiny})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "found no program go on the PATH") || strings.Contains(err.Error(), "\n") {
				t.Errorf("without Go: found %v, want one line with %q", err, c.want)
			}
		})
	}
}

// A mirror gets the user, the password and the query of its address; the log and the errors don't show what is secret in them.
func TestTheMirrorsPasswordIsNotShown(t *testing.T) {
	noGo(t)
	for name, c := range map[string]struct {
		code       int
		text, want string
	}{
		"there":           {http.StatusOK, program, "downloaded tiny in "},
		"not there":       {http.StatusNotFound, "", "found 404 Not Found"},
		"another version": {http.StatusOK, "#!/bin/sh\necho tiny 9\n", `found "tiny 9", want version 1.2.3`},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if user, password, _ := r.BasicAuth(); user == "u" && password == "s3cret" && r.URL.Path == "/releases.example.com/tiny" && r.URL.RawQuery == "token=s3cret" {
					asked.Add(1)
				}
				w.WriteHeader(c.code)
				_, _ = w.Write([]byte(c.text))
			}))
			defer s.Close()
			base, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			base.User, base.RawQuery = url.UserPassword("u", "s3cret"), "token=s3cret"
			r := Release{Program: "tiny", Version: "1.2.3", Platform: Platform(), Sum: sha([]byte(c.text)), URL: "https://releases.example.com/tiny"}
			var log bytes.Buffer
			o := supplyOf(t.TempDir(), &log, r)
			o.from.mirror = base
			said := ""
			if err := o.make(t.Context(), "nowhere", []Binary{tiny}); err != nil {
				said = err.Error()
			}
			said += log.String()
			if asked.Load() != 1 || strings.Contains(said, "s3cret") || !strings.Contains(said, c.want) || !strings.Contains(said, "from http://xxxxx@"+base.Host+"/releases.example.com/tiny?token=xxxxx\n") {
				t.Errorf("found %d requests with the password and the token, and %q, want one, and %q without them", asked.Load(), said, c.want)
			}
		})
	}
}

// Of a host that can't be reached nothing else is asked.
func TestALostHostIsAskedOnce(t *testing.T) {
	noGo(t)
	gone := keep(t, nil)
	gone.Close()
	var log bytes.Buffer
	o := supplyOf(t.TempDir(), &log, gone.release("/tiny", "", sha(nil)))
	for _, want := range []string{"after 2 attempts", "there was no connection to"} {
		if err := o.make(t.Context(), "nowhere", []Binary{tiny}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q in it", err, want)
		}
	}
}

// Two processes at once download once; this is two descriptors of the lock, which flock(2) keeps apart as well.
func TestDownloadsAtOnceDownloadOnce(t *testing.T) {
	noGo(t)
	s := keep(t, map[string][]byte{"/tiny": []byte(program)})
	folder := t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			var log bytes.Buffer
			if err := supplyOf(folder, &log, s.release("/tiny", "", sha([]byte(program)))).make(t.Context(), "nowhere", []Binary{tiny}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s.asked.Load() != 1 {
		t.Errorf("found %d requests, want 1", s.asked.Load())
	}
}

// A download that was cancelled isn't followed by a build, and the next one goes on where it ended.
func TestACancelledDownloadIsNotBuilt(t *testing.T) {
	noGo(t)
	text := []byte(program + strings.Repeat("#", 1<<20))
	ctx, cancel := context.WithCancel(t.Context())
	var ranges []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		if len(ranges) == 1 {
			_, _ = w.Write(text[:1000])
			w.(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
			return
		}
		http.ServeContent(w, r, "tiny", time.Time{}, bytes.NewReader(text))
	}))
	defer s.Close()
	r := Release{Program: "tiny", Version: "1.2.3", Platform: Platform(), Sum: sha(text), URL: s.URL + "/tiny"}
	folder := t.TempDir()
	var log bytes.Buffer
	err := supplyOf(folder, &log, r).make(ctx, "nowhere", []Binary{tiny})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) || strings.Contains(log.String(), "building") {
		t.Errorf("found %v and the log %q, want that it was cancelled", err, log.String())
	}
	if _, err := os.Stat(filepath.Join(folder, "tiny")); !os.IsNotExist(err) {
		t.Errorf("found %v, want no program", err)
	}
	if err := supplyOf(folder, &log, r).make(t.Context(), "nowhere", []Binary{tiny}); err != nil {
		t.Fatal(err)
	}
	if len(ranges) != 2 {
		t.Errorf("found the requests %q, want two", ranges)
	}
}

func TestAnArchiveWithoutEnd(t *testing.T) {
	packed := filepath.Join(t.TempDir(), "tiny.tar.gz")
	if err := os.WriteFile(packed, tarball(t, map[string]string{"tiny": strings.Repeat("0", 4000)}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unpackMember(packed, "tiny", packed+".tiny", 3999); err == nil || !strings.Contains(err.Error(), "found a file of more than 3999 bytes in the archive") {
		t.Errorf("found %v, want that it has an end", err)
	}
	if err := unpackMember(packed, "tiny", packed+".tiny", 4000); err != nil {
		t.Error(err)
	}
}

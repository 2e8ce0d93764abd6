package download

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAWholeFile(t *testing.T) {
	s := serve(t)
	f := fetch(t, s)
	var last, of int64
	f.Progress = func(done, total int64) { last, of = done, total }
	f.want(t)
	if asked := s.asked(); !slices.Equal(asked, []string{""}) || len(f.pauses) > 0 {
		t.Errorf("found the requests %q and the pauses %v, want one request", asked, f.pauses)
	}
	if all := int64(len(content)); last != all || of != all {
		t.Errorf("found the progress %d of %d, want %d of it", last, of, all)
	}
}

// A connection that ends too early is no end: the rest is asked for.
func TestACutDownloadGoesOn(t *testing.T) {
	s := serve(t, cutAfter(300_000), cutAfter(200_000))
	f := fetch(t, s)
	f.want(t)
	if want := []string{"", "bytes=300000-", "bytes=500000-"}; !slices.Equal(s.asked(), want) {
		t.Errorf("found the requests %q, want %q", s.asked(), want)
	}
	if want := []time.Duration{firstPause, firstPause}; !slices.Equal(f.pauses, want) {
		t.Errorf("found the pauses %v, want %v: each attempt brought something", f.pauses, want)
	}
}

func TestACutDownloadBeginsAgainWhereThereAreNoRanges(t *testing.T) {
	s := serve(t, cutAfter(300_000), noRanges)
	fetch(t, s).want(t)
	if want := []string{"", "bytes=300000-"}; !slices.Equal(s.asked(), want) {
		t.Errorf("found the requests %q, want %q", s.asked(), want)
	}
}

// What an earlier process has left is continued, if it is a begin of the file, all of it or something else.
func TestWhatAnEarlierDownloadLeft(t *testing.T) {
	other := slices.Repeat([]byte("other "), 1000)
	for name, c := range map[string]struct {
		left []byte
		want []string
	}{
		"a begin":         {content[:1000], []string{"bytes=1000-"}},
		"all of it":       {content, nil},
		"another file":    {other, []string{"bytes=6000-", ""}},
		"more than there": {append(slices.Clone(content), other...), []string{fmt.Sprintf("bytes=%d-", len(content)+len(other)), ""}},
		"nothing":         {nil, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			f := fetch(t, s)
			f.leave(t, c.left)
			f.want(t)
			if !slices.Equal(s.asked(), c.want) {
				t.Errorf("found the requests %q, want %q", s.asked(), c.want)
			}
		})
	}
}

// An answer that begins elsewhere than it was asked to isn't appended.
func TestARangeFromElsewhere(t *testing.T) {
	s := serve(t, status(http.StatusPartialContent, "Content-Range", "bytes 0-9/10"))
	f := fetch(t, s)
	f.leave(t, content[:1000])
	f.want(t)
	if want := []string{"bytes=1000-", ""}; !slices.Equal(s.asked(), want) {
		t.Errorf("found the requests %q, want %q", s.asked(), want)
	}
}

// A server that sends nothing is given up on, and asked again.
func TestAServerThatStalls(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:70_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	f := fetch(t, s)
	f.Stalled = 200 * time.Millisecond
	f.want(t)
	if asked := s.asked(); len(asked) < 2 || asked[1] != "bytes=70000-" {
		t.Errorf("found the requests %q, want the second from byte 70000 on", asked)
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	s := serve(t, status(http.StatusServiceUnavailable), status(http.StatusTooManyRequests, "Retry-After", "7"),
		status(http.StatusBadGateway, "Retry-After", "86400"), status(http.StatusInternalServerError))
	f := fetch(t, s)
	f.want(t)
	if want := []time.Duration{firstPause, 7 * time.Second, longestPause, 8 * firstPause}; !slices.Equal(f.pauses, want) {
		t.Errorf("found the pauses %v, want %v", f.pauses, want)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "-3": 0, "soon": 0,
		"Wed, 01 Jul 2026 12:00:09 GMT": 9 * time.Second, "Wed, 01 Jul 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: found %s, want %s", text, got, want)
		}
	}
}

// Each error is one line with the address, what was found and what was wanted, and no file of the final name is there.
func TestErrors(t *testing.T) {
	busyAlways := slices.Repeat([]http.HandlerFunc{status(http.StatusServiceUnavailable)}, attemptsInARow)
	damaged := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(append([]byte{^content[0]}, content[1:]...))
	}
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		change  func(*fetching)
		want    string
		left    []string
	}{
		"not there": {answers: []http.HandlerFunc{status(http.StatusNotFound)}, want: "found 404 Not Found, want 200 OK"},
		"forbidden": {answers: []http.HandlerFunc{status(http.StatusForbidden)}, want: "found 403 Forbidden, want 200 OK"},
		"busy":      {answers: busyAlways, want: "found 503 Service Unavailable, at byte 0, after 5 attempts"},
		"damaged":   {answers: []http.HandlerFunc{damaged}, want: "found the checksum sha256:"},
		"too short": {answers: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content[:9]) }}, want: "found the checksum sha256:"},
		"longer than the limit, and says so": {
			change: func(f *fetching) { f.file.Limit-- },
			want:   fmt.Sprintf("found a file of %d bytes, want at most %d", len(content), len(content)-1),
		},
		"longer than the limit, and doesn't say so": {
			answers: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
				w.(http.Flusher).Flush()
				_, _ = w.Write(content)
			}},
			change: func(f *fetching) { f.file.Limit-- }, left: []string{"program.part"},
			want: fmt.Sprintf("found a file of more than %d bytes, want at most that", len(content)-1),
		},
		"no algorithm":   {change: func(f *fetching) { f.file.Sum = "md5:00" }, want: `checksum "md5:00": want sha256: or sha512: before the digits`},
		"too few digits": {change: func(f *fetching) { f.file.Sum = "sha512:00" }, want: `checksum "sha512:00": want 128 small hexadecimal digits`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.answers...)
			f := fetch(t, s)
			if c.change != nil {
				c.change(f)
			}
			err := f.do(t)
			if err == nil || !strings.HasPrefix(err.Error(), "download "+f.file.URL+": "+c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("found %v, want one line with %q", err, c.want)
			}
			f.wantAlone(t, c.left...)
			if size(f.path+".part") > f.file.Limit {
				t.Errorf("found %d bytes on the disk, want at most %d", size(f.path+".part"), f.file.Limit)
			}
		})
	}
}

// A user, a password and the values of a query aren't shown, whether the address is right or not.
func TestShown(t *testing.T) {
	for address, want := range map[string]string{
		"https://mirror.example.com/a@b%20": "https://mirror.example.com/a@b%20", "on": "on", "mirror.example.com": "mirror.example.com",
		"https://u:s3cret@mirror:8080/a": "https://xxxxx@mirror:8080/a", "https://s3cret@mirror": "https://xxxxx@mirror",
		"ci:s3cret@mirror": "xxxxx@mirror", "s3cret@mirror": "xxxxx@mirror", "https:///u:s3cret@mirror": "xxxxx@mirror",
		"https://u:s3cret%@mirror": "xxxxx@mirror", "https://u:s3/c@ret@mirror": "xxxxx@mirror",
		"https://mirror/a@b?token=s3cret": "https://mirror/a@b?token=xxxxx", "mirror/?token=s3cret": "mirror/?token=xxxxx",
		"https://u:s3cret@mirror/?a=s3cret&token=s3=cret&s3cret": "https://xxxxx@mirror/?a=xxxxx&token=xxxxx&xxxxx", "https://mirror/?": "https://mirror/?",
		"https://mirror/%zz?token=s3cret": "https://mirror/%zz?token=xxxxx", "ci:s3cret@mirror?token=s3cret": "xxxxx@mirror?token=xxxxx",
		"mirror?token=s3@cret": "xxxxx", "ci:s3?cret@mirror": "xxxxx",
	} {
		if got := Shown(address); got != want {
			t.Errorf("%s: found %s, want %s", address, got, want)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	s := serve(t)
	f := fetch(t, s)
	s.Close()
	err := f.do(t)
	if !errors.Is(err, ErrUnreachable) || !strings.HasSuffix(err.Error(), "after 2 attempts") {
		t.Errorf("found %v, want that there is no connection, after two attempts", err)
	}
}

func TestRedirects(t *testing.T) {
	s := serve(t)
	first := httptest.NewServer(http.RedirectHandler(s.URL+"/elsewhere", http.StatusFound))
	defer first.Close()
	f := fetch(t, s)
	f.file.URL = first.URL + "/program"
	f.want(t)

	secure := httptest.NewTLSServer(http.RedirectHandler(s.URL+"/elsewhere", http.StatusFound))
	defer secure.Close()
	f = fetch(t, s)
	f.file.URL, f.Transport = secure.URL+"/program", secure.Client().Transport
	if err := f.do(t); err == nil || !strings.HasSuffix(err.Error(), "found a redirect to "+s.URL+": want https") {
		t.Errorf("found %v, want that https isn't left", err)
	}
	f.Transport = nil
	if err := f.do(t); err == nil || !strings.Contains(err.Error(), "certificate") || len(f.pauses) > 0 {
		t.Errorf("found %v after the pauses %v, want that the certificate isn't trusted, at once", err, f.pauses)
	}
	around := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }))
	defer around.Close()
	f.file.URL = around.URL
	if err := f.do(t); err == nil || !strings.HasSuffix(err.Error(), "found more than 10 redirects") {
		t.Errorf("found %v, want that redirects have an end", err)
	}
}

// A download that is given up leaves what has arrived, for the next one.
func TestACancelledDownload(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:70_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	f := fetch(t, s)
	f.Progress = func(done, _ int64) {
		if done == 70_000 {
			cancel(why)
		}
	}
	if err := f.Fetch(ctx, f.file, f.path); !errors.Is(err, why) {
		t.Errorf("found %v, want why it was given up", err)
	}
	f.wantAlone(t, "program.part")
	f.want(t)
	if want := []string{"", "bytes=70000-"}; !slices.Equal(s.asked(), want) {
		t.Errorf("found the requests %q, want %q", s.asked(), want)
	}
}

// net/http reads the environment once, and never sends loopback's addresses to a proxy: a process of its own asks for
// a host that doesn't exist.
func TestAProxyOfTheEnvironment(t *testing.T) {
	const child = "NODESIM_TEST_PROXY"
	if os.Getenv(child) != "" {
		s := serve(t)
		f := fetch(t, s)
		f.file.URL = "http://releases.invalid/program"
		f.want(t)
		return
	}
	var host string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.URL.Host
		whole(w, r)
	}))
	defer proxy.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestAProxyOfTheEnvironment$")
	cmd.Env = append(os.Environ(), child+"=1", "http_proxy="+proxy.URL, "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if host != "releases.invalid" {
		t.Errorf("found a request for %q at the proxy, want one for releases.invalid", host)
	}
}

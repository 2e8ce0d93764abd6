package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/replay/apiserver"
)

// What a handler does with an answer, a client in memory sees as it would over a
// connection.
func TestAnAnswerInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 3<<20)
		ended := make(chan error, 1)
		s, _ := demo(t, apiserver.Mount("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/nothing":
			case "/code":
				w.Header().Set("X-Kept", "yes")
				w.WriteHeader(http.StatusTeapot)
				w.Header().Set("X-Late", "yes")
				w.WriteHeader(http.StatusOK)
			case "/echo":
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				_, _ = w.Write([]byte(r.Method + " " + r.Host + " " + r.RequestURI + " " + string(body)))
			case "/long":
				_, _ = io.WriteString(w, long)
			case "/panic":
				panic(http.ErrAbortHandler)
			case "/half":
				_, _ = io.WriteString(w, "half")
				panic(http.ErrAbortHandler)
			case "/stream":
				c := http.NewResponseController(w)
				for {
					if err := errors.Join(c.SetWriteDeadline(time.Now().Add(time.Second)), c.Flush()); err != nil {
						t.Error(err)
					}
					if _, err := io.WriteString(w, long[:8<<10]); err != nil {
						ended <- err
						return
					}
				}
			case "/waits":
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				<-r.Context().Done()
				ended <- r.Context().Err()
			}
		})))
		client := &http.Client{Transport: s.RoundTripper()}
		ask := func(ctx context.Context, method, path, body string) (*http.Response, error) {
			req, err := http.NewRequestWithContext(ctx, method, "http://anywhere"+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			return client.Do(req)
		}
		for _, test := range []struct{ method, path, body, want, wantErr string }{
			{"GET", "/nothing", "", "200 0 ", ""},
			{"GET", "/code", "", "418 0 ", ""},
			{"POST", "/echo?a=b%20c", "hello", "200 33 POST anywhere /echo?a=b%20c hello", ""},
			{"HEAD", "/echo", "", "200 0 ", ""},
			{"GET", "/long", "", "200 -1 " + long, ""},
			{"GET", "/panic", "", "", "unexpected EOF"},
			{"GET", "/half", "", "200 -1 half", "unexpected EOF"},
		} {
			res, err := ask(t.Context(), test.method, test.path, test.body)
			got := ""
			if err == nil {
				var all []byte
				all, err = io.ReadAll(res.Body)
				got = res.Status[:3] + " " + fmt.Sprint(res.ContentLength) + " " + string(all)
				if _, err := res.Body.Read(make([]byte, 1)); test.wantErr == "" && err != io.EOF {
					t.Errorf("%s: after the end: %v", test.path, err)
				}
				_ = res.Body.Close()
				if test.path == "/code" && (res.Header.Get("X-Kept") == "" || res.Header.Get("X-Late") != "" || res.Status != "418 I'm a teapot") {
					t.Errorf("%s %v", res.Status, res.Header)
				}
			}
			if said := errorText(err); got != test.want || !strings.HasSuffix(said, test.wantErr) || test.wantErr == "" && said != "" {
				t.Errorf("%s: %.80s (%s), want %.80s (%s)", test.path, got, said, test.want, test.wantErr)
			}
		}

		res, err := ask(t.Context(), "GET", "/stream", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !strings.Contains(err.Error(), "timeout") { // nobody reads
			t.Errorf("a stream that nobody reads: %v", err)
		}
		if all, err := io.ReadAll(res.Body); len(all) == 0 || len(all) > 64<<10 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes, %v", len(all), err)
		}
		_ = res.Body.Close()

		res, err = ask(t.Context(), "GET", "/stream", "")
		if err != nil {
			t.Fatal(err)
		}
		for range 100 { // more than is kept
			if _, err := io.ReadFull(res.Body, make([]byte, 4<<10)); err != nil {
				t.Fatal(err)
			}
		}
		_ = res.Body.Close()
		if err := <-ended; err == nil {
			t.Error("the handler ended without an error")
		}

		ctx, cancel := context.WithCancel(t.Context())
		res, err = ask(ctx, "GET", "/waits", "")
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("a read of what was cancelled: %v", err)
		}
		if err := <-ended; err == nil {
			t.Error("the handler ended without an error")
		}
		ctx, cancel = context.WithCancel(t.Context())
		if res, err = ask(ctx, "GET", "/waits", ""); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("the handler ended without an error")
		}
		synctest.Wait() // the handler ends before the client reads
		if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("a read of what was cancelled, after the handler's end: %v", err)
		}
		res, err = ask(t.Context(), "GET", "/waits", "")
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if all, err := io.ReadAll(res.Body); len(all) > 0 || err != nil {
			t.Errorf("after the server's end: %q, %v", all, err)
		}
		if _, err := ask(t.Context(), "GET", "/nothing", ""); err == nil {
			t.Error("it still answers")
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

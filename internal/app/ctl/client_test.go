package ctl_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/app/ctl"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/scenarios"
)

// still is a client of a replay of the demo that no goroutine runs.
func still(t *testing.T) *ctl.Client {
	t.Helper()
	header, events := scenarios.Demo()
	p, err := replay.NewPlayer(replay.Events(&header, events), replay.StartPaused())
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(p, apiserver.Mount(control.Path, control.New(p, control.Sources{}).Handler()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		_ = p.Close()
	})
	c, err := ctl.New(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestVerbs(t *testing.T) {
	c, ctx := still(t), t.Context()
	if s, err := c.Resume(ctx); err != nil || s.Paused {
		t.Errorf("resume: %+v, %v", s, err)
	}
	if s, err := c.Pause(ctx); err != nil || !s.Paused {
		t.Errorf("pause: %+v, %v", s, err)
	}
	if s, err := c.Speed(ctx, "20x"); err != nil || s.Speed != "20x" {
		t.Errorf("speed: %+v, %v", s, err)
	}
	if s, err := c.Seek(ctx, "T+4s"); err != nil || s.Event != 4e9 {
		t.Errorf("seek: %+v, %v", s, err)
	}
	if s, err := c.Mark(ctx, "here"); err != nil || len(s.Markers) != 1 {
		t.Errorf("mark: %+v, %v", s, err)
	}
	if s, err := c.Step(ctx, control.Steps{Count: 2, Wait: true}); err != nil || s.Events != 2 || s.Status.Position != 6e9 {
		t.Errorf("step: %+v, %v", s, err)
	}
	s, err := c.Status(ctx)
	if err != nil || s.Tape != "demo" || s.Position != 6e9 {
		t.Errorf("status: %+v, %v", s, err)
	}
}

func TestWhatTheServerRefuses(t *testing.T) {
	c, ctx := still(t), t.Context()
	if _, err := c.Seek(ctx, "5"); err == nil || !strings.Contains(err.Error(), "has no unit") {
		t.Errorf("seek: %v", err)
	}
	if _, err := c.Step(ctx, control.Steps{Until: control.UntilTransition}); err == nil || !strings.Contains(err.Error(), "no observer follows this tape's nodes") {
		t.Errorf("step: %v", err)
	}
}

// Other servers are told apart by what they answer, whatever that is.
func TestOtherServers(t *testing.T) {
	for _, c := range []struct {
		code       int
		body, want string
	}{
		{404, "404 page not found\n", "this server is no replay of nodesim (404 Not Found)"},
		{403, `{"kind":"Status","apiVersion":"v1","message":"forbidden: User \"system:anonymous\" cannot get path","code":403}`, "no replay of nodesim (403 Forbidden)"},
		{200, "<html>", "no replay of nodesim (200 OK)"},
		{200, `{"apiVersion":"v1","kind":"NodeList"}`, "no replay of nodesim (200 OK)"},
		{401, `{"kind":"Status"}`, "the token isn't the one of this server"},
		{409, `{"kind":"Status","apiVersion":"v1","message":"it can't go back","code":409}`, "it can't go back"},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			_, _ = w.Write([]byte(c.body))
		}))
		client, err := ctl.New(&rest.Config{Host: web.URL})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Pause(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d %s: %v, want %s", c.code, c.body, err, c.want)
		}
		web.Close()
		if _, err := client.Pause(t.Context()); err == nil || !strings.Contains(err.Error(), "is nodesim serve still running?") || strings.Count(err.Error(), "127.0.0.1") > 2 {
			t.Errorf("no server: %v", err)
		}
	}
}

func TestKubeconfigsThatLeadNowhere(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{bad, bad + ".not"} {
		if _, err := ctl.Load(file); err == nil || !strings.Contains(err.Error(), "want the file that nodesim serve has printed") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

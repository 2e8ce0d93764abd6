package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/replay/fault"
)

// Over HTTP a fault looks as it does on a real server's wire.
func TestFaultsOverHTTP(t *testing.T) {
	for _, c := range []struct{ spec, path, want string }{
		{"close:nodes,type=DELETED", "nodes?watch=1&resourceVersion=20", "200 ADDED 30, MODIFIED 31, MODIFIED 32"},
		{"gone:nodes,type=DELETED", "nodes?watch=1&resourceVersion=20", "200 ADDED 30, MODIFIED 31, MODIFIED 32, ERROR Expired 410"},
		{"stale:nodes,at=12s", "nodes?watch=1&resourceVersion=20", "200 ADDED 30, MODIFIED 31, MODIFIED 32, ERROR Expired 410"},
		{"429:nodes,retry-after=7s", "nodes", "429 retry after 7 TooManyRequests 429"},
		{"500:nodes,verb=watch", "nodes?watch=1", "500 InternalError 500"},
		{"timeout:pods,verb=get", "namespaces/shop/pods/web-1", "504 Timeout 504"},
	} {
		p, err := replay.NewPlayer(replay.Events(header(), roll()), fault.Inject(c.spec))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Open(); err != nil {
			t.Fatal(err)
		}
		s, err := apiserver.New(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := over(t, s, p, c.path); got != c.want {
			t.Errorf("%s: %s, want %s", c.spec, got, c.want)
		}
		s.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// over sends a request, plays the tape, and says in short what came back.
func over(t *testing.T, s *apiserver.Server, p *replay.Player, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	config := s.RESTConfig()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/api/v1/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := p.Seek(ctx, replay.End); err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(resp.StatusCode)
	if after := resp.Header.Get("Retry-After"); after != "" {
		said += " retry after " + after
	}
	var all []string
	type status struct {
		Type, Reason string
		Code         int
		Metadata     struct{ ResourceVersion string }
		Object       json.RawMessage
	}
	for body := json.NewDecoder(resp.Body); ; {
		var ev status
		if err := body.Decode(&ev); errors.Is(err, io.EOF) {
			return said + " " + strings.Join(all, ", ")
		} else if err != nil {
			return said + " " + err.Error()
		}
		of := ev
		if ev.Object != nil {
			if err := json.Unmarshal(ev.Object, &of); err != nil {
				t.Fatal(err)
			}
		}
		words := []string{ev.Type, of.Metadata.ResourceVersion, of.Reason}
		if of.Code > 0 {
			words = append(words, fmt.Sprint(of.Code))
		}
		all = append(all, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
}

package export_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/app/export"
)

// transport answers without a connection.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A collector that never answers is given up after five tries of ten seconds.
func TestOTLPGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := export.Client()
		client.Transport = transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		c := export.Collector{URL: "https://ann:hunter2@collector/v1/traces", Client: client, Clock: clock.RealClock{}}
		begin := time.Now()
		_, err := c.Send(t.Context(), made(1, 2))
		if err == nil || !strings.HasPrefix(err.Error(), "send to https://ann:xxxxx@collector/v1/traces: ") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("found %v", err)
		}
		if took, want := time.Since(begin), (5*10+1+2+4+8)*time.Second; took != want {
			t.Errorf("it took %s, want %s", took, want)
		}
	})
}

// A redirect isn't followed: the headers are for one host.
func TestOTLPFollowsNoRedirect(t *testing.T) {
	client := export.Client()
	client.Transport = transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "collector" {
			t.Errorf("found a request to %s with %v", r.URL.Host, r.Header)
		}
		return &http.Response{
			StatusCode: http.StatusTemporaryRedirect, Status: "307 Temporary Redirect", Header: http.Header{"Location": {"https://other/v1/traces"}},
			Body: http.NoBody, Request: r,
		}, nil
	})
	c := export.Collector{URL: "https://collector/v1/traces", Header: http.Header{"Api-Key": {"mine"}}, Client: client, Clock: clock.RealClock{}}
	if _, err := c.Send(t.Context(), made(1, 2)); err == nil || !strings.Contains(err.Error(), "found status 307 Temporary Redirect: want 200") {
		t.Errorf("found %v", err)
	}
}

func TestRedacted(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://ann:hunter2@host:4318/x": "https://ann:xxxxx@host:4318/x",
		"https://tok3n@host/x?token=abc":  "https://xxxxx@host/x?xxxxx",
		"https://host/v1?token=abc":       "https://host/v1?token=redacted",
		"ann:hunter2@host:4318":           "xxxxx@host:4318",
		"http://ann:hun%ter2@host":        "xxxxx@host",
		"http://localhost:4318":           "http://localhost:4318",
	} {
		if got := export.Redacted(endpoint); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

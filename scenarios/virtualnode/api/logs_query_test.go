package api

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLogQuery(t *testing.T) {
	at := time.Date(2026, 11, 20, 22, 21, 9, 0, time.UTC)
	for query, want := range map[string]ContainerLogOpts{
		"": {},
		"tailLines=5&limitBytes=100&timestamps=true&follow=1&previous=t&sinceSeconds=10": {
			Tail: 5, LimitBytes: 100, Timestamps: true, Follow: true, Previous: true, SinceSeconds: 10,
		},
		"sinceTime=2026-11-20T22:21:09Z":        {SinceTime: at},
		"tailLines=0":                           {NoTail: true},
		"tailLines=0&follow=true":               {NoTail: true, Follow: true},
		"follow=false&stream=All&unknown=7":     {},
		"tailLines=7&tailLines=8":               {Tail: 7},
		"sinceTime=2026-11-20T23:21:09%2B01:00": {SinceTime: at},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseLogOptions(q)
		if err != nil {
			t.Errorf("%q: %v", query, err)
		}
		if !got.SinceTime.Equal(want.SinceTime) {
			t.Errorf("%q: since %v, want %v", query, got.SinceTime, want.SinceTime)
		}
		got.SinceTime = want.SinceTime
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", query, diff)
		}
	}
}

func TestLogQueryRefused(t *testing.T) {
	for query, want := range map[string]string{
		"sinceSeconds=10&sinceTime=2026-11-20T22:21:09Z": "query parameters sinceTime and sinceSeconds: found both, want at most one",
		"tailLines=-1":                    `query parameter tailLines: found "-1", want a whole number of at least 0`,
		"tailLines=many":                  `query parameter tailLines: found "many", want a whole number of at least 0`,
		"limitBytes=0":                    `query parameter limitBytes: found "0", want a whole number of at least 1`,
		"limitBytes=99999999999999999999": `query parameter limitBytes: found "99999999999999999999", want a whole number of at least 1`,
		"sinceSeconds=-10":                `query parameter sinceSeconds: found "-10", want a whole number of at least 1`,
		"sinceSeconds=0":                  `query parameter sinceSeconds: found "0", want a whole number of at least 1`,
		"sinceTime=yesterday":             `query parameter sinceTime: found "yesterday", want a time such as 2026-11-20T22:21:09Z`,
		"follow=maybe":                    `query parameter follow: found "maybe", want true or false`,
		"stream=Stdout":                   `query parameter stream: found "Stdout", want All: both streams are one log here`,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseLogOptions(q)
		if err == nil || err.Error() != want || statusOf(err) != 400 {
			t.Errorf("%q: error %v (status %d), want %s (status 400)", query, err, statusOf(err), want)
		}
		if diff := cmp.Diff(ContainerLogOpts{}, got); diff != "" {
			t.Errorf("%q: options beside an error:\n%s", query, diff)
		}
	}
}

// Whatever is asked, options that are accepted keep what the type promises.
func FuzzLogQuery(f *testing.F) {
	for _, seed := range []string{"", "tailLines=0", "tailLines=5&follow=true", "sinceTime=2026-11-20T22:21:09Z&sinceSeconds=3", "limitBytes=1;a=%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		o, err := parseLogOptions(q)
		if err != nil {
			if statusOf(err) != 400 || o != (ContainerLogOpts{}) {
				t.Fatalf("%q: %v has status %d and options %+v", query, err, statusOf(err), o)
			}
			return
		}
		if o.Tail < 0 || o.LimitBytes < 0 || o.SinceSeconds < 0 || o.SinceSeconds > 0 && !o.SinceTime.IsZero() || o.NoTail && o.Tail != 0 {
			t.Fatalf("%q: %+v", query, o)
		}
	})
}

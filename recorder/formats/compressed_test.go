package formats_test

import (
	"bytes"
	"testing"

	"github.com/nodesim/nodesim/recorder/formats"
)

// A dump of watch events that is compressed makes the same tape, from what can be sought in as from what can't.
func TestCompressedDumps(t *testing.T) {
	dump := []byte(`{"t":"2026-11-20T10:00:00Z","resource":"nodes","event":{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1",` +
		`"metadata":{"name":"a","uid":"u1","resourceVersion":"10","creationTimestamp":"2026-11-20T09:00:00Z"}}}}` + "\n" +
		`{"t":"2026-11-20T10:00:20Z","resource":"nodes","event":{"type":"DELETED","object":{"kind":"Node","apiVersion":"v1",` +
		`"metadata":{"name":"a","uid":"u1","resourceVersion":"12","creationTimestamp":"2026-11-20T09:00:00Z"}}}}` + "\n")
	want, _, err := fromBytes(t, dump)
	if err != nil {
		t.Fatal(err)
	}
	for form, raw := range map[string][]byte{
		"gzip": compressed(t, dump), "zstd": zstded(t, dump), "both": compressed(t, zstded(t, dump)),
	} {
		if got, _, err := fromBytes(t, raw); err != nil || got != want {
			t.Errorf("%s: found %v and\n%s\nwant\n%s", form, err, got, want)
		}
		d, err := formats.Open(t.Context(), bytes.NewBuffer(raw))
		if got, _, err := imported(t, d, err); err != nil || got != want {
			t.Errorf("%s as a stream: found %v and\n%s\nwant\n%s", form, err, got, want)
		}
	}
}

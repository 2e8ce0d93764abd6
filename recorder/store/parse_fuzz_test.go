package store_test

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder/store"
)

// FuzzParse: whatever a bucket has in place of a description, nothing panics; and what is taken for one has keys in the folder of its
// cluster and day alone, and can be written and read again.
func FuzzParse(f *testing.F) {
	whole := `{"name":"20261127t120000z-workers-3f6c1d2a9b","cluster":"c1","clusterName":"prod","group":"workers","first":"2026-11-27T11:50:00.5Z",` +
		`"began":"2026-11-27T00:30:00+01:00","ended":"2026-11-27T12:01:00Z","part":1,"trigger":{"kind":"cordon","resource":"nodes","name":"ip-10-0-1-10",` +
		`"reason":"cordoned","time":"2026-11-27T11:59:59.000001Z"},"outcome":"complete","missing":"its first minute","events":7,"gaps":1,"bytes":900,` +
		`"sha256":"` + strings.Repeat("0a", 32) + `","program":"v0.1.0"}`
	f.Add([]byte(whole))
	for _, change := range [][2]string{
		{`"2026`, `"9999`}, {`"2026-11-27T00:30:00+01:00"`, `"0000-01-01T00:00:00+23:59"`}, {`"2026-11-27T00:30:00+01:00"`, "null"},
		{`"c1"`, `"../c1"`}, {`"c1"`, `"-"`}, {`"name":"`, `"name":"../`}, {`"name":"`, `"name":".`}, {`"prod"`, `"\u001b[2J\ud800<&>"`}, {`"prod"`, "\"\xff\""},
		{"+01:00", "+24:00"}, {`"bytes":900`, `"bytes":-1`}, {`"bytes":900`, `"bytes":1e3`}, {`"0a0a`, `"0A0A`}, {`"trigger":{`, `"TRIGGER":[],"trigger":{`}, {`"part":1,`, `"part":1,"part":2,"more":{},`},
	} {
		f.Add([]byte(strings.ReplaceAll(whole, change[0], change[1])))
	}
	f.Add([]byte("{"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, text []byte) {
		one, err := store.Parse(text)
		if err != nil {
			return
		}
		key := one.Key()
		if path.Clean(key) != key || strings.Count(key, "/") != 4 || !strings.HasPrefix(key, one.Cluster+"/") || path.Base(key) != one.Name {
			t.Errorf("found the key %q of the tape %q of cluster %q, want CLUSTER/YEAR/MONTH/DAY/NAME", key, one.Name, one.Cluster)
		}
		if object := one.Object(); path.Dir(object) != path.Dir(key) {
			t.Errorf("found the object %q, want it beside %q", object, key)
		}
		again, err := store.Parse(one.Text())
		if err != nil {
			t.Fatalf("%q is written as %q, and then refused: %v", text, one.Text(), err)
		}
		if !bytes.Equal(again.Text(), one.Text()) {
			t.Errorf("written again it is\n%s\nwant\n%s", again.Text(), one.Text())
		}
	})
}

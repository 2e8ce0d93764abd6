package apply

import (
	"testing"

	"github.com/nodesim/nodesim/internal/rawjson"
)

func TestDelta(t *testing.T) {
	for _, c := range []struct {
		story, have, want string
		exact             bool
		patch             string
	}{
		{"what is alike needs nothing", `{"a":{"b":1}}`, `{"a":{"b":1}}`, true, `null`},
		{"what the server has added stays", `{"spec":{"podCIDR":"10.0.0.0/24"}}`, `{"spec":{}}`, false, `null`},
		{"or goes", `{"spec":{"podCIDR":"10.0.0.0/24"}}`, `{"spec":{}}`, true, `{"spec":{"podCIDR":null}}`},
		{"a taint too many", `{"taints":[{"key":"not-ready"}]}`, `{"taints":[]}`, false, `{"taints":[]}`},
		{"empty is absent", `{"a":[],"b":{},"c":false,"d":""}`, `{}`, true, `null`},
		{"zero is not", `{"a":0}`, `{}`, true, `{"a":null}`},
		{"what a list's elements have besides", `{"l":[{"name":"web","policy":"Always"}]}`, `{"l":[{"name":"web"}]}`, false, `null`},
		{"or exactly", `{"l":[{"name":"web","waiting":{"reason":"x"}}]}`, `{"l":[{"name":"web"}]}`, true, `{"l":[{"name":"web"}]}`},
		{"numbers as they are spelt", `{"a":12345678901234567890}`, `{"a":12345678901234567891}`, true, `{"a":12345678901234567891}`},
		{"another kind of thing", `{"a":{"b":1}}`, `{"a":"b"}`, true, `{"a":"b"}`},
	} {
		have, err := decode([]byte(c.have))
		if err != nil {
			t.Fatal(err)
		}
		want, err := decode([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		patch := encode(delta(have, want, c.exact))
		if string(patch) != c.patch {
			t.Errorf("%s: found %s, want %s", c.story, patch, c.patch)
		}
		if string(patch) == "null" {
			continue
		}
		// What the patch makes of it equals what was wanted.
		made, err := decode(rawjson.Apply(nil, []byte(c.have), patch))
		if err != nil {
			t.Fatal(err)
		}
		if left := delta(made, want, c.exact); left != nil {
			t.Errorf("%s: the patch leaves %s to do", c.story, encode(left))
		}
	}
}

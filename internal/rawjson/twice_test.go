package rawjson

import (
	"fmt"
	"strings"
	"testing"
)

func TestCompactTakesAMemberOnce(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 3 * fewMembers {
			fmt.Fprintf(&b, `"member-%d":{"a":%d},`, i, i)
		}
		return "{" + b.String() + `"` + last + `":1}`
	}
	for in, want := range map[string]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}],"d":{"a":1}}`: "",
		`{"":1,"a":1,"A":2}`:           "",
		many("last"):                   "",
		`{"a":1,"a":1}`:                `byte 7: found a second member "a", want it once`,
		`{"":1,"":1}`:                  `byte 6: found a second member "", want it once`,
		`{"x":[{"a":1,"b":{},"a":2}]}`: `byte 20: found a second member "a", want it once`,
		`{"a":1,"\u0061":2}`:           `byte 7: found a second member "a", want it once`,
		"{\"\u2028\":1,\"\\u2028\":2}": `byte 9: found a second member "\u2028", want it once`,
		"{\"\xff\":1,\"\xfe\":2}":      "byte 7: found a second member \"\ufffd\", want it once",
		many("member-7"):               `byte 1997: found a second member "member-7", want it once`,
		many("m\\u0065mber-95"):        `byte 1997: found a second member "member-95", want it once`,
		strings.Repeat(`{"a":`, 99) + `{"b":1,"b":2}` + strings.Repeat("}", 99): `byte 502: found a second member "b", want it once`,
	} {
		_, err := Compact(nil, []byte(in))
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%.60s: %s, want %s", in, got, want)
		}
	}
}

func TestOnlyObjectsHaveMembers(t *testing.T) {
	for _, raw := range []string{`["a","b"]`, `"a"`, `[]`, `1`, `null`, ``} {
		for name, value := range Members([]byte(raw)) {
			t.Errorf("%s has a member %s of %s", raw, name, value)
		}
	}
}

package mask_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/mask"
)

// FuzzString: masking again changes nothing, and what Scan doesn't suspect has
// nothing to mask.
func FuzzString(f *testing.F) {
	for in := range credentials {
		f.Add(in)
	}
	f.Add("a:-----BEGIN\x00-----END-----@b")
	f.Add("abcdef.12345678AKIA" + random0)
	f.Fuzz(func(t *testing.T, s string) {
		once := mask.String(s)
		if twice := mask.String(once); twice != once {
			t.Errorf("%q became %q, then %q", s, once, twice)
		}
		if strings.ContainsAny(s, "\"\\") {
			return // escapes are always looked at
		}
		if end, suspect := mask.Scan([]byte(`"`+s+`"`), 1); end != len(s)+1 || !suspect && once != s {
			t.Errorf("%q: ends at %d, suspect %v, became %q", s, end, suspect, once)
		}
	})
}

// 256 KiB of what keeps a rule busy without matching it, or matches it
// everywhere: this would take an hour if a rule were quadratic.
func TestHostileTexts(t *testing.T) {
	for _, unit := range []string{
		"@", "a@", "a:b@", "a:@", ":", "://", "a://b:c/", "a://b:c/@", "-----BEGIN", "-----BEGIN-----END", "--token ", "eyJ", "eyJ.", "eyJaaaa.a ",
		"AKIA", "glpat-", "LS0tLS1CRUdJT", "LS0t", "password=", "password: \"", `"token":"`, `\"token\":`, `\`, `\\\"`, "Bearer ", "bearer a0 ", "abcdef.",
		"=", "a=", "-", "--", "sk-", ".", "a.", "/", "@sha256:", "@a:0",
	} {
		s := strings.Repeat(unit, 256<<10/len(unit))
		if once := mask.String(s); mask.String(once) != once {
			t.Errorf("many %q: masking again changes them", unit)
		}
		if once := mask.String(s + "x:y@z"); mask.String(once) != once {
			t.Errorf("many %q before userinfo: masking again changes them", unit)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	doc := []byte(`"Successfully pulled image nginx:1.29 in 1.4s (1.4s including waiting)","containerd://` + strings.Repeat("0a", 32) + `"`)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		for i := 1; i < len(doc); i++ {
			i, _ = mask.Scan(doc, i)
		}
	}
}

package rawjson

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Patches that are applied at once make the bytes that they make one after the other,
// whether members are looked through or looked up.
func TestApplyAllIsApplyAgainAndAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	wide := func() map[string]any {
		m := object(r)
		for range r.IntN(3 * fewChanges) {
			m[fmt.Sprint("m", r.IntN(4*fewChanges))] = random(r, 2)
		}
		return m
	}
	nested := func() map[string]any {
		return map[string]any{"a": wide(), "b": map[string]any{"c": wide()}, "d": random(r, 1)}
	}
	for range 5000 {
		target := encode(r, nested())
		want, patches := target, make([][]byte, r.IntN(6))
		for i := range patches {
			patches[i] = encode(r, nested())
			want = Apply(nil, want, patches[i])
		}
		if got := ApplyAll([]byte("x"), target, patches...); !bytes.Equal(got, append([]byte("x"), want...)) {
			t.Fatalf("ApplyAll(%s, %s) = %s, want x%s", target, patches, got, want)
		}
	}
}

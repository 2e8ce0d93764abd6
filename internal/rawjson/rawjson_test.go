package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

func TestCompactCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "a" : [ 1 , -2.5e+3 , true , null ] , "b" : { } } `, `{"a":[1,-2.5e+3,true,null],"b":{}}`},
		{`"\/\u003c\ud83d\ude00\u0041"`, "\"/<\U0001f600A\""},
		{"\"\u0085\u2028\x7f\ufffe\"", `"\u0085\u2028\u007f\ufffe"`},
		{`"\ud800x"`, "\"\ufffdx\""},
		{"\"a\xffb\"", "\"a\ufffdb\""},
		{`"\u0000\u001f\n\"\\"`, `"\u0000\u001f\n\"\\"`},
		{`[]`, `[]`},
		{`0`, `0`},
	} {
		got, err := Compact([]byte("x"), []byte(c.in))
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("Compact(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func TestCompactRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, `byte 0: found the end, want a value`},
		{`{"a":1`, `byte 6: found the end, want "," or "}"`},
		{`{"a" 1}`, `byte 5: found '1', want ":"`},
		{`{"a":1,}`, `byte 7: found '}', want a member name in quotes`},
		{`[1,]`, `byte 3: found ']', want a value`},
		{`{a:1}`, `byte 1: found 'a', want a member name in quotes`},
		{`01`, `byte 1: found '1', want the end`},
		{`1.`, `byte 2: found the end, want a digit`},
		{`"\x"`, `byte 2: found 'x', want an escape that JSON knows`},
		{"\"\n\"", `byte 1: found '\n', want an escape instead of a control character`},
		{`"abc`, `byte 4: found the end, want the closing quote of a string`},
		{`nul`, `byte 0: found 'n', want null`},
		{strings.Repeat("[", 101) + strings.Repeat("]", 101), `byte 100: found nesting deeper than 100, want less`},
	} {
		got, err := Compact([]byte("x"), []byte(c.in))
		if err == nil || err.Error() != c.want || string(got) != "x" {
			t.Errorf("Compact(%.20q) = %q, %v, want %s", c.in, got, err, c.want)
		}
	}
}

// A string that Compact has written is the same text to encoding/json, to
// yaml.v3 and to Unquote, whatever was in it.
func TestStringsReadAlike(t *testing.T) {
	check := func(s string) {
		t.Helper()
		raw := AppendString(nil, s)
		want := strings.ToValidUTF8(s, "\ufffd")
		// ToValidUTF8 merges runs of bad bytes, encoding/json doesn't.
		if b, err := json.Marshal(s); err == nil {
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
		}
		var fromJSON, fromYAML string
		if err := json.Unmarshal(raw, &fromJSON); err != nil || fromJSON != want {
			t.Errorf("encoding/json reads %q as %q, %v, want %q", raw, fromJSON, err, want)
		}
		if err := yaml.Unmarshal(raw, &fromYAML); err != nil || fromYAML != want {
			t.Errorf("yaml.v3 reads %q as %q, %v, want %q", raw, fromYAML, err, want)
		}
		if got, ok := Unquote(raw); !ok || got != want {
			t.Errorf("Unquote(%q) = %q, %v, want %q", raw, got, ok, want)
		}
		if again, err := Compact(nil, raw); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("Compact(%q) = %q, %v: want it unchanged", raw, again, err)
		}
	}
	for r := rune(0); r < 0x3100; r++ {
		check("a" + string(r) + "b")
	}
	for _, r := range []rune{0xd7ff, 0xe000, 0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1fffe, 0x10ffff} {
		check(string(r) + " " + string(r))
	}
	check("\xff\xfe broken \xed\xa0\x80")
	check(" - leading: and, trailing # ' \" ")
}

func TestDiffSays(t *testing.T) {
	for _, c := range []struct {
		from, to, want string
		exact          bool
	}{
		{`{"a":1}`, `{"a":1}`, `{}`, true},
		{`{"a":1,"b":{"c":1,"d":2}}`, `{"a":1,"b":{"c":1,"d":3}}`, `{"b":{"d":3}}`, true},
		{`{"a":1,"b":2,"c":3}`, `{"c":3,"a":1}`, `{"b":null}`, true},
		{`{"a":[1,{"x":null}]}`, `{"a":[{"x":null}]}`, `{"a":[{"x":null}]}`, true},
		{`{"a":1}`, `{"a":null}`, ``, false},
		{`{}`, `{"a":{"b":null}}`, ``, false},
		{`{"a":null}`, `{"a":null,"b":1}`, `{"b":1}`, true},
		{`{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":null}}`, true},
		{`{"a":1}`, `{"a":{}}`, `{"a":{}}`, true},
		{`{"a":null}`, `{}`, `{"a":null}`, true},
	} {
		got, exact := Diff(nil, []byte(c.from), []byte(c.to))
		if exact != c.exact || string(got) != c.want {
			t.Errorf("Diff(%s, %s) = %s, %v, want %s, %v", c.from, c.to, got, exact, c.want, c.exact)
		}
	}
}

// random builds values that provoke merge patches: few names, nulls, arrays,
// objects in scalars' places.
func random(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case depth == 0 || n < 4:
		return []any{nil, true, json.Number(fmt.Sprint(r.IntN(3))), "x", ""}[r.IntN(5)]
	case n < 5:
		return []any{random(r, depth-1), random(r, depth-1)}
	}
	m := map[string]any{}
	for range r.IntN(4) {
		m[string(rune('a'+r.IntN(5)))] = random(r, depth-1)
	}
	return m
}

func object(r *rand.Rand) map[string]any {
	for {
		if m, ok := random(r, 4).(map[string]any); ok {
			return m
		}
	}
}

// mergePatch is RFC 7386's own pseudo code, the dumb twin of Apply.
func mergePatch(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if m, ok := target.(map[string]any); ok {
		for k, v := range m {
			out[k] = v
		}
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = mergePatch(out[k], v)
		}
	}
	return out
}

// encode writes members in a random order, as another encoder might.
func encode(r *rand.Rand, v any) []byte {
	m, ok := v.(map[string]any)
	if !ok {
		b, _ := json.Marshal(v)
		return b
	}
	out := []byte("{")
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for i, k := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, fmt.Sprintf("%q:", k)...), encode(r, m[k])...)
	}
	return append(out, '}')
}

func decode(t *testing.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestMergePatchAgainstNaivePatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	exactOnes := 0
	for range 20000 {
		from, to := object(r), object(r)
		rawFrom, rawTo := encode(r, from), encode(r, to)
		if got, want := decode(t, Apply(nil, rawFrom, rawTo)), mergePatch(from, to); !reflect.DeepEqual(got, want) {
			t.Fatalf("Apply(%s, %s): %s", rawFrom, rawTo, cmp.Diff(want, got))
		}
		patch, exact := Diff(nil, rawFrom, rawTo)
		if !exact {
			continue
		}
		exactOnes++
		if got := decode(t, Apply(nil, rawFrom, patch)); !reflect.DeepEqual(got, any(to)) {
			t.Fatalf("from %s to %s by %s: %s", rawFrom, rawTo, patch, cmp.Diff(any(to), got))
		}
	}
	if exactOnes < 1000 {
		t.Errorf("only %d of 20000 patches were exact: the trial says little", exactOnes)
	}
}

func FuzzCompact(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5,"x\ud83d\ude00"],"b":null}`, `"\u2028"`, "\xff", `[[[[`, `{"a":{"b":{}}}`,
		`{"0":["00\u01000"],"0":null}`, `{"a":[{"\ud800":1,"\ufffd":2}]}`, `{"a":{"a":1},"b":[{"a":1},{"a":1}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := Compact(nil, src)
		if valid := json.Valid(src); valid != (err == nil) {
			if valid && strings.Contains(err.Error(), "nesting") {
				return
			}
			if !valid || !repeats(t, src) {
				t.Fatalf("Compact says %v, encoding/json says valid: %v", err, valid)
			}
			if !strings.Contains(err.Error(), "a second member") {
				t.Fatalf("Compact says %v of a document that repeats a member", err)
			}
		} else if valid && repeats(t, src) {
			t.Fatalf("Compact takes %q, which repeats a member", src)
		}
		if err != nil {
			return
		}
		if !utf8.Valid(got) || bytes.ContainsAny(got, "\n\u0085\u2028\u2029") {
			t.Fatalf("%q is not one clean line", got)
		}
		if want, have := decode(t, src), decode(t, got); !reflect.DeepEqual(want, have) {
			t.Fatalf("%q means something else than %q", got, src)
		}
		if again, err := Compact(nil, got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("Compact(%q) = %q, %v: want it unchanged", got, again, err)
		}
	})
}

// repeats reports whether an object of a valid document has two members of one
// name, as encoding/json reads names.
func repeats(t *testing.T, src []byte) bool {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil inside of an array
		value bool            // what comes next is a member's value
	}
	open := []*level{{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		in := open[len(open)-1]
		name, isString := token.(string)
		switch {
		case token == json.Delim('}') || token == json.Delim(']'):
			open = open[:len(open)-1]
			continue
		case isString && in.names != nil && !in.value:
			if in.names[name] {
				return true
			}
			in.names[name], in.value = true, true
			continue
		}
		in.value = false
		switch token {
		case json.Delim('{'):
			open = append(open, &level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &level{})
		}
	}
}

// Whatever the bytes are, walking them ends and stays inside.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,"\"`), []byte(`{"a":`))
	f.Add([]byte(`{"`), []byte(`{"a":1,"b":{"c":null}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if patch, exact := Diff(nil, a, b); exact && patch == nil {
			t.Fatal("no patch")
		}
		Apply(nil, a, b)
		ApplyAll(nil, a, b, a, b)
		Text(a, "a", "b")
		for e := range Elements(a) {
			Unquote(e)
		}
	})
}

var node = func() []byte {
	var b strings.Builder
	b.WriteString(`{"metadata":{"creationTimestamp":"2026-11-20T22:21:05Z","labels":{`)
	for i := range 20 {
		fmt.Fprintf(&b, `"label.example.com/number-%02d":"value-%d",`, i, i)
	}
	b.WriteString(`"last":"x"}},"spec":{"providerID":"aws:///us-east-1a/i-0123"},"status":{"capacity":{"cpu":"8","memory":"16Gi"},"conditions":[`)
	for i, c := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"type":%q,"status":"False","lastHeartbeatTime":"2026-11-20T22:21:05Z","lastTransitionTime":"2026-11-20T22:21:05Z","reason":"KubeletHasSufficient","message":"kubelet has sufficient something available"}`, c)
	}
	b.WriteString(`],"nodeInfo":{"kubeletVersion":"v1.33.4"}}}`)
	return []byte(b.String())
}()

func BenchmarkCompact(b *testing.B) {
	b.SetBytes(int64(len(node)))
	var buf []byte
	for b.Loop() {
		buf, _ = Compact(buf[:0], node)
	}
}

func BenchmarkDiff(b *testing.B) {
	to := bytes.Replace(node, []byte(`"lastHeartbeatTime":"2026-11-20T22:21:05Z"`), []byte(`"lastHeartbeatTime":"2026-11-20T22:21:15Z"`), 1)
	b.SetBytes(int64(len(node)))
	var buf []byte
	for b.Loop() {
		buf, _ = Diff(buf[:0], node, to)
	}
}

func BenchmarkApply(b *testing.B) {
	to := bytes.Replace(node, []byte(`"lastHeartbeatTime":"2026-11-20T22:21:05Z"`), []byte(`"lastHeartbeatTime":"2026-11-20T22:21:15Z"`), 1)
	patch, _ := Diff(nil, node, to)
	b.SetBytes(int64(len(node)))
	var buf []byte
	for b.Loop() {
		buf = Apply(buf[:0], node, patch)
	}
}

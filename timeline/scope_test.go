package timeline

import (
	"bytes"
	"strings"
	"testing"
)

// The pods of a roll are named by the header, and stay named.
func TestScopeOfPodsRoundTrip(t *testing.T) {
	h := sampleHeader()
	h.Scope.Pods, h.Scope.Namespace = "app in (web, api),tier!=db", "shop"
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, []Event{{Type: End}})
	for _, style := range []Style{StyleLines, StyleBlock, StyleJSON} {
		text := formatted(t, b.Bytes(), style)
		if style != StyleJSON && !strings.Contains(string(text), "  pods: app in (web, api),tier!=db\n  namespace: shop\n") {
			t.Errorf("%s: the header is\n%s", style, text)
		}
		got := openBytes(t, text).Header().Scope
		if got.Pods != h.Scope.Pods || got.Namespace != "shop" || got.Nodegroup != "spot-burst" || len(got.Extra) != 0 {
			t.Errorf("%s: the scope is %+v", style, got)
		}
	}
	line, _, _ := bytes.Cut(formatted(t, b.Bytes(), StyleJSON), []byte("\n"))
	if err := schemaOf(t, HeaderSchema())(line); err != nil {
		t.Errorf("the schema refuses %s: %v", line, err)
	}
}

// What no selector is, the Reader refuses in one line, and the Writer with it.
func TestScopeOfPodsRefused(t *testing.T) {
	for _, c := range []struct{ pods, namespace, want string }{
		{"app=web,,", "", `scope.pods "app=web,,": found ',', expected: identifier after ',': want a label selector such as app=web,tier!=db`},
		{"app in web", "", `scope.pods "app in web": unable to parse requirement: found 'web' expected: '(': want a label selector such as app=web,tier!=db`},
		{"", "shop", `scope.namespace "shop" alone: want scope.pods beside it, a label selector such as app=web`},
		{"app=web", "Shop/1", `: want the name of a namespace, such as shop`},
	} {
		h := sampleHeader()
		h.Scope.Pods, h.Scope.Namespace = c.pods, c.namespace
		if _, err := NewWriter(new(bytes.Buffer), h); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Writer: %v\nwant %s", err, c.want)
		}
		text, err := h.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewReader(bytes.NewReader(append(text, "---\n"...))); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Reader: %v\nwant %s", err, c.want)
		}
	}
}

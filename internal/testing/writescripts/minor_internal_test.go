package writescripts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestMinorsOfARow(t *testing.T) {
	for _, c := range [][2]string{
		{"*", "34 35 36 37 38"},
		{"1.34", "34"},
		{"1.35,1.37", "35 37"},
		{"<=1.35", "34 35"},
		{">=1.37", "37 38"},
		{"<=1.34,>=1.38", "34 38"},
		{"1.3", ""},
	} {
		text, want := c[0], c[1]
		all, err := parseMinors(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for m := Minor(34); m <= 38; m++ {
			if all.has(m) {
				got = append(got, fmt.Sprint(int(m)))
			}
		}
		if is := strings.Join(got, " "); is != want {
			t.Errorf("%s: found the minors %q, want %q", text, is, want)
		}
	}
}

func TestMinorsThatNobodyCanMean(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""}, {"1", "1"}, {"1.34.3", "1.34.3"}, {"v1.34", "v1.34"}, {"<1.34", "<1.34"}, {"<=>=1.34", "<=>=1.34"}, {"2.1", "2.1"},
		{"1.34,", ""}, {"1.34, 1.35", " 1.35"}, {"1.34,*", "*"}, {"1.34-1.36", "1.34-1.36"},
	} {
		text, part := c[0], c[1]
		_, err := parseMinors(text)
		if want := fmt.Sprintf("minors %q: found %q: want * for all, or 1.34", text, part); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("found %v, want an error that begins with %s", err, want)
		}
	}
}

func TestServerMinor(t *testing.T) {
	for _, c := range []struct {
		code         int
		answer, want string
	}{
		{200, `{"major":"1","minor":"34","gitVersion":"v1.34.3"}`, "1.34 <nil>"},
		{200, `{"major":"1","minor":"33+","gitVersion":"v1.33.4-eks-1a2b3c"}`, "1.33 <nil>"},
		{200, `{"major":"","minor":"","gitVersion":""}`, `1.0 GET SERVER/version: found the gitVersion "": want one such as v1.36.3; ` +
			`set KUBEBUILDER_ASSETS to the folder that make controlplane prints, whose kube-apiserver knows its version`},
		{200, `{"gitVersion":"v0.0.0-master+$Format:%H$"}`, `1.0 GET SERVER/version: found the gitVersion "v0.0.0-master+$Format:%H$": want one such as v1.36.3; ` +
			`set KUBEBUILDER_ASSETS to the folder that make controlplane prints, whose kube-apiserver knows its version`},
		{200, `ok`, `1.0 GET SERVER/version: found "ok": want JSON with a gitVersion: invalid character 'o' looking for beginning of value`},
		{403, `{"kind":"Status","reason":"Forbidden","message":"no"}`, "1.0 GET /version: 403 Forbidden: no"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/version" {
				t.Errorf("found a request of %s, want /version", r.URL.Path)
			}
			w.WriteHeader(c.code)
			_, _ = w.Write([]byte(c.answer)) // a client that is gone says so itself
		}))
		m, err := ServerMinor(t.Context(), &rest.Config{Host: server.URL + "/"})
		server.Close()
		if got := strings.ReplaceAll(fmt.Sprint(m, " ", err), server.URL, "SERVER"); got != c.want {
			t.Errorf("%s: found %s, want %s", c.answer, got, c.want)
		}
	}
}

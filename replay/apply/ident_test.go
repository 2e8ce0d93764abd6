package apply_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/replay/apply"
)

// Any name makes a label value that Kubernetes takes, and two names make two.
func TestLabelValueOfAnyName(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{
		"", "surge", "surge.", "-surge", "a/b", "a b", "a-b", "ünïcode", "…", "--", strings.Repeat("x", 63), strings.Repeat("x", 64),
		strings.Repeat("x", 65), strings.Repeat("-", 100), "x" + strings.Repeat("-", 100) + "y", "a\nb", "a\x00b",
	} {
		v := apply.LabelValue(name)
		if errs := validation.IsValidLabelValue(v); len(errs) > 0 || v == "" {
			t.Errorf("%q became %q: %v", name, v, errs)
		}
		if other, ok := seen[v]; ok {
			t.Errorf("%q and %q both became %q", name, other, v)
		}
		seen[v] = name
	}
	if v := apply.LabelValue("surge"); v != "surge" {
		t.Errorf("a good name became %q", v)
	}
}

func FuzzLabelValue(f *testing.F) {
	f.Add("spot burst")
	f.Fuzz(func(t *testing.T, name string) {
		if v := apply.LabelValue(name); v == "" || len(validation.IsValidLabelValue(v)) > 0 {
			t.Errorf("%q became %q", name, v)
		}
	})
}

package timeline

import (
	"bytes"
	"strings"
	"testing"
)

// A number in a member of the header that nobody knows keeps its value, in
// whatever way YAML spells it, and stays a number.
func TestNumbersOfAHeaderAsJSON(t *testing.T) {
	tape := func(number string) string {
		return strings.Replace(head, "resources:", "later: {x: ["+number+"]}\nresources:", 1) + added
	}
	for yaml, want := range map[string]string{
		"0755": "493", "0o755": "493", "0x1F": "31", "0b11": "3", "+5": "5", "1_000": "1000", "-0x10": "-16",
		".5": "0.5", "5.": "5", "-.5e1": "-5", "1e3": "1e3", "0.10": "0.10", "18446744073709551615": "18446744073709551615",
		"123456789012345678901234567890": "123456789012345678901234567890", `"0755"`: `"0755"`, "2026-11-20": `"2026-11-20"`,
	} {
		var b, again bytes.Buffer
		if _, err := Format(&b, strings.NewReader(tape(yaml)), StyleJSON); err != nil {
			t.Errorf("%s: %v", yaml, err)
			continue
		}
		if line, _, _ := strings.Cut(b.String(), "\n"); !strings.Contains(line, `"later":{"x":[`+want+`]}`) {
			t.Errorf("%s: %s, want %s", yaml, line, want)
		}
		if _, err := Format(&again, bytes.NewReader(b.Bytes()), StyleJSON); err != nil || again.String() != b.String() {
			t.Errorf("%s: again %v, %s", yaml, err, again.String())
		}
	}
	for _, yaml := range []string{".inf", "-.Inf", ".nan"} {
		_, err := Format(&bytes.Buffer{}, strings.NewReader(tape(yaml)), StyleJSON, Name("bad.yaml"))
		want := "timeline bad.yaml: a header with " + yaml + ": want a number as JSON writes it, or quotes around it"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", yaml, err, want)
		}
	}
}

package golden

import (
	"regexp"
	"strings"
	"testing"
)

const (
	uidA = "0a1b2c3d-0000-4000-8000-00000000000a"
	uidB = "0a1b2c3d-0000-4000-8000-00000000000b"
)

func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		rules []Rule
		want  string
	}{
		"numbered by first appearance": {
			uidB + " " + uidA + " " + uidB, []Rule{UIDs()},
			"<uid:1> <uid:2> <uid:1>",
		},
		"case of a UID is no difference": {
			strings.ToUpper(uidA) + " " + uidA, []Rule{UIDs()},
			"<uid:1> <uid:1>",
		},
		"a longer run of digits is no UID": {
			"f" + uidA + "0", []Rule{UIDs()},
			"f" + uidA + "0",
		},
		"versions in every form": {
			`{"resourceVersion":"481","rv":"512"} resourceVersion: "481" rv=7 "{\"resourceVersion\":\"512\"}" rv: x serv: "5"`,
			[]Rule{ResourceVersions()},
			`{"resourceVersion":"<rv:1>","rv":"<rv:2>"} resourceVersion: "<rv:1>" rv=<rv:3> "{\"resourceVersion\":\"<rv:2>\"}" rv: x serv: "5"`,
		},
		"times, not durations": {
			"2026-11-20T22:21:09.113Z T+1m32.412s 2026-11-20T22:21:09+01:00 2026-11-20T22:21:09.113Z 2026-11-20", []Rule{Times()},
			"<time:1> T+1m32.412s <time:2> <time:1> 2026-11-20",
		},
		"kinds count apart, the order of the rules does not matter": {
			`2026-11-20T22:21:09Z ` + uidA + ` rv=4`, []Rule{ResourceVersions(), UIDs(), Times()},
			"<time:1> <uid:1> rv=<rv:1>",
		},
		"a later rule sees nothing of an earlier one": {
			uidA + " port 31000", []Rule{UIDs(), Replace("number", regexp.MustCompile(`[0-9]+`))},
			"<uid:1> port <number:1>",
		},
		"rules of one kind count together": {
			"pod-x7k2p node-9 pod-x7k2p", []Rule{
				Replace("name", regexp.MustCompile(`node-[0-9]`)), Replace("name", regexp.MustCompile(`pod-\w+`)),
			},
			"<name:1> <name:2> <name:1>",
		},
		"first group that took part": {
			"ip=10.0.0.1 host:a ip=10.0.0.2", []Rule{Replace("addr", regexp.MustCompile(`ip=(\S+)|host:(\S+)`))},
			"ip=<addr:1> host:<addr:2> ip=<addr:3>",
		},
		"rewriting comes first": {
			"one " + uidA, []Rule{UIDs(), Rewrite(strings.ToUpper)},
			"ONE <uid:1>",
		},
		"empty matches":  {"abc", []Rule{Replace("x", regexp.MustCompile(`x*`))}, "abc"},
		"the zero rule":  {"abc", []Rule{{}}, "abc"},
		"no rules":       {uidA, nil, uidA},
		"nothing at all": {"", []Rule{UIDs(), Times()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Normalize(c.text, c.rules...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Two runs that differ only in what varies give one text.
func TestNormalizeMakesRunsEqual(t *testing.T) {
	run := func(uid1, uid2, rv, at string) string {
		return `{"uid":"` + uid1 + `","resourceVersion":"` + rv + `","at":"` + at + `"}` + "\n" + `{"uid":"` + uid2 + `","ownerUID":"` + uid1 + `"}`
	}
	rules := []Rule{UIDs(), ResourceVersions(), Times()}
	first := Normalize(run(uidA, uidB, "100", "2026-11-20T22:21:09Z"), rules...)
	second := Normalize(run(uidB, uidA, "7", "2027-01-01T00:00:00.5Z"), rules...)
	if first != second {
		t.Errorf("the runs differ:\n%s\n%s", first, second)
	}
}

func FuzzNormalizeIsStable(f *testing.F) {
	f.Add(uidA + ` "rv":"12" 2026-11-20T22:21:09Z`)
	f.Add(`<uid:1> rv=<rv:9>`)
	f.Fuzz(func(t *testing.T, text string) {
		rules := []Rule{UIDs(), ResourceVersions(), Times()}
		once := Normalize(text, rules...)
		if again := Normalize(once, rules...); again != once {
			t.Errorf("normalising twice differs:\n%q\n%q", once, again)
		}
		if uidPattern.MatchString(once) && !uidPattern.MatchString(text) {
			t.Errorf("a UID appeared out of nothing in %q", once)
		}
	})
}

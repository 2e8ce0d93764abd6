package noderoll_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
)

func TestEntryText(t *testing.T) {
	for _, tc := range []struct {
		entry noderoll.Entry
		want  string
	}{
		{noderoll.Entry{At: 92412 * time.Millisecond, Kind: "draining", Node: "ip-10-0-1-10"}, "T+1m32.412s  draining    ip-10-0-1-10"},
		{noderoll.Entry{Kind: "online", Node: "a"}, "T+0.000s     online      a"},
		{noderoll.Entry{At: 59999999 * time.Microsecond, Kind: "mark", Reason: "x"}, "T+59.999s    mark        -                 x"},
		{noderoll.Entry{At: 2*time.Hour + 3*time.Second, Kind: "complete"}, "T+2h00m03.000s  complete"},
		{noderoll.Entry{At: 10 * time.Minute, Kind: "gap", Object: "pods", Reason: "410 Expired"}, "T+10m00.000s  gap         -                 pods  410 Expired"},
		{noderoll.Entry{At: -1500 * time.Millisecond, Kind: "online", Node: "a"}, "T-1.500s     online      a"},
		{noderoll.Entry{Kind: "warning", Node: "a", Object: "Pod/shop/web", Message: "two\nlines\t\x1b[31mred"}, "T+0.000s     warning     a                 Pod/shop/web  two lines \ufffd[31mred"},
		{noderoll.Entry{Kind: "online", Node: "a\u202eb"}, "T+0.000s     online      a\ufffdb"},
		{noderoll.Entry{At: math.MaxInt64, Kind: "x"}, "T+2562047h47m16.854s  x"},
		{noderoll.Entry{At: math.MinInt64, Kind: "x"}, "T-2562047h47m16.854s  x"},
	} {
		if got := tc.entry.String(); got != tc.want {
			t.Errorf("%+v:\ngot  %q\nwant %q", tc.entry, got, tc.want)
		}
	}
}

func TestTextFormatAlignsWhatItIsToldAbout(t *testing.T) {
	f := noderoll.TextFormat{StampWidth: noderoll.StampWidth(12 * time.Minute), NodeWidth: len("ip-10-0-10-170.ec2.internal")}
	var got []string
	for _, e := range []noderoll.Entry{
		{At: time.Second, Kind: "evicted", Node: "ip-10-0-1-7.ec2.internal", Object: "Pod/shop/web-1"},
		{At: 11 * time.Minute, Kind: "evicted", Node: "ip-10-0-10-170.ec2.internal", Object: "Pod/shop/web-2"},
	} {
		got = append(got, string(f.Append(nil, e)))
	}
	want := []string{
		"T+1.000s      evicted     ip-10-0-1-7.ec2.internal     Pod/shop/web-1",
		"T+11m00.000s  evicted     ip-10-0-10-170.ec2.internal  Pod/shop/web-2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEntryJSON(t *testing.T) {
	for _, tc := range []struct {
		entry noderoll.Entry
		want  string
	}{
		{noderoll.Entry{At: 92412 * time.Millisecond, Kind: "draining", Node: "ip-10-0-1-10"}, `{"at":"92.412s","kind":"draining","node":"ip-10-0-1-10"}`},
		{noderoll.Entry{Kind: "complete", Message: "3 nodes on target"}, `{"at":"0s","kind":"complete","message":"3 nodes on target"}`},
		{noderoll.Entry{At: 1, Kind: "gap", Object: "pods", Reason: "r", Message: "<&>"}, `{"at":"0.000000001s","kind":"gap","object":"pods","reason":"r","message":"<&>"}`},
		{noderoll.Entry{At: -1500 * time.Millisecond, Kind: "mark", Reason: "\x1b\u0085\u202e\u2028\U000e0041\"\\\n"},
			`{"at":"-1.5s","kind":"mark","reason":"\u001b\u0085\u202e\u2028\udb40\udc41\"\\\u000a"}`},
	} {
		if got := string(tc.entry.AppendJSON(nil)); got != tc.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", tc.entry, got, tc.want)
		}
		var back noderoll.Entry
		if err := json.Unmarshal([]byte(tc.want), &back); err != nil || back != tc.entry {
			t.Errorf("%s: read back as %+v, %v", tc.want, back, err)
		}
	}
}

func TestEntryJSONRefusesOtherTimes(t *testing.T) {
	for _, at := range []string{"", "5", "s", "1m", "1.s", ".5s", "1e3s", "+1s", "--1s", "1.0000000001s", "9223372036.854775808s", "9999999999999999999s", "1 s"} {
		var e noderoll.Entry
		err := json.Unmarshal([]byte(`{"at":"`+at+`","kind":"x"}`), &e)
		if err == nil || !strings.Contains(err.Error(), `"`+at+`"`) {
			t.Errorf("at %q: got error %v, want one that names it", at, err)
		}
	}
}

func FuzzEntry(f *testing.F) {
	f.Add(int64(92412000000), "ip-10-0-1-10", "Pod/shop/web", "two\nlines")
	f.Add(int64(math.MaxInt64), "a", "", "")
	f.Add(int64(math.MinInt64), "a", "", "")
	f.Add(int64(-1), "\u202e", "\x9b31m", "\xff\ufffd")
	f.Fuzz(func(t *testing.T, at int64, node, object, message string) {
		e := noderoll.Entry{At: time.Duration(at), Kind: noderoll.EvtWarning, Node: node, Object: object, Message: message}
		line := e.AppendJSON(nil)
		for _, text := range []string{string(line), e.String()} {
			if noderoll.OneLine(text) != strings.Join(strings.Fields(text), " ") {
				t.Errorf("a form is not safe to print: %q", text)
			}
		}
		var back noderoll.Entry
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		want := e
		want.Node, want.Object, want.Message = string([]rune(node)), string([]rune(object)), string([]rune(message))
		if back != want {
			t.Errorf("read back as %+v, want %+v", back, want)
		}
	})
}

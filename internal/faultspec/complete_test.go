package faultspec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/faultspec"
)

func ExampleComplete() {
	for _, text := range []string{"dr", "drop:no", "429:pods,ret", "429,verb=read+wa", "close,when=node:ip-1*:dr", "gone,in=", "close,lose=ADDED+"} {
		for _, c := range faultspec.Complete(text) {
			fmt.Println(text, "->", c.Text)
		}
	}
	// Output:
	// dr -> drop
	// drop:no -> drop:nodes
	// 429:pods,ret -> 429:pods,retry-after=
	// 429,verb=read+wa -> 429,verb=read+watch
	// close,when=node:ip-1*:dr -> close,when=node:ip-1*:draining
	// gone,in= -> gone,in=stream
	// gone,in= -> gone,in=open
	// close,lose=ADDED+ -> close,lose=ADDED+MODIFIED
	// close,lose=ADDED+ -> close,lose=ADDED+DELETED
}

// Taking one offer after the other, from nothing on, gives a fault of each kind
// with all of its parameters that the offers have a value for.
func TestOffersLeadToFaults(t *testing.T) {
	for _, k := range faultspec.Kinds() {
		for _, p := range k.Params {
			text := k.Name + ":nodes,"
			if p == "seed" {
				text += "p=0.2,"
			}
			var offered bool
			for _, c := range faultspec.Complete(text) {
				offered = offered || c.Text == text+p+"="
			}
			if !offered {
				t.Errorf("%s: the parameter %s isn't offered", text, p)
			}
			for _, c := range faultspec.Complete(text + p + "=") {
				whole := c.Text
				if strings.HasSuffix(whole, ":*:") {
					whole += "draining"
				} else if strings.HasSuffix(whole, ":") {
					whole += "surge"
				}
				if _, err := faultspec.Parse(whole); err != nil {
					t.Errorf("offered for %s=: %v", p, err)
				}
			}
		}
	}
}

func TestWhatCannotBecomeAFaultHasNoOffer(t *testing.T) {
	for _, text := range []string{"melt", "melt:", "melt,", "drop,tpye=", "drop,verb=", "drop:nosuch", "429,verb=melt+", "drop,type=ADDED,type", "drop,when=node:a:melting", `drop,name="a,ty`} {
		if got := faultspec.Complete(text); len(got) > 0 {
			t.Errorf("%s: got %v", text, got)
		}
	}
	if got := faultspec.Complete(`drop,selector="a=b,c=d",ty`); len(got) != 1 || !strings.HasSuffix(got[0].Text, ",type=") {
		t.Errorf("after a quoted value: got %v", got)
	}
}

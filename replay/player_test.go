package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const roll = start + `
	0 MARK begin
	1 MODIFIED nodes a 60 spec.unschedulable=true
	1 MODIFIED pods default/p 61
	4 MARK middle
	4.5 GAP pods 61
	5 DELETED pods default/p -
	5.5 ADDED nodes c 70
	6 ADDED pods default/q 71
	6 SYNC pods 80
	100 SYNC nodes 81
	130 DELETED nodes a 90
	131 END`

func player(t testing.TB, lines string, opts ...Option) *Player {
	t.Helper()
	p, err := NewPlayer(Events(header(), tape(t, lines)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestStep(t *testing.T) {
	p := player(t, roll)
	var got []string
	for {
		err := p.Step()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(p.Status().Number))
	}
	// The lists; MARK; two changes; MARK; c while pods are in a gap; the gap; SYNC; a; END.
	equal(t, "steps", strings.Join(got, " "), "5 6 7 8 9 12 14 15 16 17")
	equal(t, "markers", fmt.Sprint(p.Markers()), "[{begin 0s 6} {middle 4s 9}]")
}

func TestBadTapeEndsThePlayer(t *testing.T) {
	p := player(t, start+"\n1 MODIFIED nodes a 60\n2 MODIFIED nodes zz 61\n3 DELETED nodes a 62", WithSpeed(Max))
	err := p.Run(context.Background())
	equal(t, "error", fmt.Sprint(err), `event 7 at 2s: MODIFIED nodes "zz": is not alive: want its ADDED before`)
	equal(t, "state", list(t, p.Cluster(), nodes, "", metav1.ListOptions{}), "@60 a@60 b@20")
	if again := p.Step(); !errors.Is(again, err) {
		t.Errorf("Step: %v", again)
	}
	if err := p.Seek(context.Background(), 0); err != nil {
		t.Errorf("back before it: %v", err)
	}
}

func TestSummarize(t *testing.T) {
	s, err := Summarize(context.Background(), Events(header(), tape(t, roll)))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "survey", fmt.Sprintf("%+v", s), "{Events:17 Duration:2m11s Markers:[{Name:begin At:0s Number:6} {Name:middle At:4s Number:9}] Gaps:1 Ended:true}")
}

package autoscaler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/autoscaler"
)

// eventTimes are the moments at which Events of a reason were written first.
func (c *scaling) eventTimes(reason string) []time.Duration {
	c.Helper()
	var out []time.Duration
	for _, line := range c.tape {
		if at, rest, _ := strings.Cut(line, " "); strings.HasPrefix(rest, "ADDED events") && strings.Contains(rest, `"`+reason+`"`) {
			d, err := time.ParseDuration(at)
			if err != nil {
				c.Fatal(err)
			}
			out = append(out, d)
		}
	}
	return out
}

func TestEventsComeAsFastAsTheClientMay(t *testing.T) {
	c := newScaling(t, 0, "workers 0..0 0")
	c.keep = true
	c.scale()
	c.deploy("web", 40, 900)
	c.run(4 * time.Minute)
	at := c.eventTimes("NotTriggerScaleUp")
	if len(at) != 40 {
		t.Fatalf("%d pods were told of, want 40, each once", len(at))
	}
	for k := range at {
		want := at[0]
		if k >= 10 {
			want += time.Duration(k-9) * 200 * time.Millisecond
		}
		if at[k] != want {
			t.Fatalf("event %d is of %v, want %v: ten at once, then five a second", k, at[k], want)
		}
	}
}

func TestAPodIsToldAgainAfterFiveMinutes(t *testing.T) {
	c := newScaling(t, 0, "workers 0..0 0")
	c.keep = true
	c.scale()
	c.deploy("web", 1, 900)
	c.run(16 * time.Minute)
	if n := len(c.eventTimes("NotTriggerScaleUp")); n != 1 {
		t.Errorf("%d events, want one that counts up", n)
	}
	counts := 0
	for _, line := range c.tape {
		if strings.Contains(line, "MODIFIED events") && strings.Contains(line, "/web-") && strings.Contains(line, `,"count":`) {
			counts++
		}
	}
	if counts != 3 {
		t.Errorf("it counted up %d times within 16 minutes, want 3", counts)
	}
}

func TestStandbyOfAGroupThatIsntScaled(t *testing.T) {
	c := newScaling(t, 0, "workers 1..9 1")
	autoscaler.New(c.Env, autoscaler.Config{
		Groups: c.groups, Kubelets: c.config, Standby: []autoscaler.Standby{{Group: "gpu", Count: 1}},
	})
	want := `standby of group "gpu": it isn't scaled: name one of the autoscaler's groups`
	if err := c.Run(time.Minute); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

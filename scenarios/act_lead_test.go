package scenarios

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Until when a leader leads, after writes of its Lease at positions of the cluster's time, by a clock that may go at another pace or
// be wrong.
func TestUntilWhenALeaderLeads(t *testing.T) {
	begin := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	type write struct {
		holder  string
		at      time.Duration // in the cluster's time
		renewed time.Duration // by the holder's clock
	}
	const never = -1 * time.Second
	for _, one := range []struct {
		name   string
		writes []write
		lasts  int32
		want   time.Duration
	}{
		{"one renewal", []write{{"a", time.Minute, time.Minute}}, 15, 75 * time.Second},
		{"renewals", []write{{"a", 0, 0}, {"a", 2 * time.Second, 2 * time.Second}}, 15, 17 * time.Second},
		{"something else is written", []write{{"a", 0, 0}, {"a", 10 * time.Second, 0}}, 15, 15 * time.Second},
		{"given up", []write{{"a", 0, 0}, {"", time.Second, time.Second}}, 15, 0},
		{"another holder", []write{{"a", 0, 0}, {"b", 20 * time.Second, 20 * time.Second}}, 15, 35 * time.Second},
		{"no duration", []write{{"a", 0, 0}}, 0, never},
		{"a cluster that is ten times as fast", []write{{"a", 0, 0}, {"a", 20 * time.Second, 2 * time.Second}}, 15, 170 * time.Second},
		{"a cluster that is slower", []write{{"a", 0, 0}, {"a", time.Second, 2 * time.Second}}, 15, 16 * time.Second},
		{"another clock", []write{{"a", 0, -time.Hour}}, 15, never},
		{"another clock's second renewal", []write{{"a", 0, -time.Hour}, {"a", 2 * time.Second, 2*time.Second - time.Hour}}, 15, 17 * time.Second},
		{"a clock that stands still", []write{{"a", 0, 0}, {"a", 90000 * time.Hour, time.Microsecond}}, 15, never},
	} {
		t.Run(one.name, func(t *testing.T) {
			var l lead
			for _, w := range one.writes {
				renewed := metav1.NewMicroTime(begin.Add(w.renewed))
				s := &coordinationv1.LeaseSpec{HolderIdentity: &w.holder, RenewTime: &renewed}
				if one.lasts > 0 {
					s.LeaseDurationSeconds = &one.lasts
				}
				l = l.seen(s, w.at, begin.Add(w.at))
			}
			got := l.until
			if got == forever {
				got = never
			}
			if got != one.want {
				t.Errorf("until %s, want %s", got, one.want)
			}
		})
	}
}

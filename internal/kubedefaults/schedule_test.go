package kubedefaults_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/kubedefaults"
)

func TestSchedules(t *testing.T) {
	at := func(s string) time.Time {
		when, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	// The first as spec_test.go of github.com/robfig/cron/v3 has them.
	for _, c := range []struct{ schedule, after, want string }{
		{"*/15 * * * *", "2012-07-09T14:45:00Z", "2012-07-09T15:00:00Z"},
		{"*/15 * * * *", "2012-07-09T14:59:59Z", "2012-07-09T15:00:00Z"},
		{"20-35/15 * * * *", "2012-07-09T15:45:00Z", "2012-07-09T16:20:00Z"},
		{"*/15 * * * *", "2012-12-31T23:59:45Z", "2013-01-01T00:00:00Z"},
		{"30 8 ? Jun,Dec *", "2012-07-09T14:45:00Z", "2012-12-01T08:30:00Z"},
		{"0 0 29 2 ?", "2012-07-09T23:35:00Z", "2016-02-29T00:00:00Z"},
		{"0 0 * * mon", "2012-07-09T23:35:00Z", "2012-07-16T00:00:00Z"},
		{"0 0 1,15 * sun", "2012-07-15T00:00:00Z", "2012-07-22T00:00:00Z"},
		{"0 0 */10 * sun", "2012-07-02T00:00:00Z", "2012-07-08T00:00:00Z"}, // a step restricts, so the weekday counts as well
		{"0 0 */10 * sun", "2012-07-08T00:00:00Z", "2012-07-11T00:00:00Z"},
		{"0 0 */1 * sun", "2012-07-02T00:00:00Z", "2012-07-08T00:00:00Z"},
		{"0 0 5 * */2", "2012-07-02T00:00:00Z", "2012-07-03T00:00:00Z"},
		{"@daily", "2012-07-09T14:45:00Z", "2012-07-10T00:00:00Z"},
		{"@every 90s", "2012-07-09T14:45:00Z", "2012-07-09T14:46:30Z"},
		{"TZ=America/New_York 0 9 * * *", "2012-07-09T14:45:00Z", "2012-07-10T13:00:00Z"},
		{"0 0 30 2 ?", "2012-07-09T14:45:00Z", ""},
		// Clocks go forward at midnight: of 6 September 2026 and of 29 March 2026.
		{"TZ=America/Santiago 0 0 1 * *", "2026-09-01T12:00:00Z", "2026-10-01T03:00:00Z"},
		{"TZ=America/Santiago 0 9 * * 0", "2026-09-01T12:00:00Z", "2026-09-06T12:00:00Z"},
		{"TZ=Atlantic/Azores 0 9 * * 1", "2026-03-27T12:00:00Z", "2026-03-30T09:00:00Z"},
	} {
		s, err := kubedefaults.ParseSchedule(c.schedule, time.UTC)
		if err != nil {
			t.Errorf("%s: %v", c.schedule, err)
			continue
		}
		got := ""
		if next := s.Next(at(c.after)); !next.IsZero() {
			got = next.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s after %s: %q, want %q", c.schedule, c.after, got, c.want)
		}
	}
	for schedule, want := range map[string]string{
		"": "empty spec string", "* * * *": "expected exactly 5 fields, found 4: [* * * *]", "60 * * * *": "end of range (60) above maximum (59): 60",
		"* * 0 * *": "beginning of range (0) below minimum (1): 0", "5-3 * * * *": "beginning of range (5) beyond end of range (3): 5-3",
		"*/0 * * * *": "step of range should be a positive number: */0", "@often": "unrecognized descriptor: @often",
	} {
		if _, err := kubedefaults.ParseSchedule(schedule, time.UTC); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", schedule, err, want)
		}
	}
}

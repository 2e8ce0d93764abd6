package kubedefaults

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// A Schedule says when a CronJob starts: the five fields of cron, as github.com/robfig/cron/v3, which Kubernetes uses,
// reads them (ParseStandard).
type Schedule struct {
	minute, hour, day, month, weekday uint64 // a bit for each value
	every                             time.Duration
	zone                              *time.Location
	// A day counts by its date or by its weekday where both are restricted, else by both.
	anyDay, anyWeekday bool
}

var shortSchedules = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *",
	"@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// bounds are the values of a field, and their names.
type bounds struct {
	least, most uint
	names       string // three letters each, from least on
}

var fieldBounds = [5]bounds{
	{0, 59, ""}, {0, 23, ""}, {1, 31, ""}, {1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"}, {0, 6, "sunmontuewedthufrisat"},
}

// ParseSchedule reads a schedule, in a time zone where it names none. Its errors are those of ParseStandard.
func ParseSchedule(text string, zone *time.Location) (*Schedule, error) {
	if text == "" {
		return nil, fmt.Errorf("empty spec string")
	}
	s := &Schedule{zone: zone}
	for _, prefix := range [...]string{"TZ=", "CRON_TZ="} {
		if name, rest, is := strings.Cut(text, " "); is && strings.HasPrefix(name, prefix) {
			own, err := time.LoadLocation(name[len(prefix):])
			if err != nil {
				return nil, fmt.Errorf("provided bad location %s: %w", name[len(prefix):], err)
			}
			s.zone, text = own, strings.TrimSpace(rest)
		}
	}
	if rest, is := strings.CutPrefix(text, "@every "); is {
		d, err := time.ParseDuration(rest)
		if err != nil {
			return nil, fmt.Errorf("failed to parse duration %s: %w", text, err)
		}
		s.every = max(d.Truncate(time.Second), time.Second)
		return s, nil
	}
	if strings.HasPrefix(text, "@") {
		long, is := shortSchedules[text]
		if !is {
			return nil, fmt.Errorf("unrecognized descriptor: %s", text)
		}
		text = long
	}
	fields := strings.Fields(text)
	if len(fields) != len(fieldBounds) {
		return nil, fmt.Errorf("expected exactly 5 fields, found %d: %v", len(fields), fields)
	}
	for i, to := range [...]*uint64{&s.minute, &s.hour, &s.day, &s.month, &s.weekday} {
		set, err := fieldBounds[i].parse(fields[i])
		if err != nil {
			return nil, err
		}
		*to = set
	}
	s.anyDay, s.anyWeekday = star(fields[2]), star(fields[4])
	return s, nil
}

// star reports whether a field restricts nothing. One with a step above 1 does (getRange of parser.go).
func star(field string) bool {
	for part := range strings.SplitSeq(field, ",") {
		value, step, stepped := strings.Cut(part, "/")
		if n, _ := strconv.ParseUint(step, 10, 31); (value == "*" || value == "?") && (!stepped || n == 1) {
			return true
		}
	}
	return false
}

// parse reads a field: a list of values and ranges, each perhaps with a step.
func (b *bounds) parse(field string) (set uint64, err error) {
	for part := range strings.SplitSeq(field, ",") {
		values, steps, stepped := strings.Cut(part, "/")
		low, high, ranged := strings.Cut(values, "-")
		first, last, step := b.least, b.most, uint(1)
		if values != "*" && values != "?" {
			if first, err = b.value(low); err != nil {
				return 0, err
			}
			switch {
			case ranged:
				if last, err = b.value(high); err != nil {
					return 0, err
				}
			case !stepped:
				last = first
			}
		}
		if stepped {
			n, err := strconv.ParseUint(steps, 10, 31)
			if err != nil {
				return 0, fmt.Errorf("failed to parse int from %s: %w", steps, err)
			}
			if step = uint(n); step == 0 {
				return 0, fmt.Errorf("step of range should be a positive number: %s", part)
			}
		}
		switch {
		case first < b.least:
			return 0, fmt.Errorf("beginning of range (%d) below minimum (%d): %s", first, b.least, part)
		case last > b.most:
			return 0, fmt.Errorf("end of range (%d) above maximum (%d): %s", last, b.most, part)
		case first > last:
			return 0, fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", first, last, part)
		}
		for i := first; i <= last; i += step {
			set |= 1 << i
		}
	}
	return set, nil
}

func (b *bounds) value(text string) (uint, error) {
	if i := strings.Index(b.names, strings.ToLower(text)); len(text) == 3 && i >= 0 && i%3 == 0 {
		return b.least + uint(i/3), nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("failed to parse int from %s: %w", text, err)
	}
	return uint(n), nil
}

// Next is the first time after another; the zero time where there is none in five years.
func (s *Schedule) Next(after time.Time) time.Time {
	if s.every > 0 {
		return after.Add(s.every - time.Duration(after.Nanosecond()))
	}
	own := after.Location()
	t := after.In(s.zone).Truncate(time.Minute).Add(time.Minute)
	for limit := t.AddDate(5, 0, 0); t.Before(limit); {
		switch {
		case s.month>>t.Month()&1 == 0:
			t = s.midnight(t.Year(), t.Month()+1, 1)
		case !s.onDay(t):
			t = s.midnight(t.Year(), t.Month(), t.Day()+1)
		case s.hour>>t.Hour()&1 == 0:
			t = t.Add(time.Duration(60-t.Minute()) * time.Minute)
		case s.minute>>t.Minute()&1 == 0:
			left := s.minute >> (t.Minute() + 1)
			if left == 0 {
				t = t.Add(time.Duration(60-t.Minute()) * time.Minute)
			} else {
				t = t.Add(time.Duration(bits.TrailingZeros64(left)+1) * time.Minute)
			}
		default:
			return t.In(own)
		}
	}
	return time.Time{}
}

// midnight is the first moment of a day. Where clocks go forward at midnight, time.Date may give an hour before it, which
// is on the day before (SpecSchedule.Next of github.com/robfig/cron/v3 notices that too).
func (s *Schedule) midnight(year int, month time.Month, day int) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, s.zone)
	if t.Hour() > 12 {
		t = t.Add(time.Duration(24-t.Hour()) * time.Hour)
	}
	return t
}

func (s *Schedule) onDay(t time.Time) bool {
	date, weekday := s.day>>t.Day()&1 == 1, s.weekday>>t.Weekday()&1 == 1
	if s.anyDay || s.anyWeekday {
		return date && weekday
	}
	return date || weekday
}

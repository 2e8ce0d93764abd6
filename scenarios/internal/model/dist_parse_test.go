package model

import (
	"testing"
	"time"
)

func TestParseDist(t *testing.T) {
	for text, want := range map[string]Dist{
		"45s":                                    Fixed(45 * time.Second),
		"fixed(0s)":                              {},
		" uniform( 15s ,1m ) ":                   Uniform(15*time.Second, time.Minute),
		"triangular(1s, 4s, 6s)":                 Triangular(time.Second, 4*time.Second, 6*time.Second),
		"lognormal(38s, 65s)":                    Lognormal(38*time.Second, 65*time.Second),
		"lognormal(45s, 240s) clip(0s, 15m)":     Lognormal(45*time.Second, 240*time.Second).Clip(0, 15*time.Minute),
		"uniform(0s, 87600h0m0s) clip(1h0m,99h)": Uniform(0, longest).Clip(time.Hour, 99*time.Hour),
	} {
		got, err := ParseDist(text)
		if err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
		if again, err := ParseDist(got.String()); err != nil || again != got {
			t.Errorf("%q wrote itself as %q, which is %v (%v)", text, got, again, err)
		}
	}
}

func TestParseDistRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `duration "": "": want a duration such as 1m30s, or a distribution such as lognormal(38s, 65s)`,
		"-3s":                         `duration "-3s": -3s: want 0s to 87600h0m0s`,
		"uniform(5s, 2s)":             `uniform: 2s after 5s: want its durations in rising order`,
		"uniform(5s)":                 `uniform with 1 durations: want 2`,
		"gamma(1s, 2s)":               `duration gamma(…): want fixed, uniform, triangular or lognormal`,
		"uniform(1s, 2s":              `duration "uniform(1s, 2s": want a closing parenthesis`,
		"lognormal(0s, 2s)":           `lognormal(0s, 2s): want a median above 0`,
		"fixed(90000h)":               `duration "fixed(90000h)": 90000h0m0s: want 0s to 87600h0m0s`,
		"uniform(1s, 2s) clop(1s,2s)": `duration "uniform(1s, 2s) clop(1s,2s)": want nothing after it, or clip(LEAST, MOST) once`,
		"uniform(1s, 2s) clip(1s)":    `clip with 1 durations: want 2`,
	} {
		if d, err := ParseDist(text); err == nil || err.Error() != want {
			t.Errorf("%q is %v, error %v\nwant error %s", text, d, err, want)
		}
	}
}

func FuzzParseDist(f *testing.F) {
	f.Add("lognormal(38s, 65s) clip(1s, 2m)")
	f.Add("triangular(1s,4s,6s)")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDist(text)
		if err != nil {
			return
		}
		s := NewStream(1)
		if got := d.Draw(&s); got < 0 || got > longest {
			t.Errorf("%q drew %s", text, got)
		}
		if _, err := ParseDist(d.String()); err != nil {
			t.Errorf("%q wrote itself as %q: %v", text, d, err)
		}
	})
}

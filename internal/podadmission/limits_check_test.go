package podadmission

import "testing"

// What is wrong with a LimitRange, in the server's words.
func TestLimitRangesAreChecked(t *testing.T) {
	for items, want := range map[string]string{
		`[{"type":"Container","max":{"cpu":"2"},"default":{"cpu":"1"},"defaultRequest":{"cpu":"500m"}},{"type":"Pod","min":{"memory":"1Mi"}}]`: "",
		`[{"type":"Pod","max":{"cpu":"1"}},{"type":"Pod","max":{"cpu":"1"}}]`:                                                                  `spec.limits[1].type: Duplicate value: "Pod"`,
		`[{"type":"Container","min":{"cpu":"2"},"max":{"cpu":"1"}}]`:                                                                           `spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1`,
		`[{"type":"Container","max":{"pods":"1"}}]`:                                                                                            `spec.limits[0].max[pods]: Invalid value: "pods": must be a standard resource for containers`,
		`[{"type":"PersistentVolumeClaim","max":{"cpu":"1"}}]`:                                                                                 `spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided`,
		`[{"type":"Container","min":{"cpu":"1"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"3"}}]`:                                        `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`,
	} {
		got := ""
		for _, e := range CheckRange(limits(t, items)[0]) {
			got += e.Error()
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", items, got, want)
		}
	}
}

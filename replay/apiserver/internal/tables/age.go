package tables

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// since returns how long ago t was, roughly, as in 5m or 3d4h; unknown where there is no time.
func since(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// sinceMicro is since for the times of events and leases, which have microseconds.
func sinceMicro(t metav1.MicroTime, now time.Time) string { return since(metav1.NewTime(t.Time), now) }

// stamp is t as the cells of a date column hold it. Zero times are year 1, as the API server has them.
func stamp(t metav1.Time) string { return t.UTC().Format(time.RFC3339) }

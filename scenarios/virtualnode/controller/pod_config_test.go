package controller

import (
	"reflect"
	"testing"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// podConfig is the configuration for client-go's clients.
type podConfig = PodControllerConfig[corev1client.PodInterface]

// TestSettings proves that each field of a configuration reaches the controller.
func TestSettings(t *testing.T) {
	full := newPodFixture(t, nil).config
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.IsZero() {
			fill(f)
		}
	}
	got, want := reflect.ValueOf(full.settings()), v
	for i := range want.NumField() {
		name := want.Type().Field(i).Name
		switch g, w := got.Field(i), want.Field(i); {
		case name == "PodClient" || w.Kind() == reflect.Func:
			if g.IsZero() {
				t.Errorf("%s: lost", name)
			}
		case !reflect.DeepEqual(g.Interface(), w.Interface()):
			t.Errorf("%s: found %v, want %v", name, g, w)
		}
	}
}

// fill gives a field any value but its zero.
func fill(f reflect.Value) {
	switch f.Kind() {
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int64:
		f.SetInt(1)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
	case reflect.Func:
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { return nil }))
	case reflect.Interface:
		f.Set(reflect.ValueOf(NewPodRateLimiter()))
	}
}

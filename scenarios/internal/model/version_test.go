package model

import (
	"testing"
	"time"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"1.34": {34, 0}, "v1.34": {34, 0}, "v1.31.13-eks-ecaa3a6": {31, 13}, "v1.29.5-gke.1091000": {29, 5}, "1.30.2": {30, 2}, "v1.33+": {33, 0},
	} {
		if got, err := ParseVersion(text); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "v", "1", "2.0", "1.x", "1.34.y", "latest", "1.-3", "1.99999", "v1.34."} {
		if got, err := ParseVersion(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
	_, err := ParseVersion("1.x")
	if want := `Kubernetes version "1.x": want a minor version such as 1.34, or a patch of it such as v1.34.2`; err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestVersionText(t *testing.T) {
	if got := (Version{34, 2}); got.String() != "1.34.2" || got.Short() != "1.34" {
		t.Errorf("%s, in short %s", got, got.Short())
	}
}

func TestWhatChangesWithTheVersion(t *testing.T) {
	type behaviour struct {
		grace                                             time.Duration
		taints                                            string
		shutdown, generation, sandbox, terminal, handlers bool
	}
	of := func(v Version) behaviour {
		return behaviour{v.MonitorGrace(), v.TaintEvictionComponent(), v.GracefulShutdown(AL2023), v.PodGeneration(), v.PodReadyToStartContainers(), v.TerminalPhase(), v.RuntimeHandlers()}
	}
	for minor, want := range map[uint16]behaviour{
		26: {40 * time.Second, "taint-controller", false, false, false, false, false},
		28: {40 * time.Second, "taint-controller", false, false, false, true, false},
		29: {40 * time.Second, "taint-eviction-controller", false, false, true, true, false},
		31: {40 * time.Second, "taint-eviction-controller", false, false, true, true, true},
		32: {50 * time.Second, "taint-eviction-controller", false, false, true, true, true},
		33: {50 * time.Second, "taint-eviction-controller", false, false, true, true, true},
		34: {50 * time.Second, "taint-eviction-controller", true, true, true, true, true},
	} {
		if got := of(Version{Minor: minor}); got != want {
			t.Errorf("1.%d: %+v, want %+v", minor, got, want)
		}
	}
	if v := (Version{Minor: 36}); v.GracefulShutdown(AL2) || v.GracefulShutdown(Bottlerocket) || v.GracefulShutdown(Ubuntu) {
		t.Error("an image without graceful shutdown has it")
	}
}

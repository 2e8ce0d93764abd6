package model

import (
	"fmt"
	"testing"
)

// The conditions of a real node on EKS (Amazon Linux 2, 1.30), as kubectl describe shows them.
func TestConditionsOfAReadyNode(t *testing.T) {
	want := [4]Condition{
		{"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
		{"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
	}
	if got := [4]Condition{Pressure(MemoryPressure, false), Pressure(DiskPressure, false), Pressure(PIDPressure, false), ReadyCondition(0)}; got != want {
		t.Errorf("%v\nwant %v", got, want)
	}
}

func ExampleReadyCondition() {
	for _, why := range []Trouble{JustRegistered, StillJoining, ShuttingDown, 0} {
		c := ReadyCondition(why)
		fmt.Println(c.Status, c.Reason, c.Message)
	}
	// Output:
	// False KubeletNotReady [container runtime status check may not have completed yet, container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized, CSINode is not yet initialized, missing node capacity for resources: ephemeral-storage]
	// False KubeletNotReady container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized
	// False KubeletNotReady node is shutting down
	// True KubeletReady kubelet is posting ready status
}

func TestEveryTroubleHasAText(t *testing.T) {
	for why := range Trouble(255) {
		c := ReadyCondition(why)
		if known := why&63 != 0; known != (c.Status == False) || c.Message == "" {
			t.Errorf("trouble %d is %+v", why, c)
		}
	}
}

func TestAppArmorIsNamedUntil130(t *testing.T) {
	for _, c := range []struct {
		minor uint16
		os    OS
		why   Trouble
		want  string
	}{
		{18, Ubuntu, 0, "kubelet is posting ready status. AppArmor enabled"},
		{21, COS, 0, "kubelet is posting ready status. AppArmor enabled"},
		{32, Ubuntu, 0, "kubelet is posting ready status"},
		{30, AL2, 0, "kubelet is posting ready status"},
		{21, COS, ShuttingDown, "node is shutting down"},
	} {
		if got := ReadyConditionOn(Version{Minor: c.minor}, c.os, c.why).Message; got != c.want {
			t.Errorf("1.%d with %s: %q, want %q", c.minor, c.os, got, c.want)
		}
	}
}

func TestPressure(t *testing.T) {
	for kind, want := range map[string][2]string{
		MemoryPressure: {"True KubeletHasInsufficientMemory kubelet has insufficient memory available", "NodeHasInsufficientMemory"},
		DiskPressure:   {"True KubeletHasDiskPressure kubelet has disk pressure", "NodeHasDiskPressure"},
		PIDPressure:    {"True KubeletHasInsufficientPID kubelet has insufficient PID available", "NodeHasInsufficientPID"},
	} {
		c := Pressure(kind, true)
		if got := c.Status + " " + c.Reason + " " + c.Message; got != want[0] || c.Type != kind || PressureEvent(kind, true) != want[1] {
			t.Errorf("%s: %q with the event %s, want %q with %s", kind, got, PressureEvent(kind, true), want[0], want[1])
		}
	}
	if PressureEvent(MemoryPressure, false) != "NodeHasSufficientMemory" || PressureEvent(DiskPressure, false) != "NodeHasNoDiskPressure" || PressureEvent(PIDPressure, false) != "NodeHasSufficientPID" {
		t.Error("the end of a pressure has the wrong event")
	}
}

func TestExtraConditions(t *testing.T) {
	for provider, want := range map[Provider]int{EKS: 0, Karpenter: 0, GKE: 8, AKS: 10, CAPI: 0, KOps: 0} {
		got := ExtraConditions(provider)
		if len(got) != want {
			t.Errorf("%s has %d conditions before the kubelet's, want %d", provider, len(got), want)
		}
		for _, c := range got {
			if c.Status != False || c.Reason == "" || c.Message == "" {
				t.Errorf("%s: %+v says nothing", provider, c)
			}
		}
	}
	if got, want := ExtraConditions(GKE)[7], (Condition{"NetworkUnavailable", "False", "RouteCreated", "NodeController create implicit route"}); got != want {
		t.Errorf("GKE's route is %v, want %v", got, want)
	}
}

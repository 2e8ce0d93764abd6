package cloud_test

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

var start = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func ExampleMarks() {
	marks := cloud.NewMarks(cloud.Subnet{ID: "s-1", Zone: "a", Public: true}, cloud.Subnet{ID: "s-2", Zone: "b", Public: true})
	marks.Zone("m5.large", true, "a", start)
	for _, zone := range []string{"a", "b", ""} {
		fmt.Printf("zone %q: %t\n", zone, marks.Unavailable("m5.large", true, false, zone, start.Add(time.Minute)))
	}
	fmt.Println("later:", marks.Unavailable("m5.large", true, false, "a", start.Add(cloud.MarkTTL)))
	// Output:
	// zone "a": true
	// zone "b": false
	// zone "": false
	// later: false
}

func TestAnyZoneNeedsOneSubnet(t *testing.T) {
	subnets := []cloud.Subnet{{ID: "s-1", Zone: "a", Public: true}, {ID: "s-2", Zone: "a"}, {ID: "s-3", Zone: "b"}}
	type question struct {
		spot, private bool
		zone          string
	}
	for _, c := range []struct {
		name string
		mark func(*cloud.Marks)
		ask  question
		want bool
	}{
		{"nothing marked", func(*cloud.Marks) {}, question{}, false},
		{"a public node has one subnet", func(m *cloud.Marks) { m.Subnet("s-1", start) }, question{}, true},
		{"a private one has three", func(m *cloud.Marks) { m.Subnet("s-1", start) }, question{private: true}, false},
		{"a private one in a public subnet", func(m *cloud.Marks) { m.Subnet("s-2", start) }, question{private: true, zone: "a"}, false},
		{"by zone", func(m *cloud.Marks) { m.Zone("t", false, "a", start) }, question{private: true, zone: "a"}, true},
		{"the other zone is left", func(m *cloud.Marks) { m.Zone("t", false, "a", start) }, question{private: true}, false},
		{"the other market is left", func(m *cloud.Marks) { m.Zone("t", true, "a", start) }, question{}, false},
		{"the type everywhere", func(m *cloud.Marks) { m.Instance("t", true, start) }, question{spot: true, zone: "b"}, true},
		{"another type", func(m *cloud.Marks) { m.Instance("u", false, start) }, question{}, false},
		{"a zone that isn't there", func(*cloud.Marks) {}, question{zone: "c"}, true},
	} {
		m := cloud.NewMarks(subnets...)
		c.mark(m)
		if got := m.Unavailable("t", c.ask.spot, c.ask.private, c.ask.zone, start); got != c.want {
			t.Errorf("%s: found unavailable %t, want %t", c.name, got, c.want)
		}
	}
}

func TestAMarkIsNeverExtended(t *testing.T) {
	var m cloud.Marks
	m.Instance("t", false, start)
	m.Instance("t", false, start.Add(9*time.Minute))
	if !m.Unavailable("t", false, false, "", start.Add(10*time.Minute-1)) {
		t.Error("before ten minutes are over: found available, want unavailable")
	}
	if m.Unavailable("t", false, false, "", start.Add(10*time.Minute)) {
		t.Error("after ten minutes: found unavailable, want available")
	}
	m.Instance("t", false, start.Add(11*time.Minute)) // a new one, after the old is over
	if !m.Unavailable("t", false, false, "", start.Add(20*time.Minute)) {
		t.Error("after a new refusal: found available, want unavailable")
	}
}

func TestKeeperEndsMarksByItself(t *testing.T) {
	c := clocktesting.NewFakeClock(start)
	k := cloud.NewKeeper(c, cloud.Subnet{ID: "s-1", Zone: "a", Public: true})
	k.AddUnavailableSubnet("s-1")
	k.AddUnavailableZone("t", true, "a")
	k.AddUnavailableInstance("u", false)
	for _, spot := range []bool{false, true} {
		if !k.IsUnavailableZone("t", spot, false, "a") {
			t.Errorf("spot %t: found available, want unavailable", spot)
		}
	}
	c.Step(cloud.MarkTTL)
	if k.IsUnavailableZone("t", true, false, "a") || k.IsUnavailableZone("u", false, false, "") {
		t.Error("after ten minutes: found unavailable, want available")
	}
	if !k.IsUnavailableZoneAt("u", false, false, "", start) {
		t.Error("asked for an earlier moment: found available, want unavailable")
	}
}

func TestRefusalsSayWhere(t *testing.T) {
	for want, err := range map[string]error{
		"no capacity anywhere":                            &cloud.NoCapacityError{},
		"no capacity in zone a: sold out":                 &cloud.NoCapacityError{AZ: "a", OriginalError: "sold out"},
		"no capacity in subnet s-1":                       &cloud.NoCapacityError{AZ: "a", SubnetID: "s-1"},
		"instance type isn't sold on the spot market: no": &cloud.UnsupportedInstanceError{OriginalError: "no"},
		"instance type isn't sold on the spot market":     &cloud.UnsupportedInstanceError{},
	} {
		if err.Error() != want {
			t.Errorf("found %q, want %q", err, want)
		}
	}
}

func TestImagesAreToldApart(t *testing.T) {
	a := cloud.BootImageSpec{"owner": "1", "name": "x"}
	if got, want := a.String(), `"name"="x","owner"="1"`; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

package cloud

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// StatusKeeper remembers what the cloud refused. All methods may be called from any goroutine.
type StatusKeeper interface {
	// AddUnavailableInstance says that a type was refused on a market.
	AddUnavailableInstance(instanceType string, spot bool)
	// AddUnavailableZone says that a type was refused on a market in a zone.
	AddUnavailableZone(instanceType string, spot bool, zone string)
	// AddUnavailableSubnet says that a subnet is out of addresses.
	AddUnavailableSubnet(subnetID string)
	// IsUnavailableZone says whether asking again makes no sense now; the empty zone is any zone.
	IsUnavailableZone(instanceType string, spot bool, privateIPOnly bool, zone string) bool
}

// Keeper is Marks with a clock. It also answers for a moment that the caller names, which a planner prefers: all
// answers of one plan are then of one moment.
type Keeper struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	marks *Marks
}

var _ StatusKeeper = (*Keeper)(nil)

// NewKeeper returns a keeper without refusals, of a cloud with these subnets.
func NewKeeper(c clock.PassiveClock, subnets ...Subnet) *Keeper {
	return &Keeper{clock: c, marks: NewMarks(subnets...)}
}

// AddUnavailableInstance is Marks.Instance, now.
func (k *Keeper) AddUnavailableInstance(instanceType string, spot bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.marks.Instance(instanceType, spot, k.clock.Now())
}

// AddUnavailableZone is Marks.Zone, now.
func (k *Keeper) AddUnavailableZone(instanceType string, spot bool, zone string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.marks.Zone(instanceType, spot, zone, k.clock.Now())
}

// AddUnavailableSubnet is Marks.Subnet, now.
func (k *Keeper) AddUnavailableSubnet(subnetID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.marks.Subnet(subnetID, k.clock.Now())
}

// IsUnavailableZone is Marks.Unavailable, now.
func (k *Keeper) IsUnavailableZone(instanceType string, spot, privateIPOnly bool, zone string) bool {
	return k.IsUnavailableZoneAt(instanceType, spot, privateIPOnly, zone, k.clock.Now())
}

// IsUnavailableZoneAt is Marks.Unavailable at a moment.
func (k *Keeper) IsUnavailableZoneAt(instanceType string, spot, privateIPOnly bool, zone string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.marks.Unavailable(instanceType, spot, privateIPOnly, zone, now)
}

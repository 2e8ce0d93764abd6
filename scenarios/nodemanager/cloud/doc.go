// Package cloud says what node management asks of a cloud, and remembers what the cloud had no capacity for.
//
// In: refusals of the cloud (NoCapacityError, UnsupportedInstanceError) with the moment they came. Out: whether it is
// worth asking for a kind of instance in a place now. Marks is that memory as a function of its arguments, for planners
// and simulations; Keeper is the same with a clock, as a StatusKeeper.
//
// The package calls no cloud: CloudClient is an interface for others to fill. It must never start a goroutine: a mark ends
// by itself when its time is over, so that nothing has to sweep.
//
// Its API may still change (docs/stability.md).
package cloud

package cloud

import "fmt"

// NoCapacityError says that the cloud is out of a kind of instance: in a zone if AZ is set, in a subnet (out of
// addresses) if SubnetID is set, everywhere if neither is.
type NoCapacityError struct {
	AZ            string
	SubnetID      string
	OriginalError string // in the cloud's words
}

// Error says where there is no capacity.
func (e *NoCapacityError) Error() string {
	where := "anywhere"
	switch {
	case e.SubnetID != "":
		where = "in subnet " + e.SubnetID
	case e.AZ != "":
		where = "in zone " + e.AZ
	}
	if e.OriginalError == "" {
		return "no capacity " + where
	}
	return fmt.Sprintf("no capacity %s: %s", where, e.OriginalError)
}

// UnsupportedInstanceError says that the cloud doesn't sell a type of instance on the spot market.
type UnsupportedInstanceError struct {
	OriginalError string // in the cloud's words
}

// Error repeats the cloud's words.
func (e *UnsupportedInstanceError) Error() string {
	if e.OriginalError == "" {
		return "instance type isn't sold on the spot market"
	}
	return "instance type isn't sold on the spot market: " + e.OriginalError
}

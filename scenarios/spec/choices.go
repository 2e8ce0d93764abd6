package spec

import "slices"

// Strategies are those by which a provider's nodes can be replaced.
func Strategies(p Provider) []Strategy {
	return slices.DeleteFunc(strategiesOf(p), func(s Strategy) bool { return wayOf(s).inPlace })
}

// Choices says which settings of a [Roll] a strategy leaves to its users.
type Choices struct {
	MaxUnavailable, MaxSurge, Budget, EvictionTimeout, JoinTimeout, SettleAfterDrain, Soak, Force bool
}

// Choices of the strategy; of one that there isn't, none.
func (s Strategy) Choices() Choices {
	w := wayOf(s)
	if w == nil {
		return Choices{}
	}
	return Choices{
		MaxUnavailable: w.maxUnavailable != nil, MaxSurge: w.maxSurge != nil, Budget: w.budget != nil,
		EvictionTimeout: w.evictionTimeout != nil, JoinTimeout: w.joinTimeout != nil, SettleAfterDrain: w.settleAfterDrain != nil,
		Soak: w.soak != nil, Force: w.force,
	}
}

// By is the roll of the same groups by a strategy with the provider's defaults: what one leaves to its users is as if nobody had
// chosen. The roll of a strategy that there isn't stays as it is.
func (r Roll) By(s Strategy) Roll {
	w := wayOf(s)
	if w == nil {
		return r
	}
	r.Strategy, r.Force, r.LegacyTaint = s, false, false
	for _, v := range r.numbers(w) {
		*v.value = usual(v)
	}
	for _, v := range r.durations(w) {
		*v.value = usual(v)
	}
	return r
}

// usual is the default of a choice; zero where the strategy doesn't have it.
func usual[T any](c choice[T]) (none T) {
	if c.usual != nil {
		return *c.usual
	}
	return none
}

package model

import "math/bits"

// Stream is a seeded source of random numbers: the generator xoroshiro128++ of Blackman and Vigna, 16 bytes of state, integers
// alone. Every actor, and every pod or node where that matters, has a stream of its own, so that one more actor changes
// no other's draws. The same state gives the same numbers on every processor and with every release of Go.
//
// A Stream is a value: a copy continues on its own from where the original stood. It is not for two goroutines at once.
// The zero Stream gives zeros alone; streams come from NewStream.
type Stream struct {
	a, b uint64
}

// NewStream returns the stream of a seed and a name. The name has as many parts as suits the caller, an actor and an
// object for example; ("ab", "c") and ("a", "bc") are different names. Equal arguments give equal streams.
func NewStream(seed uint64, name ...string) Stream {
	h := mix(seed)
	for _, part := range name {
		h = absorb(h, part)
	}
	return expand(h)
}

// NewStreamAt is NewStream for the members of a numbered family: the pods of a simulation by their ordinal, say. It
// spares the caller a number's text.
func NewStreamAt(seed, ordinal uint64, name ...string) Stream {
	h := mix(seed)
	for _, part := range name {
		h = absorb(h, part)
	}
	return expand(mix(h^0x6f7264696e616c) + mix(ordinal))
}

// absorb adds one part of a name to a hash: FNV-1a over its bytes, then its length, which keeps parts apart.
func absorb(h uint64, part string) uint64 {
	f := uint64(14695981039346656037)
	for i := range len(part) {
		f = (f ^ uint64(part[i])) * 1099511628211
	}
	return mix(h ^ f + uint64(len(part))*0x9e3779b97f4a7c15)
}

// expand makes the two words of a state from one, as the authors of xoroshiro advise: by SplitMix64. It never yields
// the state of zeros, from which the generator couldn't move.
func expand(h uint64) Stream {
	s := Stream{a: mix(h + 0x9e3779b97f4a7c15), b: mix(h + 0x3c6ef372fe94f82a)}
	if s.a|s.b == 0 {
		s.a = 0x9e3779b97f4a7c15
	}
	return s
}

// mix is the finalizer of SplitMix64: one bit of change in changes about half of the bits out.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 returns the next 64 bits.
func (s *Stream) Uint64() uint64 {
	a, b := s.a, s.b
	out := bits.RotateLeft64(a+b, 17) + a
	b ^= a
	s.a = bits.RotateLeft64(a, 49) ^ b ^ b<<21
	s.b = bits.RotateLeft64(b, 28)
	return out
}

// N returns a number from 0 up to, but not including, n, each as likely as the next; 0 where n is 0. It may take more
// than one draw (Lemire's method with rejection).
func (s *Stream) N(n uint64) uint64 {
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for floor := -n % max(n, 1); lo < floor; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// Shuffle puts n things into a random order (Fisher and Yates), each order as likely as the next. swap exchanges the
// things at i and j.
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(s.N(uint64(i)+1)))
	}
}

package model

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"unsafe"
)

// The first numbers from the state (1, 2), as the authors' own program prints them (they are in the tests of
// the Rust crate rand_xoshiro).
func TestStreamIsXoroshiro(t *testing.T) {
	s := Stream{1, 2}
	for i, want := range []uint64{393217, 669327710093319, 1732421326133921491, 11394790081659126983, 9555452776773192676, 3586421180005889563, 1691397964866707553, 10735626796753111697, 15216282715349408991, 14247243556711267923} {
		if got := s.Uint64(); got != want {
			t.Fatalf("number %d is %d, want %d", i, got, want)
		}
	}
}

func TestStreamsOfOtherNamesDiffer(t *testing.T) {
	seen := map[Stream]string{}
	add := func(name string, s Stream) {
		if other, ok := seen[s]; ok {
			t.Errorf("%s and %s are one stream", name, other)
		}
		seen[s] = name
	}
	for seed := range uint64(20) {
		for _, name := range [][]string{nil, {""}, {"", ""}, {"a"}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"a", "b", "c"}} {
			add(fmt.Sprint(seed, name), NewStream(seed, name...))
			for ordinal := range uint64(20) {
				add(fmt.Sprint(seed, ordinal, name), NewStreamAt(seed, ordinal, name...))
			}
		}
	}
	name := []string{"kubelet", "n"}
	if a, b := NewStream(1, name...), NewStream(1, slices.Clone(name)...); a != b {
		t.Error("equal names are two streams")
	}
}

func TestNIsFair(t *testing.T) {
	s := NewStream(1)
	if s.N(0) != 0 || s.N(1) != 0 {
		t.Error("N(0) and N(1) aren't 0")
	}
	var count [6]int
	for range 60000 {
		count[s.N(6)]++
	}
	for i, n := range count {
		if n < 9700 || n > 10300 {
			t.Errorf("%d came %d times of 60000, want about 10000", i, n)
		}
	}
	for range 1000 {
		if n := s.N(1<<63 + 1); n > 1<<63 {
			t.Fatalf("N(2⁶³+1) = %d", n)
		}
	}
}

func TestShuffleReachesEveryOrder(t *testing.T) {
	s, seen := NewStream(2), map[[4]int]int{}
	for range 24000 {
		x := [4]int{0, 1, 2, 3}
		s.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		seen[x]++
	}
	if len(seen) != 24 {
		t.Fatalf("%d orders of four, want 24", len(seen))
	}
	for order, n := range seen {
		if n < 850 || n > 1150 {
			t.Errorf("%v came %d times, want about 1000", order, n)
		}
	}
}

func TestWhatAStreamWrites(t *testing.T) {
	s := NewStream(11)
	for range 500 {
		for text, form := range map[string]string{
			s.UUID():         `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
			s.Hex(17):        `^[0-9a-f]{17}$`,
			s.Hex(64):        `^[0-9a-f]{64}$`,
			s.Hex(-1):        `^$`,
			s.Suffix():       `^[bcdfghjklmnpqrstvwxz2456789]{5}$`,
			s.TemplateHash(): `^[456789bcdf]{1,10}$`,
		} {
			if !regexp.MustCompile(form).MatchString(text) {
				t.Fatalf("%q isn't of the form %s", text, form)
			}
		}
	}
}

func TestAStreamIsSmallAndFree(t *testing.T) {
	if size := unsafe.Sizeof(Stream{}); size != 16 {
		t.Errorf("a stream takes %d bytes, want 16", size)
	}
	buf, sum := make([]byte, 0, 128), uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		s := NewStreamAt(1, 7, "pod", "suffix")
		sum += s.N(10)
		buf = s.AppendTemplateHash(s.AppendHex(s.AppendSuffix(s.AppendUUID(buf[:0]), 5), 17))
	}); n != 0 {
		t.Errorf("a stream and its draws allocate %v times", n)
	}
	if sum == 0 || len(buf) < 36+5+17+1 {
		t.Errorf("drew nothing: %d %q", sum, buf)
	}
}

func ExampleStream() {
	pods := NewStream(7, "replicaset", "web")
	hash := pods.TemplateHash()
	fmt.Println("web-" + hash + "-" + pods.Suffix())
	instance := NewStream(7, "cloud", "us-east-1a")
	fmt.Println("i-" + instance.Hex(17))
	// Output:
	// web-5c565d5c6-cpf26
	// i-180e2e326ef2b35aa
}

package invariant

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Many tolerations tolerate what one of them does.
func TestManyTolerations(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	word := func(s ...string) string { return s[r.IntN(len(s))] }
	tolerated := 0
	for range 2000 {
		all := make([]corev1.Toleration, fewTolerations+1)
		for i := range all {
			all[i] = corev1.Toleration{
				Key: word("a", "b", "c", "d", "e", "f", "g"), Operator: corev1.TolerationOperator(word("", "Equal", "Equal", "Exists")),
				Value: word("", "x", "y", "z", "u", "v"), Effect: corev1.TaintEffect(word("", "NoSchedule", "NoExecute")),
			}
		}
		if r.IntN(50) == 0 {
			all[0].Key = ""
		}
		taint := corev1.Taint{Key: word("a", "b", "h"), Value: word("", "x", "w"), Effect: corev1.TaintEffect(word("NoSchedule", "NoExecute"))}
		want := false
		for i := range all {
			want = want || toleratesOne(&all[i], &taint)
		}
		index := tolerationsOf(all)
		if got := index.tolerate(&taint); got != want {
			t.Fatalf("%v of %+v by %+v, want %v", got, taint, all, want)
		}
		if want {
			tolerated++
		}
	}
	if tolerated < 200 || tolerated > 1800 {
		t.Errorf("%d of 2000 were tolerated: the trial says little", tolerated)
	}
}

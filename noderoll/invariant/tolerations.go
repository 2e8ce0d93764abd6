package invariant

import corev1 "k8s.io/api/core/v1"

// tolerations are those of a pod; many of them are found by what they say.
type tolerations struct {
	all  []corev1.Toleration
	said map[tolerationKey]struct{} // nil of a few
}

// tolerationKey is what a toleration says; value is empty where any will do.
type tolerationKey struct {
	key, effect, value string
	any                bool
}

// fewTolerations is up to how many are looked through one by one.
const fewTolerations = 16

func tolerationsOf(all []corev1.Toleration) tolerations {
	t := tolerations{all: all}
	if len(all) <= fewTolerations {
		return t
	}
	t.said = make(map[tolerationKey]struct{}, len(all))
	for i := range all {
		k := tolerationKey{key: all[i].Key, effect: string(all[i].Effect), value: all[i].Value}
		if !comparesValue(&all[i]) {
			k.value, k.any = "", true
		}
		t.said[k] = struct{}{}
	}
	return t
}

// comparesValue reports whether a toleration is of one value. Comparisons of
// numbers, which most clusters don't have, count as tolerating any.
func comparesValue(t *corev1.Toleration) bool {
	return t.Operator == "" || t.Operator == corev1.TolerationOpEqual
}

// tolerate is corev1.Toleration.ToleratesTaint over all of them.
func (t *tolerations) tolerate(taint *corev1.Taint) bool {
	if t.said == nil {
		for i := range t.all {
			if toleratesOne(&t.all[i], taint) {
				return true
			}
		}
		return false
	}
	for _, key := range [...]string{"", taint.Key} {
		for _, effect := range [...]string{"", string(taint.Effect)} {
			for _, k := range [...]tolerationKey{{key, effect, "", true}, {key, effect, taint.Value, false}} {
				if _, is := t.said[k]; is {
					return true
				}
			}
		}
	}
	return false
}

func toleratesOne(t *corev1.Toleration, taint *corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	return !comparesValue(t) || t.Value == taint.Value
}

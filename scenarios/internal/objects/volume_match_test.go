package objects

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// What is read of a volume's text decides as the decoded volume does.
func TestVolumesOfOthers(t *testing.T) {
	claim := &Object{Namespace: "shop", Name: "data", UID: "1"}
	for text, want := range map[string]bool{
		`{"spec":{}}`:                false,
		`{"spec":{"claimRef":null}}`: false,
		`{"spec":{"claimRef":{"namespace":"shop","name":"data"}}}`:           false,
		`{"spec":{"claimRef":{"namespace":"shop","name":"data","uid":"1"}}}`: false,
		`{"spec":{"claimRef":{"namespace":"shop","name":"other"}}}`:          true,
		`{"spec":{"claimRef":{"namespace":"till","name":"data"}}}`:           true,
	} {
		disk := &Object{text: []byte(text)}
		pv := &corev1.PersistentVolume{}
		if err := json.Unmarshal(disk.text, pv); err != nil {
			t.Fatal(err)
		}
		if got := ofOtherClaim(disk, claim); got != want || got == free(pv, claim) {
			t.Errorf("%s: another's is %t, free %t: want %t", text, got, free(pv, claim), want)
		}
	}
	disk := &Object{text: []byte(`{"spec":{"capacity":{"storage":"1Gi"},"claimRef":{"namespace":"shop","name":"other"}}}`)}
	if made := testing.AllocsPerRun(10, func() { ofOtherClaim(disk, claim) }); made > 4 {
		t.Errorf("%v allocations for a volume of another claim: want 4 at most", made)
	}
}

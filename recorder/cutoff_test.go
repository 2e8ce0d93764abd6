package recorder_test

import "testing"

// An answer that is cut off before the recording begins is asked for again:
// the server is there.
func TestCutOffBeforeTheBeginning(t *testing.T) {
	for _, request := range []string{"get /api", "list " + nodesPath, "watch " + nodesPath} {
		t.Run(request, func(t *testing.T) {
			a := newAPI(t)
			a.put(nodesPath, "ADDED", node("end", ""))
			a.fail(request, cut(`{"kind":`), cut(""))
			r, err := record(t, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := lines(t, r.file), "0s ADDED nodes end 101\n0s SYNC nodes 101\n0s END complete\n"; got != want {
				t.Errorf("found\n%s\nwant\n%s", got, want)
			}
		})
	}
}

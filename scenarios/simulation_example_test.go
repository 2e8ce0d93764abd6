package scenarios_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// A tape is written while its simulation goes on, a minute at a time.
func ExampleFile_Simulate() {
	found, err := scenarios.Find("surge")
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := found.Document.Resolve([]scenarios.Setting{{Name: "nodes", Value: "3"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var tape bytes.Buffer
	w, err := timeline.NewWriter(&tape, file.Header())
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := file.Simulate(w.WriteLine)
	if err != nil {
		fmt.Println(err)
		return
	}
	for ended := false; !ended && err == nil; {
		ended, err = s.Step(time.Minute)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	last := tape.Bytes()[bytes.LastIndex(tape.Bytes(), []byte("--- ")):]
	fmt.Printf("%d roll, error %q\n", len(s.Outcomes()), s.Outcomes()[0])
	fmt.Println("ends with END:", bytes.Contains(last, []byte(`"type":"END"`)))
	// Output:
	// 1 roll, error ""
	// ends with END: true
}

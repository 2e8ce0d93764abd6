package hunt

import (
	"bytes"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Read reads the text of a scenario file. A [Result] holds one of these.
func Read(text []byte) (*spec.File, error) {
	d, err := scenarios.Parse("found", text)
	if err != nil {
		return nil, err
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		return nil, err
	}
	return &f.File, nil
}

// Text is a scenario file as text, without what has its default. Read makes the same file of it.
func Text(f *spec.File) ([]byte, error) {
	var b bytes.Buffer
	err := snapshot.Write(&b, f)
	return b.Bytes(), err
}

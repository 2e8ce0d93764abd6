package scenarios

import "github.com/nodesim/nodesim/scenarios/spec"

// A File is a scenario file with values for its parameters: what [spec.File] holds, which can be simulated, opened as
// a tape and performed.
type File struct{ spec.File }

// Split is the file with its large groups and workloads as several; see [spec.File.Split].
func (f *File) Split() (*File, error) {
	whole, err := f.File.Split()
	if err != nil {
		return nil, err
	}
	return &File{*whole}, nil
}

// A Document is a scenario file that has been read: see [spec.Document].
type Document struct{ spec.Document }

// Resolve puts in values of parameters and the seed, and fills in the defaults; see [spec.Document.Resolve].
func (d *Document) Resolve(set []spec.Setting, seed *uint64) (*File, error) {
	f, err := d.Document.Resolve(set, seed)
	if err != nil {
		return nil, err
	}
	return &File{*f}, nil
}

// Parse reads a scenario file: see [spec.Parse].
func Parse(name string, data []byte) (*Document, error) {
	d, err := spec.Parse(name, data)
	if err != nil {
		return nil, err
	}
	return &Document{*d}, nil
}

type ( // what a scenario file says, and the errors of one, are package spec's
	Setting   = spec.Setting
	Parameter = spec.Parameter
	Workload  = spec.Workload
	Roll      = spec.Roll
	Error     = spec.Error
)

// MaxFile is the size that a scenario file may have, in bytes.
const MaxFile = spec.MaxFile

// ParseSetting reads name=value, as --set takes it.
func ParseSetting(text string) (Setting, error) { return spec.ParseSetting(text) }

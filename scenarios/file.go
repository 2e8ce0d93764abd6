package scenarios

import "github.com/nodesim/nodesim/scenarios/spec"

// A File is a scenario file with values for its parameters: what [spec.File] holds, which can be simulated, opened as
// a tape and run live.
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

// Calibrated is the file with measured timings; see [spec.File.Calibrated].
func (f *File) Calibrated(m *spec.Measured) *File { return &File{*f.File.Calibrated(m)} }

// Setting, Parameter, Workload, Roll and Error are those of package spec, which says what a scenario file may hold.
type (
	// Setting is a value for a parameter.
	Setting = spec.Setting
	// Parameter is what a scenario file lets its users set.
	Parameter = spec.Parameter
	// Workload is an application of the scenario's cluster.
	Workload = spec.Workload
	// Roll is how the nodes are replaced.
	Roll = spec.Roll
	// Error names what is wrong in a scenario file, and where.
	Error = spec.Error
)

// MaxFile is the size that a scenario file may have, in bytes.
const MaxFile = spec.MaxFile

// ParseSetting reads name=value, as --set takes it.
func ParseSetting(text string) (Setting, error) { return spec.ParseSetting(text) }

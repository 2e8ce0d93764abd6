package media

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Printer makes the rows of a Table.
type Printer interface {
	// Columns are those of a Table with all columns, as kubectl's -o wide shows
	// them; their priority says which are for -o wide only.
	Columns() []metav1.TableColumnDefinition
	// Cells is the row of an object, with ages as they are at now.
	Cells(raw []byte, now time.Time) ([]any, []metav1.TableRowCondition, error)
}

// Maker makes the answers of a server about one resource. It is safe for
// concurrent use.
type Maker struct {
	resource timeline.Resource
	kind     schema.GroupVersionKind
	typed    bool   // client-go has a Go type for it
	opening  []byte // of an object that says its kind as Readers spell it
	bare     bool   // the items of its lists go without kind and apiVersion

	printer func() Printer
	now     func() time.Time
	shift   func(raw []byte) ([]byte, error)

	// Keys of an object's memo: a place in this Maker is like no other.
	frames [forms][frameTypes]slot
	shifted,
	body,
	partialBody slot
}

// slot is a place whose address is a key. It has a size, or else all would be
// at one address.
type slot struct{ _ byte }

// Options say what a Maker takes from outside. All of them may be left out.
type Options struct {
	// Printer is asked for the printer at each Table, so that it may follow the
	// definition of a custom resource. Without it, a Table is an error.
	Printer func() Printer
	// Now is the time that ages in Tables are told at: the clock of the tape.
	// Without it, it is the zero time, at which nothing has an age.
	Now func() time.Time
	// Shift changes the text of each object before it is shown, once. Bookmarks
	// stay as they are.
	Shift func(raw []byte) ([]byte, error)
}

// NewMaker returns the Maker of a resource.
func NewMaker(r timeline.Resource, o Options) *Maker {
	m := &Maker{resource: r, kind: kindOf(r), typed: inScheme(r), bare: isBuiltIn(r), printer: o.Printer, now: o.Now, shift: o.Shift}
	m.opening = rawjson.AppendString([]byte(`{"kind":`), r.Kind)
	m.opening = append(rawjson.AppendString(append(m.opening, `,"apiVersion":`...), r.APIVersion()), ',')
	if m.now == nil {
		m.now = func() time.Time { return time.Time{} }
	}
	return m
}

// raw is the text of an object as it is shown.
func (m *Maker) raw(o *replay.Object) ([]byte, error) {
	if m.shift == nil {
		return o.Raw(), nil
	}
	v, err := o.Memo(&m.shifted, func(o *replay.Object) (any, error) { return m.shift(o.Raw()) })
	if err != nil {
		return nil, err
	}
	return v.([]byte), nil
}

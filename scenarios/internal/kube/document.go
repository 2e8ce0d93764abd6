package kube

import "github.com/nodesim/nodesim/internal/rawjson"

// Document is an object of a kind that the Store has no type for. Its text is on the tape alone; the Store gives it its
// versions.
type Document struct {
	Meta
	Resource string // the plural
}

// CreateDocument adds an object with its whole text, name and UID included, changed by merge patches.
func (s *Store) CreateDocument(d *Document, text []byte, patches ...[]byte) {
	d.rv = s.version()
	for _, p := range patches {
		text = rawjson.Apply(nil, text, p)
	}
	s.emit(d.Resource, &Write{Change: Added, Meta: &d.Meta}, nil, func() []byte { return text })
}

// PatchDocument writes what differs, as a merge patch. It needs [Store.PatchesOnly].
func (s *Store) PatchDocument(d *Document, patch []byte) {
	if !d.gone {
		d.rv = s.version()
		s.emit(d.Resource, &Write{Change: Modified, Meta: &d.Meta}, patch, nil)
	}
}

// DropDocument removes an object.
func (s *Store) DropDocument(d *Document) {
	if d.gone {
		return
	}
	d.gone = true
	d.rv = s.version()
	s.emit(d.Resource, &Write{Change: Deleted, Meta: &d.Meta}, nil, nil)
}

// PutDocumentAway says that the object is gone, and how many replicas it wanted with it.
func (s *Store) PutDocumentAway(d *Document) {
	d.gone = true
	delete(s.scales, d.UID)
}

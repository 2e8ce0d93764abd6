package kube

import "fmt"

// Custom returns one of the provider's objects, or nil.
func (s *Store) Custom(resource, namespace, name string) *Custom {
	if t := s.customs[resource]; t != nil {
		return t.byName[key{namespace, name}]
	}
	return nil
}

// CreateCustom adds one of the provider's objects.
func (s *Store) CreateCustom(c *Custom) error {
	t := s.customs[c.Resource.Resource]
	if t == nil {
		t = &table[Custom]{}
		s.customs[c.Resource.Resource] = t
	}
	k := key{c.Namespace, c.Name}
	if t.byName[k] != nil {
		return fmt.Errorf("%s %q already exists", c.Resource, c.Name)
	}
	c.Generation = 1
	s.stamp(&c.Meta)
	t.put(k, c)
	of := ofCustoms(c.Resource.Resource)
	add(s, &of, &c.Meta, c, nil)
	s.tellCustoms(Added, nil, c)
	return nil
}

// UpdateCustom lets change work on one of the provider's objects and writes
// what it did. One that is to go and is held by no finalizer any more goes.
func (s *Store) UpdateCustom(c *Custom, change func(*Custom)) bool {
	if c.gone {
		return false
	}
	old := *c
	change(c)
	of := ofCustoms(c.Resource.Resource)
	patch, is := changed(s, &of, &old, c)
	if !is {
		return false
	}
	c.rv = s.version()
	modify(s, &of, &c.Meta, &old, c, patch)
	s.tellCustoms(Modified, &old, c)
	if c.Terminating() && len(c.Finalizers) == 0 {
		s.dropCustom(c)
	}
	return true
}

// DeleteCustom removes one of the provider's objects, or, where finalizers hold
// it, says that it is to go.
func (s *Store) DeleteCustom(c *Custom) bool {
	if c.gone {
		return false
	}
	if len(c.Finalizers) > 0 {
		return s.UpdateCustom(c, func(c *Custom) {
			if !c.Terminating() {
				c.Deleting = s.Now()
				c.Generation++
			}
		})
	}
	s.dropCustom(c)
	return true
}

func (s *Store) dropCustom(c *Custom) {
	old := *c
	c.rv = s.version()
	c.gone = true
	s.customs[c.Resource.Resource].drop(key{c.Namespace, c.Name})
	of := ofCustoms(c.Resource.Resource)
	remove(s, &of, &c.Meta, c)
	s.tellCustoms(Deleted, &old, c)
	s.forget(c.Resource.Kind, &c.Meta)
}

func (s *Store) tellCustoms(c Change, old, o *Custom) {
	s.watching++
	if r := s.outbound(); r != nil {
		r.CustomWritten(c, old, o)
	}
	s.watching--
}

package tables

import (
	"slices"
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

// FuzzCells prints any bytes as an object of any built-in resource.
func FuzzCells(f *testing.F) {
	all := builtins()
	for _, file := range filesOfObjects(f, "testdata/*.yaml", "testdata/unstored/*.yaml") {
		objects := objectsOf(f, file)
		i := slices.IndexFunc(all, func(r timeline.Resource) bool { return r.String() == resourceOf(file, objects[0]).String() })
		for _, object := range objects {
			f.Add(uint8(max(i, 0)), object)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		r := all[int(which)%len(all)]
		if r.Resource == "horizontalpodautoscalers" && which >= 128 {
			r.Version = "v1"
		}
		if err := check(r, For(r, nil), raw); err != nil {
			t.Error(err)
		}
	})
}

// FuzzDefinition prints any bytes with the columns of any definition.
func FuzzDefinition(f *testing.F) {
	for _, object := range widgetObjects {
		f.Add(definitionObject, object)
	}
	for _, path := range []string{`.a}{range .list[*]}{.b}{end`, `.list[-1:]`, `.list[0:2:0]`, `..name`, `.spec['a','b']`, `.list[?(@.a>@.b)]`, `.*`} {
		f.Add([]byte(`{"spec":{"versions":[{"name":"v1","additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":"`+path+`"}]}]}}`),
			[]byte(`{"metadata":{"name":"a"},"list":[{"a":1,"b":2},{"a":"x"},null],"spec":{"a":null,"b":[]}}`))
	}
	f.Fuzz(func(t *testing.T, definition, raw []byte) {
		if err := check(widgets("v1"), For(widgets("v1"), definition), raw); err != nil {
			t.Error(err)
		}
	})
}

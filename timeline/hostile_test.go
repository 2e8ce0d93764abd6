package timeline

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// head is a header of five lines: events begin on line 6.
const head = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: x}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
`

// added is an event that others can be on.
const added = `--- {"at":"1s","type":"ADDED","resource":"nodes","name":"n","uid":"u","rv":"5","object":{"spec":{}}}` + "\n"

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// What can't be taken is one line: the place, what was found, what was
// wanted, and where there is one, the remedy.
func TestBadTapes(t *testing.T) {
	for story, c := range badTapes {
		t.Run(story, func(t *testing.T) {
			_, _, err := drain([]byte(c.tape), Name("bad.yaml"))
			if err == nil || err.Error() != "timeline bad.yaml: "+c.want {
				t.Errorf("%v\nwant timeline bad.yaml: %s", err, c.want)
			}
			var fail *Error
			if err != nil && (!errors.As(err, &fail) || strings.ContainsAny(err.Error(), "\n\r\x00")) {
				t.Errorf("%T %q: want an *Error of one line", err, err)
			}
		})
	}
}

var badTapes = map[string]struct{ tape, want string }{
	// The header.
	"empty file":                       {"", `an empty file: want a header`},
	"only blank lines":                 {"\n\n", `the end of the file within the header: want a header and "---" after it`},
	"only NULs":                        {"\x00\x00\x00\x00", `the end of the file within the header: want a header and "---" after it`},
	"only a header":                    {head, `the end of the file within the header: want a header and "---" after it`},
	"header without a mark":            {head + `{"at":"0s","type":"MARK","name":"m"}` + "\n", `the end of the file within the header: want a header and "---" after it`},
	"no tape at all":                   {"hello\n---\n", `line 1: "hello": want apiVersion: nodesim.dev/v1`},
	"another YAML":                     {"kind: Pod\nmetadata: {}\n---\n", `line 1: a header without apiVersion: want apiVersion: nodesim.dev/v1`},
	"a wrong version":                  {strings.Replace(head, "/v1", "/v7", 1) + "---\n", `line 1: apiVersion "nodesim.dev/v7": want nodesim.dev/v1; a newer nodesim may read it`},
	"a wrong kind":                     {strings.Replace(head, "Timeline", "Timelime", 1) + "---\n", `line 1: kind "Timelime": want Timeline`},
	"a key twice in an unknown member": {strings.Replace(head, "metadata:", "later: {a: {b: 1, b: 2}}\nmetadata:", 1) + "---\n", `line 3: key "b" twice: want it once`},
	"a list of a header too long":      {strings.Replace(head, "resources:\n", "later: ["+strings.Repeat("a,", MaxMembers)+"a]\nresources:\n", 1) + "---\n", `line 4: a list or mapping of 1001: want at most 1000`},
	"a header of too many members": {head + func() (s string) {
		for i := range MaxMembers {
			s += fmt.Sprintf("m%d: 1\n", i)
		}
		return s
	}() + "---\n", `line 1: a list or mapping of 1004: want at most 1000`},
	"a list as header":            {"- a\n- b\n---\n", `line 1: "- a": want apiVersion: nodesim.dev/v1`},
	"broken YAML":                 {"apiVersion: [\nkind: x\n---\n", `line 2: did not find expected ',' or ']': want YAML`},
	"a bad start":                 {strings.Replace(head, "{name: x}", "{name: x, start: yesterday}", 1) + "---\n", `line 3: time "yesterday": want RFC 3339, such as "2026-11-20T22:21:09.113Z"`},
	"resources of another shape":  {strings.Replace(head, "- {group", "- [group", 1) + "---\n", `line 4: did not find expected ',' or ']': want YAML`},
	"resources as text":           {"apiVersion: nodesim.dev/v1\nkind: Timeline\nresources: all\n---\n", "line 3: cannot unmarshal !!str `all` into []timeline.Resource: want a header as docs/format.md has it"},
	"a resource without kind":     {"apiVersion: nodesim.dev/v1\nkind: Timeline\nresources: [{version: v1, resource: nodes}]\n---\n", `line 1: resources[0] without one of them: want version, kind and resource`},
	"a resource twice":            {head + "- {group: \"\", version: v1, kind: Node, resource: nodes, namespaced: false}\n---\n", `line 1: resource nodes twice: want it once`},
	"header key twice":            {head + "kind: Timeline\n---\n", `line 6: key "kind" twice: want it once`},
	"alias bomb in the header":    {"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n" + head + "---\n", `line 1: an anchor or alias: want neither anchors nor aliases`},
	"tag in the header":           {strings.Replace(head, "{name: x}", "!!python/object:os.system {name: x}", 1) + "---\n", `line 3: tag !!python/object:os.system: want no tags`},
	"merge key in the header":     {head + "<<: {kind: x}\n---\n", `line 6: a merge key: want no merge keys`},
	"deep header":                 {head + "x: " + nested(200) + "\n---\n", `line 6: nesting deeper than 100: want less`},
	"NUL in the header":           {strings.Replace(head, "x}", "\x00}", 1) + "---\n", `line 1: a NUL byte: want the YAML of a header`},
	"invalid UTF-8 in the header": {strings.Replace(head, "x}", "\xff}", 1) + "---\n", `line 1: invalid leading UTF-8 octet: want YAML`},
	"UTF-16":                      {"\xff\xfea\x00p\x00i\x00\n\x00---\n", `the end of the file within the header: want a header and "---" after it`},
	"a binary":                    {"\x7fELF\x02\x01\x01\x00\x00\n---\n", `line 1: a NUL byte: want the YAML of a header`},
	"header of JSON, cut":         {`{"apiVersion":"nodesim.dev/v1","kind":"Timeline"` + "\n", `line 1: did not find expected ',' or '}': want YAML`},

	// The form of an event.
	"no mark before an event":     {head + added + "hello\n", `line 7: "hello": want "---" before each event`},
	"text as an event":            {head + "--- hello\n", `line 6: event "\"hello\"": want a JSON object`},
	"a list as an event":          {head + "--- [1]\n", `line 6: event "[1]": want a JSON object`},
	"half a line":                 {head + `--- {"at":"0s","type":"MARK"` + "\n", `line 6: did not find expected ',' or '}': want YAML`},
	"a broken line":               {head + `--- {"at":"0s","type":"MARK",}` + "\n", `line 6: byte 25 of the event is '}': want a member name in quotes`},
	"a line after a line":         {head + `--- {"at":"0s","type":"MARK","name":"m"} {}` + "\n", `line 6: byte 37 of the event is '{': want the end`},
	"a control character":         {head + "--- {\"at\":\"0s\",\"type\":\"MARK\",\"name\":\"\x01\"}\n", `line 6: byte 33 of the event is '\x01': want an escape instead of a control character`},
	"NUL in an event":             {head + "--- {\"at\":\"0s\",\x00\"type\":\"MARK\",\"name\":\"m\"}\n", `line 6: byte 11 of the event is '\x00': want a member name in quotes`},
	"NUL in a block event":        {head + "---\nat: 0s\ntype: MARK\nname: \"a\x00b\"\n", `line 6: a NUL byte: want text`},
	"NULs before the end":         {head + added + "\x00\x00\x00\n" + added, `line 7: "\x00\x00\x00": want "---" before each event`},
	"many NULs before the end":    {head + added + strings.Repeat("\x00", 1<<20) + added, `line 7: NUL bytes: want text`},
	"invalid UTF-8 in a block":    {head + "---\nat: 0s\ntype: MARK\nname: \"\xff\"\n", `line 6: invalid leading UTF-8 octet: want YAML`},
	"deep event":                  {head + `--- {"at":"0s","type":"NOTE","x":` + nested(200) + "}\n", `line 6: byte 128 of the event is nesting deeper than 100: want less`},
	"deep block event":            {head + "---\nat: 0s\ntype: NOTE\nx: " + nested(200) + "\n", `line 9: nesting deeper than 100: want less`},
	"very deep block event":       {head + "---\nat: 0s\ntype: NOTE\nx: " + nested(100000) + "\n", `line 9: exceeded max depth of 10000: want YAML`},
	"alias bomb in a block event": {head + "---\nat: 0s\ntype: NOTE\na: &a [x,x]\nb: [*a,*a]\n", `line 9: an anchor or alias: want neither anchors nor aliases`},
	"alias in a block event":      {head + "---\nat: 0s\ntype: NOTE\nb: *a\n", `line 6: unknown anchor 'a' referenced: want YAML`},
	"tag in a block event":        {head + "---\nat: 0s\ntype: !!binary Tk9URQ==\n", `line 8: tag !!binary: want no tags`},
	"merge key in a block event":  {head + "---\nat: 0s\ntype: NOTE\n<<: {a: b}\n", `line 9: a merge key: want no merge keys`},
	"key twice in a block event":  {head + "---\nat: 0s\ntype: NOTE\nat: 1s\n", `line 9: key "at" twice: want it once`},
	"list as key":                 {head + "---\nat: 0s\ntype: NOTE\n? [a]\n: b\n", `line 9: a list or a mapping as key: want a name`},
	"an octal number":             {head + "---\nat: 0s\ntype: NOTE\nmode: 0755\n", `line 9: 0755: want a number as JSON writes it, or quotes around it`},
	"a number that isn't JSON's":  {head + "---\nat: 0s\ntype: NOTE\nx: .inf\n", `line 9: .inf: want a number as JSON writes it, or quotes around it`},
	"two values in one document":  {head + "--- {\"at\":\"0s\",\"type\":\"NOTE\"}\nname: x\n", `line 7: "name: x": want "---" before each event`},
	"a tab in block YAML":         {head + "---\nat: 0s\n\ttype: NOTE\n", `line 7: found a tab character that violates indentation: want YAML`},

	// The members of an event.
	"no at":                     {head + `--- {"type":"MARK","name":"m"}` + "\n", `line 6: an event without "at": want "at"`},
	"no type":                   {head + `--- {"at":"0s","name":"m"}` + "\n", `line 6: an event without "type": want "type"`},
	"a number as at":            {head + `--- {"at":5,"type":"MARK","name":"m"}` + "\n", `line 6: at "5": want a string`},
	"minutes as at":             {head + `--- {"at":"1m","type":"MARK","name":"m"}` + "\n", `line 6: at "1m": want decimal seconds such as "12.5s"`},
	"a negative at":             {head + `--- {"at":"-1s","type":"MARK","name":"m"}` + "\n", `line 6: at "-1s": want decimal seconds such as "12.5s"`},
	"picoseconds":               {head + `--- {"at":"0.0000000001s","type":"MARK","name":"m"}` + "\n", `line 6: at "0.0000000001s": want decimal seconds such as "12.5s"`},
	"three centuries":           {head + `--- {"at":"9999999999s","type":"MARK","name":"m"}` + "\n", `line 6: at "9999999999s": want decimal seconds such as "12.5s"`},
	"a misspelt type":           {head + `--- {"at":"0s","type":"MODIFED","resource":"nodes","name":"n","rv":"6","patch":{}}` + "\n", `line 6: type "MODIFED": want ADDED, MODIFIED, DELETED, SYNC, GAP, MARK, REFUSED or END`},
	"a type in small letters":   {head + `--- {"at":"0s","type":"added","resource":"nodes","name":"n"}` + "\n", `line 6: type "added": want ADDED, MODIFIED, DELETED, SYNC, GAP, MARK, REFUSED or END`},
	"a member twice":            {head + `--- {"at":"0s","at":"1s","type":"MARK","name":"m"}` + "\n", `line 6: byte 11 of the event is a second member "at": want it once`},
	"a member twice, spelt":     {head + `--- {"at":"0s","\u0061t":"1s","type":"MARK","name":"m"}` + "\n", `line 6: byte 11 of the event is a second member "at": want it once`},
	"a member twice inside":     {head + strings.Replace(added, `{"spec"`, `{"spec":1,"spec"`, 1), `line 6: byte 94 of the event is a second member "spec": want it once`},
	"an object that is none":    {head + `--- {"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"5","object":[]}` + "\n", `line 6: object "[]": want an object`},
	"ADDED with a patch":        {head + `--- {"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"5","patch":{}}` + "\n", `line 6: ADDED without object: want "object"`},
	"MODIFIED with nothing":     {head + added + `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6"}` + "\n", `line 7: MODIFIED without either: want "patch" or "object"`},
	"object and patch":          {head + added + `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","object":{},"patch":{}}` + "\n", `line 7: MODIFIED with both object and patch: want one of them`},
	"no resource":               {head + `--- {"at":"0s","type":"ADDED","name":"n","rv":"5","object":{}}` + "\n", `line 6: ADDED without "resource": want "resource"`},
	"no name":                   {head + `--- {"at":"0s","type":"ADDED","resource":"nodes","rv":"5","object":{}}` + "\n", `line 6: ADDED without "name": want "name"`},
	"an empty name":             {head + `--- {"at":"0s","type":"ADDED","resource":"nodes","name":"","rv":"5","object":{}}` + "\n", `line 6: ADDED without "name": want "name"`},
	"no rv":                     {head + `--- {"at":"0s","type":"ADDED","resource":"nodes","name":"n","object":{}}` + "\n", `line 6: ADDED without "rv": want "rv"`},
	"SYNC without rv":           {head + `--- {"at":"0s","type":"SYNC","resource":"nodes"}` + "\n", `line 6: SYNC without "rv": want "rv"`},
	"GAP without resource":      {head + `--- {"at":"0s","type":"GAP"}` + "\n", `line 6: GAP without "resource": want "resource"`},
	"MARK without name":         {head + `--- {"at":"0s","type":"MARK"}` + "\n", `line 6: MARK without "name": want "name"`},
	"END without events":        {head + `--- {"at":"0s","type":"END"}` + "\n", `line 6: END without "events": want "events"`},
	"END with less than itself": {head + `--- {"at":"0s","type":"END","events":0}` + "\n", `line 6: events "0": want the number of lines after the header`},
	"rv with a fraction":        {head + `--- {"at":"0s","type":"SYNC","resource":"nodes","rv":4.5}` + "\n", `line 6: rv "4.5": want a string`},

	// What events say together.
	"time going back":             {head + added + `--- {"at":"0.9s","type":"MARK","name":"m"}` + "\n", `line 7: at "0.9s", which is before the line above: want at least 1s`},
	"patch before object":         {head + `--- {"at":"0s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","patch":{}}` + "\n", `line 6: a patch of nodes n, which isn't there: want its object first`},
	"MODIFIED before ADDED":       {head + `--- {"at":"0s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","object":{}}` + "\n", `line 6: MODIFIED of nodes n, which isn't there: want ADDED before that`},
	"a second ADDED":              {head + added + added, `line 7: a second ADDED of nodes n, which is alive: want DELETED before that`},
	"DELETED of nothing":          {head + `--- {"at":"0s","type":"DELETED","resource":"nodes","name":"n","rv":"6"}` + "\n", `line 6: DELETED of nodes n, which isn't there: want ADDED before that`},
	"another uid":                 {head + added + `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","uid":"v","rv":"6","patch":{}}` + "\n", `line 7: MODIFIED of nodes n with uid v, where uid u is alive: want DELETED of the old one and ADDED of the new one`},
	"unknown resource":            {head + `--- {"at":"0s","type":"ADDED","resource":"pods","namespace":"d","name":"n","rv":"5","object":{}}` + "\n", `line 6: resource "pods": want one of the header's resources; add it to resources: in the header`},
	"unknown resource in a SYNC":  {head + `--- {"at":"0s","type":"SYNC","resource":"pods","rv":"5"}` + "\n", `line 6: resource "pods": want one of the header's resources; add it to resources: in the header`},
	"another name inside":         {head + strings.Replace(added, `{"spec"`, `{"metadata":{"name":"m"},"spec"`, 1), `line 6: metadata.name "m" in the object: want the same as beside the object`},
	"another rv inside":           {head + strings.Replace(added, `{"spec"`, `{"metadata":{"resourceVersion":"4"},"spec"`, 1), `line 6: metadata.resourceVersion "4" in the object: want the same as beside the object`},
	"another uid inside":          {head + strings.Replace(added, `{"spec"`, `{"metadata":{"uid":"v"},"spec"`, 1), `line 6: metadata.uid "v" in the object: want the same as beside the object`},
	"a namespace inside only":     {head + strings.Replace(added, `{"spec"`, `{"metadata":{"namespace":"d"},"spec"`, 1), `line 6: metadata.namespace "d" in the object: want the same as beside the object`},
	"metadata that is none":       {head + strings.Replace(added, `{"spec"`, `{"metadata":[],"spec"`, 1), `line 6: metadata "[]": want an object`},
	"a name that is a number":     {head + strings.Replace(added, `{"spec"`, `{"metadata":{"name":5},"spec"`, 1), `line 6: metadata.name "5": want a string`},
	"another uid in the object":   {head + added + `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","object":{"metadata":{"uid":"v"}}}` + "\n", `line 7: MODIFIED of nodes n with uid v, where uid u is alive: want DELETED of the old one and ADDED of the new one`},
	"patch of the identity":       {head + added + `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","patch":{"metadata":{"uid":"v"}}}` + "\n", `line 7: a patch of metadata.uid: want it beside the patch`},
	"patch of the kind":           {head + added + `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","patch":{"kind":"Pod"}}` + "\n", `line 7: a patch of kind: want a whole object`},
	"patch that removes metadata": {head + added + `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","patch":{"metadata":null}}` + "\n", `line 7: a patch that removes it from nodes n: want metadata as an object`},
	"a line after END":            {head + `--- {"at":"0s","type":"END","events":1}` + "\n" + added, `line 7: ADDED after END: want END as the last line`},
}

// growing is a tape of one object of that many bytes, and then patches of which each adds a member.
func growing(bytes, patches int) string {
	var b strings.Builder
	b.WriteString(head)
	fmt.Fprintf(&b, `--- {"at":"1s","type":"ADDED","resource":"nodes","name":"n","uid":"u","rv":"1","object":{"spec":{"x":"%s"}}}`+"\n", strings.Repeat("y", bytes))
	for i := range patches {
		fmt.Fprintf(&b, `--- {"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"%d","patch":{"spec":{"i%d":1}}}`+"\n", i+2, i)
	}
	return b.String()
}

// A hundred patches in a row are the most that Writers make. More of them are
// read while the object is small, so that a tape edited by hand needn't care.
func TestPatchesInARow(t *testing.T) {
	const whole = "want the whole object at least at every hundredth event; write it whole: only objects of up to 16 KiB can do without"
	for _, c := range []struct {
		bytes, patches int
		want           string
	}{
		{10, 1745, ""},
		{10, 1746, "timeline (stream): line 1752: nodes n of 16 KiB after 1746 patches in a row: " + whole},
		{MaxPatched, keyframeEvery - 1, ""},
		{MaxPatched, keyframeEvery, "timeline (stream): line 106: nodes n of 16 KiB after 100 patches in a row: " + whole},
	} {
		_, _, err := drain([]byte(growing(c.bytes, c.patches)))
		if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && c.want != "" {
			t.Errorf("%d patches of %d bytes: %v\nwant %s", c.patches, c.bytes, err, c.want)
		}
	}
}

func TestTornHeader(t *testing.T) {
	for _, text := range []string{"\n\n", head, head + `{"at":"0s","type":"MARK","name":"m"}` + "\n"} {
		if _, err := NewReader(strings.NewReader(text)); !errors.Is(err, ErrTornHeader) {
			t.Errorf("%q: found %v, want ErrTornHeader", text, err)
		}
	}
	if _, err := NewReader(strings.NewReader("")); err == nil || errors.Is(err, ErrTornHeader) {
		t.Errorf("an empty file: found %v, want another error", err)
	}
}

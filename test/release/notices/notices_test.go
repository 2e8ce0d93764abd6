package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestRelease gathers what is really linked, for two systems, twice: the same bytes, with every module of the program.
func TestRelease(t *testing.T) {
	for _, c := range []struct {
		program
		module string
		linked []string
	}{
		{program{"../../..", "./cmd/nodesim", "nodesim"}, nodesim, nil},
		{program{"../../../cmd/nodesim-cloud", ".", "nodesim-cloud"}, nodesim + "/cmd/nodesim-cloud",
			[]string{"gocloud.dev v", "cloud.google.com/go/storage v", "github.com/aws/aws-sdk-go-v2/service/s3 v"}},
	} {
		t.Run(c.name, func(t *testing.T) { testRelease(t, c.program, c.module, c.linked) })
	}
}

func testRelease(t *testing.T, p program, module string, linked []string) {
	var before [2][]byte
	for round := range 2 {
		out := t.TempDir()
		if err := run(t.Context(), p, "v1.2.3", out, []string{"linux/amd64", "windows/arm64"}); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"LICENSES.txt", p.name + ".cdx.json"} {
			text, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			if round == 1 && !bytes.Equal(text, before[i]) {
				t.Errorf("%s differs between two runs", name)
			}
			before[i] = text
		}
	}
	for _, want := range append(linked,
		"k8s.io/client-go v", "std "+runtime.Version()+": BSD-3-Clause\n", "github.com/spf13/cobra v", "Apache License",
	) {
		if !strings.Contains(string(before[0]), want) {
			t.Errorf("found no %q in LICENSES.txt", want)
		}
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(before[1]), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if is := bom.Metadata.Component; is.Name != module || is.Version != "v1.2.3" {
		t.Errorf("the bill is of %s %s", is.Name, is.Version)
	}
	refs := map[string]bool{bom.Metadata.Component.BOMRef: true}
	for _, c := range *bom.Components {
		refs[c.BOMRef] = true
		if len(*c.Licenses) == 0 || c.Version == "" {
			t.Errorf("%s: found %+v: want licence and version", c.Name, c)
		}
		if c.Name == nodesim {
			if c.Version != "v1.2.3" {
				t.Errorf("%s: found version %s: want that of the release", c.Name, c.Version)
			}
			continue
		}
		if c.Name != standard && c.Hashes == nil {
			t.Errorf("%s: found no hash: want one", c.Name)
		}
		if n := strings.Count(string(before[0]), "\n"+c.Name+" "+c.Version); n == 0 {
			t.Errorf("%s: isn't in LICENSES.txt", c.Name)
		}
	}
	for _, d := range *bom.Dependencies {
		if d.Dependencies == nil {
			continue
		}
		for _, on := range *d.Dependencies {
			if !refs[on] {
				t.Errorf("%s depends on %s, which is no component", d.Ref, on)
			}
		}
	}
}

func TestLicenceThatIsMissingOrNotAllowed(t *testing.T) {
	mit, err := os.ReadFile("testdata/MIT.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"LICENSE", string(mit), ""},
		{"COPYING.txt", string(mit), ""},
		{"LICENSE", "Ask us, and perhaps we allow it.", "found a text of which 0 % are a known licence's: want 75 % at least"},
		{"LICENSE", string(mit) + strings.Repeat("But never on Mondays, unless it rains or you are a plumber by trade. ", 40), "want 75 % at least"},
		{"README.md", string(mit), "found no licence in "},
		{"license.go", string(mit), "found no licence in "},
		{"LICENSE", gpl, "found the licence GPL-"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.name), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		m := module{Path: "example.org/m", Version: "v1.0.0", Dir: dir}
		switch err := m.license(); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: found %v: want %q", c.name, err, c.want)
		}
	}
}

// A package can have a licence of its own, in a folder of its module.
func TestLicenceOfAFolder(t *testing.T) {
	mit, err := os.ReadFile("testdata/MIT.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	inner := filepath.Join(dir, "internal", "borrowed")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"LICENSE": string(mit), "internal/LICENSE": gpl} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := module{Path: "example.org/m", Dir: dir, Packages: []string{dir}}
	if err := m.license(); err != nil {
		t.Errorf("what isn't linked counts: %v", err)
	}
	m = module{Path: "example.org/m", Dir: dir, Packages: []string{dir, inner}}
	if err := m.license(); err == nil || !strings.Contains(err.Error(), "found the licence GPL-") {
		t.Errorf("found %v: want the folder's licence refused", err)
	}
}

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as
published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see
<https://www.gnu.org/licenses/>.
`

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials is the list in CycloneDX's JSON. It has neither a time nor a serial number, so that a release can be made again.
func billOfMaterials(version string, linked []module) ([]byte, error) {
	bom := cdx.NewBOM()
	var components []cdx.Component
	var needs []cdx.Dependency
	for _, m := range linked {
		c := component(m, version)
		if m.Main {
			c.Type = cdx.ComponentTypeApplication
			bom.Metadata = &cdx.Metadata{Component: &c}
		} else {
			components = append(components, c)
		}
		var on []string
		for _, path := range m.Needs {
			for _, other := range linked {
				if other.Path == path {
					on = append(on, packageURL(other, version))
				}
			}
		}
		needs = append(needs, cdx.Dependency{Ref: c.BOMRef, Dependencies: &on})
		if hash, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
			sum, err := base64.StdEncoding.DecodeString(hash)
			if err != nil {
				return nil, fmt.Errorf("module %s: sum %q: %w", m.Path, m.Sum, err)
			}
			components[len(components)-1].Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
	}
	if bom.Metadata == nil {
		return nil, fmt.Errorf("found %d modules and not the program's: want it among them", len(linked))
	}
	bom.Components, bom.Dependencies = &components, &needs
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	return b.Bytes(), nil
}

func component(m module, version string) cdx.Component {
	c := cdx.Component{
		BOMRef: packageURL(m, version), Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: packageURL(m, version),
	}
	if m.Ours {
		c.Version = version
	}
	var licenses cdx.Licenses
	for _, id := range m.Licenses {
		licenses = append(licenses, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	c.Licenses = &licenses
	return c
}

// packageURL names a module. Source: package-url/purl-spec, types/golang-definition.json.
func packageURL(m module, version string) string {
	if m.Ours {
		m.Version = version
	}
	return "pkg:golang/" + m.Path + "@" + m.Version
}

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences under which a program may be linked and shipped if their texts go along.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "Unlicense", "0BSD", "CC0-1.0", "Zlib", "BSL-1.0", "MPL-2.0"}

// recognized is the least part of a licence's file, in percent, that has to be a licence's text: the rest names holders.
const recognized = 75

var (
	// Texts that go with a module; those of them that are licences.
	textName    = regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying|notice|patents|copyright)([-._].*)?$`)
	licenceName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)([-._].*)?$`)
	sourceName  = regexp.MustCompile(`(?i)\.(go|s|h|c|sh|py|tmpl|html)$`)
)

// license finds the texts in the module's folder, and in those that lead to its packages that are linked.
func (m *module) license() error {
	folders := map[string]bool{m.Dir: true}
	if m.Ours {
		// A module in a folder of a repository has the repository's licence, where it has none of its own. Source:
		// go.dev/ref/mod#vcs-license.
		folders = map[string]bool{repository(m.Dir): true}
	}
	for _, dir := range m.Packages {
		for ; len(dir) > len(m.Dir); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	ids := map[string]bool{}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return fmt.Errorf("module %s: %w", m.Path, err)
		}
		for _, e := range entries {
			if e.IsDir() || !textName.MatchString(e.Name()) || sourceName.MatchString(e.Name()) {
				continue
			}
			file := filepath.Join(folder, e.Name())
			text, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("module %s: %w", m.Path, err)
			}
			m.Texts = append(m.Texts, strings.TrimSpace(string(text)))
			if !licenceName.MatchString(e.Name()) {
				continue
			}
			found, err := identify(text)
			if err != nil {
				return fmt.Errorf("module %s %s: %s: %w", m.Path, m.Version, file, err)
			}
			for _, id := range found {
				ids[id] = true
			}
		}
	}
	if len(ids) == 0 {
		return fmt.Errorf("module %s %s: found no licence in %s: want a file such as LICENSE; leave the module out, or ask its authors", m.Path, m.Version, m.Dir)
	}
	m.Licenses = slices.Sorted(maps.Keys(ids))
	return nil
}

// repository returns the folder above dir, or dir, that has a LICENSE; dir if none has.
func repository(dir string) string {
	for folder := dir; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "LICENSE")); err == nil {
			return folder
		}
		if folder == filepath.Dir(folder) {
			return dir
		}
	}
}

// identify returns the SPDX identifiers of a licence's text.
func identify(text []byte) ([]string, error) {
	cover := licensecheck.Scan(text)
	ids := map[string]bool{}
	for _, match := range cover.Match {
		if match.IsURL {
			continue // a mention
		}
		if !slices.Contains(allowed, match.ID) {
			return nil, fmt.Errorf("found the licence %s: want one of %s", match.ID, strings.Join(allowed, ", "))
		}
		ids[match.ID] = true
	}
	if len(ids) == 0 || cover.Percent < recognized {
		return nil, fmt.Errorf("found a text of which %.0f %% are a known licence's: want %d %% at least", cover.Percent, recognized)
	}
	return slices.Sorted(maps.Keys(ids)), nil
}

// notice is the file that goes with the program: a table of the modules, and each text once, with the modules that have it.
func notice(linked []module) []byte {
	var b strings.Builder
	b.WriteString("nodesim is licensed under the Apache License, Version 2.0. These modules are linked into it:\n\n")
	holders := map[string][]string{}
	var texts []string
	for _, m := range linked {
		if m.Ours {
			continue
		}
		name := strings.TrimSpace(m.Path + " " + m.Version)
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(m.Licenses, ", "))
		for _, text := range m.Texts {
			if holders[text] == nil {
				texts = append(texts, text)
			}
			if !slices.Contains(holders[text], name) {
				holders[text] = append(holders[text], name)
			}
		}
	}
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(holders[text], "\n"), text)
	}
	return []byte(b.String())
}

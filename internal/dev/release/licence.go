package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A licence is a file of a module that must be passed on with it.
type licence struct {
	name string // of the file
	text string
	ids  []string // SPDX identifiers, if it is the licence of the module itself
}

var (
	licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)([-.].*)?$`)
	// ownLicence matches the names of files with the licence of the module itself. Other files may
	// list works that no program contains.
	ownLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)(\.[a-z]+)?$`)
)

// identifiers tell licences by a phrase of each, in lower case. A file may have several.
var identifiers = []struct{ id, phrase, without string }{
	{"Apache-2.0", "apache license, version 2.0", ""},
	{"Apache-2.0", "apache license version 2.0", ""},
	{"BSD-2-Clause", "redistribution and use in source and binary forms", "neither the name"},
	{"BSD-3-Clause", "neither the name", ""},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose", ""},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose", ""},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy", ""},
}

// copyleft are phrases of licences that bind the whole program.
var copyleft = []string{
	"gnu general public license", "gnu lesser general public", "gnu affero", "mozilla public license",
}

// readLicences reads the licences of a module. None, only unknown ones, and one that binds the
// whole program are errors.
func readLicences(dir string) (all []licence, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	known := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		l := licence{name: e.Name(), text: strings.TrimSpace(string(text))}
		if ownLicence.MatchString(l.name) {
			if l.ids, err = identify(l.text); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, l.name), err)
			}
			known = known || len(l.ids) > 0
		}
		all = append(all, l)
	}
	if !known {
		return nil, errors.New("no known licence in " + dir)
	}
	return all, nil
}

// identify returns the SPDX identifiers of a text.
func identify(text string) (ids []string, err error) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, phrase := range copyleft {
		if strings.Contains(text, phrase) {
			return nil, fmt.Errorf("the licence names the %s", phrase)
		}
	}
	for _, i := range identifiers {
		found := strings.Contains(text, i.phrase) && (i.without == "" || !strings.Contains(text, i.without))
		if found && !slices.Contains(ids, i.id) {
			ids = append(ids, i.id)
		}
	}
	return ids, nil
}

// identifiers returns the identifiers of all licences of a module, each once.
func (m *module) identifiers() (ids []string) {
	for _, l := range m.licences {
		ids = append(ids, l.ids...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// licences returns the texts of all licences.
func (p *program) licences() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s contains the works of others that follow, under these licences.\n", p.name)
	for _, m := range p.modules {
		for _, l := range m.licences {
			line := strings.Repeat("=", 80)
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", line, m.path, m.version, l.name, l.text)
		}
	}
	return b.Bytes()
}

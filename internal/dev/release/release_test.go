package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestFilesOfAReleaseNameEveryModule reads a binary with one module, as the recipe of a release
// reads agentctl.
func TestFilesOfAReleaseNameEveryModule(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "program")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./testdata/program").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var files [2]map[string][]byte // the same both times
	for i := range files {
		dir := filepath.Join(t.TempDir(), "about")
		if err := write(t.Context(), binary, dir); err != nil {
			t.Fatal(err)
		}
		files[i] = map[string][]byte{}
		for _, name := range []string{"THIRD_PARTY_LICENSES", "sbom.cdx.json"} {
			if files[i][name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name := range files[0] {
		if !bytes.Equal(files[0][name], files[1][name]) {
			t.Errorf("%s differs between two calls", name)
		}
	}
	var got cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(files[0]["sbom.cdx.json"]), cdx.BOMFileFormatJSON).Decode(&got); err != nil {
		t.Fatal(err)
	}
	licences := map[string]string{}
	for _, c := range *got.Components {
		var ids []string
		for _, l := range *c.Licenses {
			ids = append(ids, l.License.ID)
		}
		licences[c.Name] = strings.Join(ids, " ")
		if !strings.Contains(string(files[0]["THIRD_PARTY_LICENSES"]), "\n"+c.Name+" "+c.Version+": LICENSE") {
			t.Errorf("no licence of %s %s", c.Name, c.Version)
		}
	}
	const bsd = "BSD-3-Clause"
	if got.BOMFormat != cdx.BOMFormat || got.SpecVersion != cdx.SpecVersion1_6 || licences["std"] != bsd || licences["github.com/spf13/pflag"] != bsd {
		t.Errorf("the bill of materials has %v", licences)
	}
}

func TestLicencesAreIdentified(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n Version 2.0, January 2004":                              "Apache-2.0",
		"Redistribution and use in source\nand binary forms … Neither the name …": "BSD-3-Clause",
		"Redistribution and use in source\nand binary forms":                      "BSD-2-Clause",
		"All rights reserved.": "",
	} {
		ids, err := identify(text)
		if got := strings.Join(ids, " "); got != want || err != nil {
			t.Errorf("%q is %q, want %q (%v)", text, got, want, err)
		}
	}
}

func TestAModuleNeedsAKnownLicenceThatBindsItselfOnly(t *testing.T) {
	for name, text := range map[string]string{
		"README":  "Permission is hereby granted, free of charge, to any person obtaining a copy",
		"LICENSE": "All rights reserved.",
		"COPYING": "GNU GENERAL PUBLIC LICENSE\nVersion 3",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readLicences(dir); err == nil {
			t.Errorf("no error for %s with %q", name, text)
		}
	}
}

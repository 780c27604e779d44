package main

import (
	"bytes"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// buildSettings are the settings of the build that the bill names.
var buildSettings = []string{"GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision"}

// billOfMaterials returns the bill in JSON. It has no serial number and no time, so that the same
// binary gives the same bill.
func (p *program) billOfMaterials() ([]byte, error) {
	var settings []cdx.Property
	for _, name := range buildSettings {
		if value := p.settings[name]; value != "" {
			settings = append(settings, cdx.Property{Name: "go:" + name, Value: value})
		}
	}
	var components []cdx.Component
	var contained []string
	for _, m := range p.modules {
		url := "pkg:golang/" + m.path + "@" + m.version
		var licences cdx.Licenses
		for _, id := range m.identifiers() {
			licences = append(licences, cdx.LicenseChoice{License: &cdx.License{ID: id}})
		}
		components = append(components, cdx.Component{
			Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: m.path, Version: m.version, PackageURL: url,
			Licenses: &licences,
		})
		contained = append(contained, url)
	}
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, BOMRef: p.name, Name: p.name, Properties: &settings,
	}}
	b.Components = &components
	b.Dependencies = &[]cdx.Dependency{{Ref: p.name, Dependencies: &contained}}
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cdx.SpecVersion1_6)
	return out.Bytes(), err
}

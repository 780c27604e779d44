package main

import "encoding/json"

// A bill is a bill of materials in the format CycloneDX. It has no serial number and no time, so
// that the same binary gives the same bill.
type bill struct {
	Format     string       `json:"bomFormat"`
	Spec       string       `json:"specVersion"`
	Version    int          `json:"version"`
	Metadata   metadata     `json:"metadata"`
	Components []component  `json:"components"`
	Relations  []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

// A component is the program, or a module that is compiled into it.
type component struct {
	Type       string          `json:"type"`
	Ref        string          `json:"bom-ref"`
	Name       string          `json:"name"`
	Version    string          `json:"version,omitempty"`
	PURL       string          `json:"purl,omitempty"`
	Licences   []licenceChoice `json:"licenses,omitempty"`
	Properties []property      `json:"properties,omitempty"`
}

type licenceChoice struct {
	Licence licenceID `json:"license"`
}

type licenceID struct {
	ID string `json:"id"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A dependency lists what a component contains.
type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// buildSettings are the settings of the build that the bill names.
var buildSettings = []string{"GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision"}

// billOfMaterials returns the bill in JSON.
func (p *program) billOfMaterials() ([]byte, error) {
	root := component{Type: "application", Ref: p.name, Name: p.name}
	for _, name := range buildSettings {
		if value := p.settings[name]; value != "" {
			root.Properties = append(root.Properties, property{"go:" + name, value})
		}
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{root}}
	contains := dependency{Ref: p.name}
	for _, m := range p.modules {
		url := "pkg:golang/" + m.path + "@" + m.version
		c := component{Type: "library", Ref: url, Name: m.path, Version: m.version, PURL: url}
		for _, id := range m.identifiers() {
			c.Licences = append(c.Licences, licenceChoice{licenceID{id}})
		}
		b.Components = append(b.Components, c)
		contains.DependsOn = append(contains.DependsOn, url)
	}
	b.Relations = []dependency{contains}
	return json.MarshalIndent(b, "", "  ")
}

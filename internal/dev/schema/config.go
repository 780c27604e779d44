package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"agentctl/internal/config"
)

// A setting is a field of the configuration file of a server.
type setting struct {
	key      string
	typ      string // for users
	about    string
	byname   bool // an object with any names, each with the fields
	fields   []*setting
	standard string // without the field
	schema   map[string]any
}

// module is the path of the module, and root its directory, relative to this one.
const (
	module = "agentctl/"
	root   = "../../../"
)

// A settingReader makes settings from types and comments.
type settingReader struct{ comments map[string]*comments } // by package

// settings returns the fields of the configuration file.
func settings() ([]*setting, error) {
	r := &settingReader{comments: map[string]*comments{}}
	return r.fields(reflect.TypeFor[config.Server]())
}

// comment returns the comment of a field.
func (r *settingReader) comment(of reflect.Type, field string) (string, error) {
	pkg := strings.TrimPrefix(of.PkgPath(), module)
	if r.comments[pkg] == nil {
		c, err := readComments(root + pkg)
		if err != nil {
			return "", err
		}
		r.comments[pkg] = c
	}
	return r.comments[pkg].fields[of.Name()+"."+field], nil
}

func (r *settingReader) fields(t reflect.Type) (list []*setting, err error) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "" || name == "-" {
			continue
		}
		of := t
		for _, i := range f.Index[:len(f.Index)-1] {
			of = of.Field(i).Type
		}
		about, err := r.comment(of, f.Name)
		if err != nil {
			return nil, err
		}
		s, err := r.setting(f.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		about = strings.TrimSuffix(strings.TrimPrefix(about, f.Name+" "), ".")
		s.key, s.schema["description"] = name, about
		s.about, s.standard, _ = strings.Cut(about, "; default ")
		list = append(list, s)
	}
	return list, nil
}

var (
	unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	typeNames   = map[reflect.Kind][2]string{
		reflect.String: {"text", "string"}, reflect.Bool: {"true or false", "boolean"},
		reflect.Int: {"whole number", "integer"}, reflect.Int64: {"whole number", "integer"},
		reflect.Float64: {"number", "number"},
	}
)

// setting describes a type.
func (r *settingReader) setting(t reflect.Type) (*setting, error) {
	if t.Kind() == reflect.Pointer {
		return r.setting(t.Elem())
	}
	if reflect.PointerTo(t).Implements(unmarshaler) { // only durations
		return &setting{typ: "duration", schema: map[string]any{
			"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`,
		}}, nil
	}
	switch t.Kind() {
	case reflect.Slice:
		of, err := r.setting(t.Elem())
		if err != nil {
			return nil, err
		}
		return &setting{
			typ: "list of " + of.typ + "s", fields: of.fields,
			schema: map[string]any{"type": "array", "items": of.schema},
		}, nil
	case reflect.Map:
		of, err := r.setting(t.Elem())
		if err != nil {
			return nil, err
		}
		return &setting{
			typ: of.typ + "s by name", byname: true, fields: of.fields,
			schema: map[string]any{"type": "object", "additionalProperties": of.schema},
		}, nil
	case reflect.Struct:
		fields, err := r.fields(t)
		if err != nil {
			return nil, err
		}
		return &setting{typ: "object", fields: fields, schema: objectSchema(fields)}, nil
	}
	name, ok := typeNames[t.Kind()]
	if !ok {
		return nil, fmt.Errorf("no form in a configuration of %s", t)
	}
	return &setting{typ: name[0], schema: map[string]any{"type": name[1]}}, nil
}

func objectSchema(fields []*setting) map[string]any {
	properties := map[string]any{}
	for _, f := range fields {
		properties[f.key] = f.schema
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// configSchema returns the JSON Schema of the file.
func configSchema(list []*setting) ([]byte, error) {
	s := objectSchema(list)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "urn:agentctl:config"
	s["title"] = "Configuration file of an agentctl server"
	if properties, ok := s["properties"].(map[string]any); ok {
		properties["$schema"] = map[string]any{"type": "string", "description": "address of this schema, for editors"}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return b.Bytes(), err
}

// exampleFile has a value for every setting.
const exampleFile = "server.json"

const manualHead = `# Configuration of a server

` + "`agentctl serve --config FILE`" + ` reads a JSON file. Without the flag, and if it was started in the background, a server reads
` + "`~/.config/agentctl/server.json`" + ` (or that in the system's directory for configuration), if there is one. Every key is optional. An unknown key, a key that is there twice and an
invalid value are refused, with the line. [server.json](server.json) has an example of every key, and
[config.schema.json](config.schema.json) is the JSON Schema of the file: with ` + "`\"$schema\"`" + ` an editor checks it
while you write. Relative paths are relative to the directory of the file. A duration is written as ` + "`90s`, `5m` or `168h`" + `.

SIGHUP reads the file again, for agents, sessions, connections and notifications that begin later; the log names the changes
that need a restart. [Models](models.md) explains ` + "`agents`, `providers` and `mcp`" + `. The file needs no key of a provider: ` +
	"`key_env`" + `
names a variable, and ` + "`key_command`" + ` a program that prints the key, for instance from the keyring of the system.

This page is generated from the types: ` + "`go generate ./internal/dev/schema`" + `.
`

// configManual returns the manual of the file. example is the content of exampleFile.
func configManual(list []*setting, example []byte) ([]byte, error) {
	var values any
	if err := json.Unmarshal(example, &values); err != nil {
		return nil, fmt.Errorf("%s: %w", exampleFile, err)
	}
	var b bytes.Buffer
	b.WriteString(manualHead)
	writeSection(&b, "", list, values)
	return b.Bytes(), nil
}

// writeSection writes the fields of an object as a table, then those of the objects in it.
func writeSection(b *bytes.Buffer, path string, list []*setting, values any) {
	title := path
	if title == "" {
		title = "The file"
	}
	fmt.Fprintf(b, "\n## %s\n\n| key | type | default | meaning | example |\n|---|---|---|---|---|\n", title)
	for _, s := range list {
		about := strings.ReplaceAll(s.about, "|", "\\|")
		example, standard := "", s.standard
		switch {
		case standard == "" && s.typ == "true or false":
			standard = "false"
		case standard == "":
			standard = "none"
		}
		if s.fields == nil {
			example = "`" + compact(valueOf(values, s.key)) + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", s.key, s.typ, standard, about, example)
	}
	for _, s := range list {
		if s.fields == nil {
			continue
		}
		below, next := valueOf(values, s.key), strings.TrimPrefix(path+"."+s.key, ".")
		if s.byname {
			below, next = mergeAll(below), next+".NAME"
		}
		writeSection(b, next, s.fields, below)
	}
}

func valueOf(of any, key string) any {
	m, _ := of.(map[string]any)
	return m[key]
}

// mergeAll returns the fields that any of the objects by name has; the first by name wins.
func mergeAll(of any) any {
	m, _ := of.(map[string]any)
	all := map[string]any{}
	for _, name := range sortedNames(m) {
		object, _ := m[name].(map[string]any)
		for key, v := range object {
			before, both := all[key].(map[string]any)
			next, objects := v.(map[string]any)
			switch {
			case both && objects:
				for k, x := range next {
					if before[k] == nil {
						before[k] = x
					}
				}
			case all[key] == nil:
				all[key] = v
			}
		}
	}
	return all
}

func sortedNames(m map[string]any) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // it was decoded from JSON
		return ""
	}
	return strings.TrimSpace(b.String())
}

// generateConfig returns the schema and the manual. dir has the example.
func generateConfig(dir string) (schema, manual []byte, err error) {
	list, err := settings()
	if err != nil {
		return nil, nil, err
	}
	example, err := os.ReadFile(filepath.Join(dir, exampleFile))
	if err != nil {
		return nil, nil, err
	}
	if schema, err = configSchema(list); err != nil {
		return nil, nil, err
	}
	manual, err = configManual(list, example)
	return schema, manual, err
}

// writeConfig writes both to a directory.
func writeConfig(dir string) error {
	schema, manual, err := generateConfig(dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.schema.json"), schema, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.md"), manual, 0o644)
}

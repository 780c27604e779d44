package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// module begins the paths of the module's packages, and root is its directory, relative to this one:
// go generate and go test run here.
const (
	module = "agentctl/"
	root   = "../../../"
)

// comments holds, by path, what reflection cannot see of packages of this module. A package is read
// when one of its types is asked for.
type comments map[string]*source

// A source has the comments of a package's types and fields, and its constants.
type source struct {
	types     map[string]string   // type → comment
	fields    map[string]string   // Type.Field → comment
	constants map[string][]string // string type → its constants, in order
}

// ofType returns the comment of a type.
func (c comments) ofType(t reflect.Type) (string, error) {
	s, err := c.source(t)
	return s.types[t.Name()], err
}

// values returns the constants of a string type.
func (c comments) values(t reflect.Type) ([]string, error) {
	s, err := c.source(t)
	return s.constants[t.Name()], err
}

// describe gives the properties of a schema, and of the schemas in it, the comments of t's fields,
// as edit returns them. A reference is not followed.
func (c comments) describe(s *jsonschema.Schema, t reflect.Type, edit func(field, comment string) string) error {
	switch {
	case s == nil || s.Ref != "":
		return nil
	case t.Kind() == reflect.Pointer:
		return c.describe(s, t.Elem(), edit)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return c.describe(s.Items, t.Elem(), edit)
	case t.Kind() == reflect.Map:
		return c.describe(s.AdditionalProperties, t.Elem(), edit)
	case t.Kind() != reflect.Struct:
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		p := s.Properties[jsonName(f)]
		if f.Anonymous || p == nil {
			continue
		}
		declares := t // the struct that has the field: t or an embedded one
		for _, i := range f.Index[:len(f.Index)-1] {
			declares = declares.Field(i).Type
		}
		src, err := c.source(declares)
		if err != nil {
			return err
		}
		if comment := src.fields[declares.Name()+"."+f.Name]; comment != "" {
			p.Description = edit(f.Name, comment)
		}
		if err := c.describe(p, f.Type, edit); err != nil {
			return err
		}
	}
	return nil
}

// jsonName returns the name of a field in JSON, or "" if it has none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported() || name == "-":
		return ""
	case name == "":
		return f.Name
	}
	return name
}

// source returns the source of a type's package; it is empty for one of another module.
func (c comments) source(t reflect.Type) (*source, error) {
	if s := c[t.PkgPath()]; s != nil {
		return s, nil
	}
	s := &source{types: map[string]string{}, fields: map[string]string{}, constants: map[string][]string{}}
	c[t.PkgPath()] = s
	dir, ours := strings.CutPrefix(t.PkgPath(), module)
	if !ours {
		return s, nil
	}
	return s, s.read(root + dir)
}

// read reads the package in a directory.
func (s *source) read(dir string) error {
	names, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(
			token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution,
		)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				s.decl(g)
			}
		}
	}
	return nil
}

func (s *source) decl(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil {
				doc = g.Doc
			}
			s.types[spec.Name.Name] = sentence(doc)
			if fields, ok := spec.Type.(*ast.StructType); ok {
				s.structFields(spec.Name.Name, fields)
			}
		case *ast.ValueSpec:
			s.constant(g.Tok, spec)
		}
	}
}

func (s *source) structFields(typ string, of *ast.StructType) {
	for _, f := range of.Fields.List {
		doc := f.Doc
		if doc == nil {
			doc = f.Comment
		}
		for _, name := range f.Names {
			s.fields[typ+"."+name.Name] = sentence(doc)
		}
	}
}

// constant records the string constants that name their type.
func (s *source) constant(tok token.Token, spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if tok != token.CONST || !ok {
		return
	}
	for _, v := range spec.Values {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if value, err := strconv.Unquote(lit.Value); err == nil {
				s.constants[typ.Name] = append(s.constants[typ.Name], value)
			}
		}
	}
}

// sentence returns a comment on one line.
func sentence(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }

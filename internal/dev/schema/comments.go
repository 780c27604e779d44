package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// comments holds the parts of a package that reflection cannot see: comments of types and fields,
// and constants.
type comments struct {
	types  map[string]string   // type → comment
	fields map[string]string   // Type.Field → comment
	values map[string][]string // string type → its constants, in order
}

// readComments reads the packages in directories. Of two types with one name the first counts.
func readComments(dirs ...string) (*comments, error) {
	w := &comments{types: map[string]string{}, fields: map[string]string{}, values: map[string][]string{}}
	for _, dir := range dirs {
		if err := w.read(dir); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *comments) read(dir string) error {
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
				w.decl(g)
			}
		}
	}
	return nil
}

func (w *comments) decl(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil {
				doc = g.Doc
			}
			if _, seen := w.types[spec.Name.Name]; seen {
				continue
			}
			w.types[spec.Name.Name] = sentence(doc)
			if s, ok := spec.Type.(*ast.StructType); ok {
				w.structFields(spec.Name.Name, s)
			}
		case *ast.ValueSpec:
			w.constants(g.Tok, spec)
		}
	}
}

func (w *comments) structFields(typ string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		doc := f.Doc
		if doc == nil {
			doc = f.Comment
		}
		for _, name := range f.Names {
			w.fields[typ+"."+name.Name] = sentence(doc)
		}
	}
}

// constants records the string constants that name their type.
func (w *comments) constants(tok token.Token, spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if tok != token.CONST || !ok {
		return
	}
	for _, v := range spec.Values {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				w.values[typ.Name] = append(w.values[typ.Name], s)
			}
		}
	}
}

// sentence returns a comment on one line.
func sentence(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }

package layout

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const module = "agentctl"

// file holds the facts about one Go file that the rules check.
type file struct {
	name      string // slash-separated, relative to the module root
	test      bool
	doc       string // the package comment
	imports   []string
	forbidden []string // one word per goroutine start and clock read
	ast       *ast.File
}

// dir returns the package directory, "." for the module root.
func (f file) dir() string { return path.Dir(f.name) }

// readTree parses every Go file of the module in fsys into set. It skips the files that the go command skips
// (testdata, names that start with a dot or an underscore), node_modules and nested modules.
func readTree(fsys fs.FS, set *token.FileSet) ([]file, error) {
	var files []file
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && skipDir(fsys, name) {
				return fs.SkipDir
			}
			return nil
		}
		base := path.Base(name)
		if !strings.HasSuffix(base, ".go") || base[0] == '.' || base[0] == '_' {
			return nil
		}
		f, err := readFile(fsys, set, name)
		files = append(files, f)
		return err
	})
	return files, err
}

func skipDir(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	switch {
	case base[0] == '.', base[0] == '_', base == "testdata", base == "node_modules", base == "vendor":
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func readFile(fsys fs.FS, set *token.FileSet, name string) (file, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return file{}, err
	}
	parsed, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return file{}, fmt.Errorf("parse %s: %w", name, err)
	}
	f := file{
		name:      name,
		test:      strings.HasSuffix(name, "_test.go"),
		doc:       parsed.Doc.Text(),
		forbidden: goroutinesAndClocks(parsed),
		ast:       parsed,
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, fmt.Errorf("parse %s: import %s: %w", name, spec.Path.Value, err)
		}
		f.imports = append(f.imports, imported)
	}
	return f, nil
}

// clockFuncs are the functions of package time that read the clock or wait for it.
var clockFuncs = setOf("Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker")

func goroutinesAndClocks(parsed *ast.File) []string {
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, "go")
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && clockFuncs[n.Sel.Name] {
				found = append(found, "time."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

func setOf(words ...string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}

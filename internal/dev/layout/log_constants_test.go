package layout

import (
	"flag"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var updateConstants = flag.Bool("update-log-constants", false, "write internal/serverlog/constants.txt")

// Reports of bugs show the messages and codes of a log that are constants: internal/serverlog has
// them in a file.
func TestTheConstantsOfTheLogAreThoseOfTheSource(t *testing.T) {
	found := map[string]bool{}
	of := []string{"server/...", "protocol/...", "dialect", "internal/cli/...", "internal/localserver/...", "internal/agents"}
	for _, f := range moduleFiles(t) {
		if !f.test && matchAny(of, f.dir()) {
			ast.Inspect(f.ast, func(n ast.Node) bool { logConstant(n, found); return true })
		}
	}
	if !found["server started"] || !found["agent_failed"] {
		t.Fatalf("too few constants: %d", len(found))
	}
	want := strings.Join(slices.Sorted(maps.Keys(found)), "\n") + "\n"
	name := filepath.Join("..", "..", "serverlog", "constants.txt")
	if *updateConstants {
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s is stale: go test ./internal/dev/layout -run Constants -update-log-constants", name)
	}
}

// logConstant adds the message of a call that logs, and the values of constants of the type Code.
func logConstant(n ast.Node, found map[string]bool) {
	add := func(e ast.Expr) {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && text != "" && !strings.Contains(text, "\n") {
				found[text] = true
			}
		}
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return
		}
		switch at := slices.Index([]string{"Debug", "Info", "Warn", "Error"}, method.Sel.Name); {
		case at >= 0 && len(n.Args) > 0:
			add(n.Args[0])
		case method.Sel.Name == "Log" && len(n.Args) > 2: // ctx, level, message
			add(n.Args[2])
		}
	case *ast.ValueSpec:
		if of, ok := n.Type.(*ast.Ident); ok && of.Name == "Code" {
			for _, value := range n.Values {
				add(value)
			}
		}
	}
}

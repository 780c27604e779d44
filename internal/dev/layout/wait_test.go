package layout

import (
	"go/ast"
	"go/constant"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shortestWait is the shortest time in which a test may demand that something happens. A loaded
// machine can stop a test for seconds.
const shortestWait = 30 * time.Second

// waitFuncs are the functions that end a wait after a duration, with the index of that argument.
var waitFuncs = map[string]int{
	"time.Sleep": 0, "time.After": 0, "time.AfterFunc": 0, "time.NewTimer": 0,
	"context.WithTimeout": 1, "context.WithTimeoutCause": 1,
}

// deadlineFuncs are the methods that take the time at which a wait ends.
var deadlineFuncs = setOf("SetDeadline", "SetReadDeadline", "SetWriteDeadline", "WithDeadline", "WithDeadlineCause")

// TestTestsWaitForFacts finds each wait of a test that ends at a time of its clock, unless it is long, or
// inside of a synctest bubble, or listed in shortWaits with the reason why load cannot make it fail.
func TestTestsWaitForFacts(t *testing.T) {
	used := map[string]bool{}
	for _, w := range waits(t) {
		if shortWaits[w.function] != "" {
			used[w.function] = true
			continue
		}
		t.Errorf("%s: %s ends after %s: wait for a fact, or at least %s, or list %q in shortWaits",
			w.position, w.call, w.length, shortestWait, w.function)
	}
	for name := range shortWaits {
		if !used[name] {
			t.Errorf("shortWaits: %s has no short wait", name)
		}
	}
}

// A wait is a call in a test that waits for less than shortestWait, or for a time not known here.
type wait struct {
	function string // PACKAGE.FUNCTION, with the directory as the package
	position string
	call     string
	length   string
}

// waits returns the short waits of all tests of the module, in all builds.
func waits(t *testing.T) []wait {
	t.Helper()
	byDir := map[string][]*ast.File{}
	for _, f := range moduleFiles(t) {
		byDir[f.dir()] = append(byDir[f.dir()], f.ast)
	}
	var found []wait
	exported := map[string]time.Duration{} // by PACKAGE.NAME
	for dir, files := range byDir {
		for name, d := range durations(files, nil) {
			exported[path.Base(dir)+"."+name] = d
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		p := testPackage{dir: dir, known: durations(byDir[dir], exported)}
		for _, f := range byDir[dir] {
			if strings.HasSuffix(positions.Position(f.Package).Filename, "_test.go") {
				p.files = append(p.files, f)
			}
		}
		found = append(found, p.waits()...)
	}
	return found
}

// A testPackage is the tests of a directory.
type testPackage struct {
	dir   string
	files []*ast.File
	known map[string]time.Duration // constants by name, of other packages by PACKAGE.NAME
}

// waits returns the short waits outside of bubbles.
func (p *testPackage) waits() (found []wait) {
	bubbled := p.bubbled()
	p.inspect(func(function string, bubble bool, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || bubble || bubbled[function] {
			return
		}
		name := callName(call)
		var arg ast.Expr
		if i, ok := waitFuncs[name]; ok {
			arg = call.Args[i]
		} else if _, method, _ := strings.Cut(name, "."); deadlineFuncs[method] {
			arg = sinceNow(call.Args[len(call.Args)-1])
		}
		if arg == nil {
			return
		}
		w := wait{p.dir + "." + function, positions.Position(call.Pos()).String(), name, "a time not known here"}
		if length := durationOf(arg, p.known); length >= shortestWait {
			return
		} else if length != 0 {
			w.length = length.String()
		}
		found = append(found, w)
	})
	return found
}

// bubbled returns the functions that run in bubbles of synctest only: every use of them is in a bubble, or
// in such a function. Methods count by their names.
func (p *testPackage) bubbled() map[string]bool {
	names := map[string]bool{}
	p.inspect(func(function string, _ bool, _ ast.Node) { names[function] = true })
	users := map[string]map[string]bool{} // by used function: those outside of bubbles
	p.inspect(func(function string, bubble bool, n ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || !names[id.Name] {
			return
		}
		if users[id.Name] == nil {
			users[id.Name] = map[string]bool{}
		}
		if !bubble {
			users[id.Name][function] = true
		}
	})
	bubbled := map[string]bool{}
	for name := range users { // Functions without a use are tests, or called by the product.
		bubbled[name] = true
	}
	for changed := true; changed; {
		changed = false
		for name := range bubbled {
			for user := range users[name] {
				if !bubbled[user] {
					delete(bubbled, name)
					changed = true
				}
			}
		}
	}
	return bubbled
}

// inspect calls visit for each node in the functions of the tests, with the name of the function and
// whether the node is in a bubble.
func (p *testPackage) inspect(visit func(function string, bubble bool, n ast.Node)) {
	starters := map[string]bool{"Test": true} // functions that run an argument in a bubble
	for range 2 {                             // one that calls another starter
		p.functions(func(f *ast.FuncDecl) {
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && startsBubble(call, starters) && takesFunction(f) {
					starters[f.Name.Name] = true
				}
				return true
			})
		})
	}
	p.functions(func(f *ast.FuncDecl) {
		var walk func(n ast.Node, bubble bool)
		walk = func(n ast.Node, bubble bool) {
			ast.Inspect(n, func(n ast.Node) bool {
				if n == nil {
					return false
				}
				visit(f.Name.Name, bubble, n)
				call, ok := n.(*ast.CallExpr)
				if !ok || bubble || !startsBubble(call, starters) {
					return true
				}
				walk(call.Fun, false)
				for _, arg := range call.Args {
					walk(arg, true)
				}
				return false
			})
		}
		walk(f.Body, false)
	})
}

// functions calls visit for each function with a body.
func (p *testPackage) functions(visit func(*ast.FuncDecl)) {
	for _, f := range p.files {
		for _, decl := range f.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Body != nil {
				visit(function)
			}
		}
	}
}

// startsBubble reports whether a call is to synctest.Test, or to a function that hands its argument on.
func startsBubble(call *ast.CallExpr, starters map[string]bool) bool {
	if callName(call) == "synctest.Test" {
		return true
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name != "Test" && starters[f.Name]
	case *ast.SelectorExpr:
		return f.Sel.Name != "Test" && starters[f.Sel.Name]
	}
	return false
}

// takesFunction reports whether a function has a parameter that is a function, or takes any type.
func takesFunction(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		_, ok := p.Type.(*ast.FuncType)
		return ok
	})
}

// callName returns the name of a called function or method, with the text before the dot.
func callName(call *ast.CallExpr) string {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := s.X.(*ast.Ident)
	if !ok {
		return "_." + s.Sel.Name
	}
	return x.Name + "." + s.Sel.Name
}

// sinceNow returns d of time.Now().Add(d), or the expression itself.
func sinceNow(e ast.Expr) ast.Expr {
	if call, ok := e.(*ast.CallExpr); ok && callName(call) == "_.Add" && len(call.Args) == 1 {
		return call.Args[0]
	}
	return e
}

// durations returns the constants and variables of a package whose values are durations, added to those
// of other packages.
func durations(files []*ast.File, exported map[string]time.Duration) map[string]time.Duration {
	known := map[string]time.Duration{}
	maps.Copy(known, exported)
	for range 2 { // a constant may depend on a later one
		for _, f := range files {
			for _, decl := range f.Decls {
				gen, ok := decl.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range gen.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
						for i, name := range v.Names {
							known[name.Name] = durationOf(v.Values[i], known)
						}
					}
				}
			}
		}
	}
	return known
}

// units are the constants of package time.
var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// durationOf returns the value of an expression, or 0 if it is not known here.
func durationOf(e ast.Expr, known map[string]time.Duration) time.Duration {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return durationOf(e.X, known)
	case *ast.BasicLit:
		n, _ := constant.Int64Val(constant.ToInt(constant.MakeFromLiteral(e.Value, e.Kind, 0)))
		return time.Duration(n)
	case *ast.Ident:
		return known[e.Name]
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "time" {
			return units[e.Sel.Name]
		}
		return known[callName(&ast.CallExpr{Fun: e})]
	case *ast.BinaryExpr:
		x, y := durationOf(e.X, known), durationOf(e.Y, known)
		switch {
		case x == 0 || y == 0:
			return 0
		case e.Op == token.MUL:
			return x * y
		case e.Op == token.ADD:
			return x + y
		}
	}
	return 0
}

// shortOption is a duration among the words of a line of a script.
var shortOption = regexp.MustCompile(`--timeout[ =](\w+)|\bsleep ([0-9.]+)`)

// TestScriptsWaitForFacts finds each line of a script for the command line that demands a result within a
// short time, or sleeps. A line that exits 3 is one in which the time shall run out.
func TestScriptsWaitForFacts(t *testing.T) {
	scripts, err := filepath.Glob("../../../cmd/agentctl/testdata/script/*.txtar")
	if err != nil || len(scripts) < 50 {
		t.Fatalf("found %d scripts: %v", len(scripts), err)
	}
	used := map[string]bool{}
	for _, name := range scripts {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			m := shortOption.FindStringSubmatch(line)
			if m == nil || strings.HasPrefix(line, "#") {
				continue
			}
			limit, err := time.ParseDuration(m[1] + m[2])
			if m[2] != "" {
				seconds, _ := strconv.ParseFloat(m[2], 64)
				limit, err = time.Duration(seconds*float64(time.Second)), nil
			}
			if err != nil || limit >= shortestWait {
				continue
			}
			if _, listed := shortScriptWaits[line]; listed {
				used[line] = true
				continue
			}
			t.Errorf("%s:%d: %s: list the line in shortScriptWaits, or wait for at least %s", filepath.Base(name), i+1, line, shortestWait)
		}
	}
	for line := range shortScriptWaits {
		if !used[line] {
			t.Errorf("shortScriptWaits: no script has the line %s", line)
		}
	}
}

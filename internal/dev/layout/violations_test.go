package layout

import (
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
)

func TestTreeKeepsTheLayout(t *testing.T) {
	files := moduleFiles(t)
	for _, v := range violations(files) {
		t.Error(v)
	}
	for _, r := range packageRules {
		if !slices.ContainsFunc(files, func(f file) bool { return f.dir() == r.pkg }) {
			t.Errorf("packageRules: no package %s", r.pkg)
		}
	}
}

// positions has the positions of moduleFiles.
var positions = token.NewFileSet()

// readModule parses the Go files of the module, once for all tests, which only read them.
var readModule = sync.OnceValues(func() ([]file, error) {
	return readTree(os.DirFS(filepath.Join("..", "..", "..")), positions)
})

func moduleFiles(t *testing.T) []file {
	t.Helper()
	files, err := readModule()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 1000 {
		t.Fatalf("found %d Go files only", len(files))
	}
	return files
}

const documented = "// Package p owns something.\npackage p\n"

func TestEveryViolationIsCaught(t *testing.T) {
	tests := []struct {
		name, path, src string
		want            string // "" for no violation
	}{
		{
			"protocol imports the module", "protocol/a.go", imports("agentctl/server"),
			"protocol/a.go: must not import server",
		},
		{
			"protocol imports third-party code", "protocol/a.go", imports("github.com/google/uuid"),
			"protocol/a.go: imports github.com/google/uuid: standard library only",
		},
		{
			"protocol opens files", "protocol/a.go", imports("os"),
			"protocol/a.go: imports os: the protocol does no I/O",
		},
		{
			"protocol opens sockets", "protocol/a.go", imports("net/http"),
			"protocol/a.go: imports net/http: the protocol does no I/O",
		},
		{
			"protocol reads the clock", "protocol/a.go", "package p\nimport \"time\"\nvar t = time.Now()\n",
			"protocol/a.go: uses time.Now: no goroutine, no clock",
		},
		{
			"codec imports another codec", "protocol/sandcastle/a.go", imports("agentctl/protocol/myagent"),
			"protocol/sandcastle/a.go: must not import protocol/myagent",
		},
		{
			"codec imports the server", "protocol/sandcastle/a.go", imports("agentctl/server"),
			"protocol/sandcastle/a.go: must not import server",
		},
		{
			"codec starts a goroutine", "protocol/sandcastle/a.go", "package p\nfunc f() { go f() }\n",
			"protocol/sandcastle/a.go: uses go: no goroutine, no clock",
		},
		{
			"client imports the server", "wsclient/a.go", imports("agentctl/server"),
			"wsclient/a.go: must not import server",
		},
		{
			"screen imports a package of the server", "tui/a.go", imports("agentctl/server/session"),
			"tui/a.go: must not import server/session",
		},
		{
			"screen imports the client", "tui/a.go", imports("agentctl/wsclient"),
			"tui/a.go: must not import wsclient",
		},
		{
			"dashboard imports another screen", "tui/dashboard/a.go", imports("agentctl/tui/sessionview"),
			"tui/dashboard/a.go: must not import tui/sessionview",
		},
		{
			"part of a screen imports its screen", "tui/approval/a.go", imports("agentctl/tui/sessionview"),
			"tui/approval/a.go: must not import tui/sessionview",
		},
		{
			"transcript imports Bubble Tea", "tui/transcript/a.go", imports("charm.land/bubbletea/v2"),
			"tui/transcript/a.go: imports charm.land/bubbletea/v2: the transcript does not depend on Bubble Tea",
		},
		{
			"highlighter imports a terminal library", "tui/highlight/a.go", imports("github.com/charmbracelet/x/ansi"),
			"tui/highlight/a.go: imports github.com/charmbracelet/x/ansi: the highlighter does not depend on a terminal",
		},
		{
			"highlighter imports the transcript", "tui/highlight/a.go", imports("agentctl/tui/transcript"),
			"tui/highlight/a.go: must not import tui/transcript",
		},
		{
			"diff imports colours", "tui/diff/a.go", imports("charm.land/lipgloss/v2"),
			"tui/diff/a.go: imports charm.land/lipgloss/v2: diffs do not depend on a terminal",
		},
		{
			"transcript imports the screen", "tui/transcript/a.go", imports("agentctl/tui"),
			"tui/transcript/a.go: must not import tui",
		},
		{
			"server imports the client", "server/a.go", imports("agentctl/wsclient"),
			"server/a.go: must not import wsclient",
		},
		{
			"agent imports the screen", "server/agent/acp/a.go", imports("agentctl/tui/transcript"),
			"server/agent/acp/a.go: must not import tui/transcript",
		},
		{
			"session imports the store", "server/session/a.go", imports("agentctl/server/sqlite"),
			"server/session/a.go: must not import server/sqlite",
		},
		{
			"session opens sockets", "server/session/a.go", imports("net"),
			"server/session/a.go: imports net: the session does not depend on the network",
		},
		{
			"history opens sockets", "server/history/a.go", imports("net/http"),
			"server/history/a.go: imports net/http: reading the past does not depend on the network",
		},
		{
			"local server imports the client", "internal/localserver/a.go", imports("agentctl/wsclient"),
			"internal/localserver/a.go: must not import wsclient",
		},
		{
			"configuration imports the server", "internal/config/a.go", imports("agentctl/server"),
			"internal/config/a.go: must not import server",
		},
		{
			"export imports the screen", "internal/export/a.go", imports("agentctl/tui"),
			"internal/export/a.go: must not import tui",
		},
		{
			"server imports a package of the command line", "server/a.go", imports("agentctl/internal/localserver"),
			"server/a.go: must not import internal/localserver",
		},
		{
			"server imports a test package", "server/a.go", imports("agentctl/internal/dev/fakemodel"),
			"server/a.go: must not import internal/dev/fakemodel",
		},
		{
			"command imports a test package", "cmd/agentctl/a.go", imports("agentctl/internal/dev/fakemodel"),
			"cmd/agentctl/a.go: must not import internal/dev/fakemodel",
		},
		{
			"a package imports a command", "server/a.go", imports("agentctl/cmd/agentctl"),
			"server/a.go: must not import cmd/agentctl",
		},
		{
			"package without a rule", "shared/a.go", imports("fmt"),
			"shared: not in packageRules",
		},
		{
			"package below one with a rule", "server/web/admin/a.go", imports("fmt"),
			"server/web/admin: not in packageRules",
		},
		{
			"old websocket path in a test", "server/a_test.go", imports("nhooyr.io/websocket"),
			"server/a_test.go: imports nhooyr.io/websocket: abandoned import path",
		},
		{
			"old Bubble Tea path", "tui/a.go", imports("github.com/charmbracelet/bubbletea"),
			"tui/a.go: imports github.com/charmbracelet/bubbletea: abandoned import path",
		},
		{"command imports the command line", "cmd/agentctl/a.go", imports("agentctl/internal/cli"), ""},
		{"test package imports everything", "internal/dev/interop/a.go", imports("agentctl/server", "agentctl/tui"), ""},
		{"test of the client imports the server", "wsclient/a_test.go", imports("agentctl/server"), ""},
		{"test of a codec reads files", "protocol/sandcastle/a_test.go", imports("os", "pgregory.net/rapid"), ""},
		{"server imports dialects", "server/a.go", imports("agentctl/dialect", "net/http"), ""},
		{"broken code under testdata", "server/testdata/a.go", "no Go", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := path.Dir(tt.path)
			tree := fstest.MapFS{tt.path: {Data: []byte(tt.src)}, dir + "/doc.go": {Data: []byte(documented)}}
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			check(t, tree, want)
		})
	}
}

func TestPackageWithoutDocIsCaught(t *testing.T) {
	want := []string{"server: no doc.go with a package comment"}
	t.Run("no doc.go", func(t *testing.T) {
		check(t, fstest.MapFS{"server/a.go": {Data: []byte(documented)}}, want)
	})
	t.Run("doc.go without a comment", func(t *testing.T) {
		check(t, fstest.MapFS{"server/doc.go": {Data: []byte("package p\n")}}, want)
	})
}

func TestNestedModuleIsItsOwn(t *testing.T) {
	tree := fstest.MapFS{
		"server/doc.go":       {Data: []byte(documented)},
		"other/go.mod":        {Data: []byte("module other\n")},
		"other/a.go":          {Data: []byte(imports("nhooyr.io/websocket"))},
		"node_modules/x/a.go": {Data: []byte("no Go")},
	}
	check(t, tree, nil)
}

func check(t *testing.T, tree fstest.MapFS, want []string) {
	t.Helper()
	files, err := readTree(tree, token.NewFileSet())
	if err != nil {
		t.Fatal(err)
	}
	if got := violations(files); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// violations returns one sentence for each rule that the files break.
func violations(files []file) []string {
	var found []string
	for _, f := range files {
		found = append(found, importViolations(f)...)
		found = append(found, noIOViolations(f)...)
	}
	return append(found, packageViolations(files)...)
}

func imports(paths ...string) string {
	src := "package p\n"
	for _, p := range paths {
		src += "import _ \"" + p + "\"\n"
	}
	return src
}

// TestScreenTestsTakeTheFlagUpdate requires that go test ./tui/... -update runs in every package.
func TestScreenTestsTakeTheFlagUpdate(t *testing.T) {
	takes := map[string]bool{}
	for _, f := range moduleFiles(t) {
		if f.test && match("tui/...", f.dir()) {
			takes[f.dir()] = takes[f.dir()] || slices.Contains(f.imports, module+"/internal/dev/golden") ||
				slices.Contains(f.imports, module+"/internal/dev/tuitest")
		}
	}
	for dir, ok := range takes {
		if !ok {
			t.Errorf("%s: no test imports internal/dev/golden, for its flag -update", dir)
		}
	}
}

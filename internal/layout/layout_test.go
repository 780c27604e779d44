package layout

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTreeKeepsTheLayout(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("the root of the module: %v", err)
	}
	files, err := readTree(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no Go file")
	}
	for _, breach := range breaches(files) {
		t.Error(breach)
	}
}

const introduced = "// Package p owns something.\npackage p\n"

func TestEveryBreachIsCaught(t *testing.T) {
	long := strings.Repeat("//\n", longest) + "\npackage p\n"
	tests := []struct {
		name, path, src string
		want            []string
	}{
		{"protocol imports ours", "protocol/a.go", imports("agentctl/server"), []string{"protocol/a.go: must not import server"}},
		{"protocol imports third-party code", "protocol/a.go", imports("github.com/google/uuid"), []string{"protocol/a.go: imports github.com/google/uuid: standard library only"}},
		{"protocol opens files", "protocol/a.go", imports("os"), []string{"protocol/a.go: imports os: the protocol does no I/O"}},
		{"protocol opens sockets", "protocol/a.go", imports("net/http"), []string{"protocol/a.go: imports net/http: the protocol does no I/O"}},
		{"protocol reads the clock", "protocol/a.go", "package p\nimport \"time\"\nvar t = time.Now()\n", []string{"protocol/a.go: uses time.Now: no goroutine, no clock"}},
		{"codec imports another codec", "protocol/sandcastle/a.go", imports("agentctl/protocol/myagent"), []string{"protocol/sandcastle/a.go: must not import protocol/myagent"}},
		{"codec imports the server", "protocol/sandcastle/a.go", imports("agentctl/server"), []string{"protocol/sandcastle/a.go: must not import server"}},
		{"codec starts a goroutine", "protocol/sandcastle/a.go", "package p\nfunc f() { go f() }\n", []string{"protocol/sandcastle/a.go: uses go: no goroutine, no clock"}},
		{"client imports the server", "wsclient/a.go", imports("agentctl/server"), []string{"wsclient/a.go: must not import server"}},
		{"screen imports a part of the server", "tui/a.go", imports("agentctl/server/session"), []string{"tui/a.go: must not import server/session"}},
		{"screen imports the client", "tui/a.go", imports("agentctl/wsclient"), []string{"tui/a.go: must not import wsclient"}},
		{"transcript imports Bubble Tea", "tui/transcript/a.go", imports("charm.land/bubbletea/v2"), []string{"tui/transcript/a.go: imports charm.land/bubbletea/v2: the transcript knows no Bubble Tea"}},
		{"source knows a terminal", "tui/highlight/a.go", imports("github.com/charmbracelet/x/ansi"), []string{"tui/highlight/a.go: imports github.com/charmbracelet/x/ansi: source is text, whoever shows it"}},
		{"source knows the transcript", "tui/highlight/a.go", imports("agentctl/tui/transcript"), []string{"tui/highlight/a.go: must not import tui/transcript"}},
		{"changes know colours", "tui/diff/a.go", imports("charm.land/lipgloss/v2"), []string{"tui/diff/a.go: imports charm.land/lipgloss/v2: changes are lines, whoever shows them"}},
		{"transcript imports the screen", "tui/transcript/a.go", imports("agentctl/tui"), []string{"tui/transcript/a.go: must not import tui"}},
		{"server imports the client", "server/a.go", imports("agentctl/wsclient"), []string{"server/a.go: must not import wsclient"}},
		{"part of the server imports the screen", "server/agent/acp/a.go", imports("agentctl/tui/transcript"), []string{"server/agent/acp/a.go: must not import tui/transcript"}},
		{"session imports the store", "server/session/a.go", imports("agentctl/server/sqlite"), []string{"server/session/a.go: must not import server/sqlite"}},
		{"session opens sockets", "server/session/a.go", imports("net"), []string{"server/session/a.go: imports net: the session knows no network"}},
		{"server imports a rig", "server/a.go", imports("agentctl/internal/fakemodel"), []string{"server/a.go: must not import internal/fakemodel"}},
		{"local server imports the client", "internal/localserver/a.go", imports("agentctl/wsclient"), []string{"internal/localserver/a.go: must not import wsclient"}},
		{"configuration imports the server", "internal/config/a.go", imports("agentctl/server"), []string{"internal/config/a.go: must not import server"}},
		{"export imports the screen", "internal/export/a.go", imports("agentctl/tui"), []string{"internal/export/a.go: must not import tui"}},
		{"server imports the command line", "server/a.go", imports("agentctl/internal/localserver"), []string{"server/a.go: must not import internal/localserver"}},
		{"somebody imports a command", "server/a.go", imports("agentctl/cmd/agentctl"), []string{"server/a.go: must not import cmd/agentctl"}},
		{"package off the map", "shared/a.go", imports("fmt"), []string{"shared: no place on the map"}},
		{"old websocket path in a test", "server/a_test.go", imports("nhooyr.io/websocket"), []string{"server/a_test.go: imports nhooyr.io/websocket: an import path that was given up"}},
		{"old Bubble Tea path", "tui/a.go", imports("github.com/charmbracelet/bubbletea"), []string{"tui/a.go: imports github.com/charmbracelet/bubbletea: an import path that was given up"}},
		{"long file", "server/a.go", long, []string{"server/a.go: 402 lines, more than 400"}},

		{"command imports everything", "cmd/agentctl/a.go", imports("agentctl/server", "agentctl/tui", "agentctl/wsclient"), nil},
		{"rig imports everything", "internal/interop/a.go", imports("agentctl/server", "agentctl/tui"), nil},
		{"test of the client brings a server", "wsclient/a_test.go", imports("agentctl/server"), nil},
		{"test of a codec reads files", "protocol/sandcastle/a_test.go", imports("os", "pgregory.net/rapid"), nil},
		{"server speaks a dialect", "server/a.go", imports("agentctl/dialect", "net/http"), nil},
		{"long test", "server/a_test.go", long, nil},
		{"long generated file", "server/a.go", "// Code generated by hand. DO NOT EDIT.\n\n" + long, nil},
		{"broken code under testdata", "server/testdata/a.go", "no Go", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := path.Dir(tt.path)
			tree := fstest.MapFS{tt.path: {Data: []byte(tt.src)}, dir + "/doc.go": {Data: []byte(introduced)}}
			check(t, tree, tt.want)
		})
	}
}

func TestPackageWithoutDocIsCaught(t *testing.T) {
	want := []string{"server: no doc.go that says what it owns"}
	t.Run("no doc.go", func(t *testing.T) {
		check(t, fstest.MapFS{"server/a.go": {Data: []byte(introduced)}}, want)
	})
	t.Run("doc.go says nothing", func(t *testing.T) {
		check(t, fstest.MapFS{"server/doc.go": {Data: []byte("package p\n")}}, want)
	})
}

func TestNestedModuleIsItsOwn(t *testing.T) {
	tree := fstest.MapFS{
		"server/doc.go":       {Data: []byte(introduced)},
		"other/go.mod":        {Data: []byte("module other\n")},
		"other/a.go":          {Data: []byte(imports("nhooyr.io/websocket"))},
		"node_modules/x/a.go": {Data: []byte("no Go")},
	}
	check(t, tree, nil)
}

func check(t *testing.T, tree fstest.MapFS, want []string) {
	t.Helper()
	files, err := readTree(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got := breaches(files); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func imports(paths ...string) string {
	src := "package p\n"
	for _, p := range paths {
		src += "import _ \"" + p + "\"\n"
	}
	return src
}

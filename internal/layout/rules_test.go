package layout

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

const longest = 400 // lines of a file that people wrote and that is no test

// place is one package of the map, or with a trailing /... all below it, and what it may import of ours, written alike.
type place struct {
	pkg  string
	ours []string
	pure bool // no third-party code, no I/O, no goroutine, no clock: bytes and time in, bytes out
}

// places is the map: three floors, arrows only down. The first match counts. Only cmd and the test packages of internal
// may import everything; the packages of internal that are part of the product are listed one by one. A package that is
// not listed has no place yet.
var places = []place{
	{pkg: "cmd/...", ours: []string{"..."}},
	{pkg: "internal/panics"},
	{pkg: "internal/exit", ours: []string{"protocol", "dialect", "wsclient", "internal/panics"}},
	{pkg: "internal/output", ours: []string{"protocol", "tui/transcript", "internal/exit", "internal/panics"}},
	{pkg: "internal/export", ours: []string{"protocol", "tui/transcript", "internal/output"}},
	{pkg: "internal/agents", ours: []string{"protocol", "server/session", "server/agent/..."}},
	{pkg: "internal/config", ours: []string{"protocol", "protocol/codec", "dialect", "tui", "tui/keymap", "internal/agents", "internal/exit"}},
	{
		pkg:  "internal/localserver",
		ours: []string{"server", "server/login", "server/session", "server/sqlite", "server/agent/process", "internal/exit"},
	},
	{pkg: "internal/credentials", ours: []string{"protocol", "server/login", "internal/exit", "internal/localserver"}},
	{pkg: "internal/...", ours: []string{"..."}},
	{pkg: "protocol", pure: true},
	{pkg: "protocol/...", ours: []string{"protocol", "protocol/codec"}, pure: true},
	{pkg: "dialect", ours: []string{"protocol/...", "internal/panics"}},
	{pkg: "wsclient/...", ours: []string{"protocol", "protocol/codec", "dialect", "internal/panics", "wsclient/..."}},
	{pkg: "tui/highlight"},
	{pkg: "tui/keymap"},
	{pkg: "tui/remote", ours: []string{"protocol"}},
	{pkg: "tui/task", ours: []string{"internal/panics"}},
	{pkg: "tui/transcript", ours: []string{"protocol", "tui/highlight"}},
	{pkg: "tui/diff", ours: []string{"tui/highlight", "tui/transcript"}},
	{pkg: "tui/...", ours: []string{"protocol", "internal/panics", "tui/..."}},
	{pkg: "server/session", ours: []string{"protocol"}},
	{pkg: "server/history", ours: []string{"protocol", "server/session"}},
	{pkg: "server/sqlite", ours: []string{"protocol", "server/session"}},
	{pkg: "server/agent/...", ours: []string{"protocol", "server/session", "server/agent/..."}},
	{pkg: "server/...", ours: []string{"protocol", "protocol/codec", "dialect", "server/..."}},
}

// deny keeps imports out of a package and, with a trailing /..., of all below it. Tests are held to it only where tests is
// set.
type deny struct {
	pkg     string
	imports []string
	tests   bool
	why     string
}

var denied = []deny{
	{
		pkg: "...", tests: true, why: "an import path that was given up",
		imports: []string{
			"nhooyr.io/websocket/...", "github.com/charmbracelet/bubbletea/...", "github.com/charmbracelet/lipgloss/...",
			"github.com/charmbracelet/bubbles/...", "github.com/charmbracelet/glamour/...", "github.com/pkg/errors",
			"io/ioutil",
		},
	},
	{
		pkg: "protocol/...", why: "the protocol does no I/O",
		imports: []string{
			"net", "net/http/...", "net/rpc/...", "net/smtp", "net/mail", "net/textproto", "os/...", "io/fs", "syscall", "database/...", "log/...", "path/filepath", "embed", "plugin",
			"testing/...", "html/template", "text/template", "runtime/...",
		},
	},
	{
		pkg: "tui/transcript", why: "the transcript knows no Bubble Tea",
		imports: []string{"charm.land/bubbletea/...", "charm.land/bubbles/..."},
	},
	{
		pkg: "tui/highlight", why: "source is text, whoever shows it",
		imports: []string{"charm.land/...", "github.com/charmbracelet/..."},
	},
	{
		pkg: "tui/diff", why: "changes are lines, whoever shows them",
		imports: []string{"charm.land/..."},
	},
	{
		pkg: "server/session", why: "the session knows no network",
		imports: []string{"net/...", "github.com/coder/websocket/..."},
	},
	{
		pkg: "server/history", why: "reading the past needs no network",
		imports: []string{"net/...", "github.com/coder/websocket/..."},
	},
	{
		pkg: "tui/...", why: "the screen goes through its session only",
		imports: []string{"net/http", "github.com/coder/websocket/...", "database/..."},
	},
}

// breaches returns what the files break, one sentence each, in order.
func breaches(files []file) []string {
	var found []string
	for _, f := range files {
		found = append(found, importBreaches(f)...)
		found = append(found, purityBreaches(f)...)
		if f.lines > longest && !f.test && !f.generated {
			found = append(found, fmt.Sprintf("%s: %d lines, more than %d", f.name, f.lines, longest))
		}
	}
	return append(found, packageBreaches(files)...)
}

func importBreaches(f file) []string {
	var found []string
	home, known := placeOf(f.dir())
	for _, imported := range f.imports {
		ours, local := strings.CutPrefix(imported, module+"/")
		switch {
		case f.test || !known:
		case local && !matchAny(home.ours, ours):
			found = append(found, fmt.Sprintf("%s: must not import %s", f.name, ours))
		case !local && home.pure && foreign(imported):
			found = append(found, fmt.Sprintf("%s: imports %s: standard library only", f.name, imported))
		}
		for _, d := range denied {
			if match(d.pkg, f.dir()) && matchAny(d.imports, imported) && (d.tests || !f.test) {
				found = append(found, fmt.Sprintf("%s: imports %s: %s", f.name, imported, d.why))
			}
		}
	}
	return found
}

func purityBreaches(f file) []string {
	home, _ := placeOf(f.dir())
	if !home.pure || f.test {
		return nil
	}
	var found []string
	for _, word := range f.impure {
		found = append(found, fmt.Sprintf("%s: uses %s: no goroutine, no clock", f.name, word))
	}
	return found
}

// packageBreaches asks of every package a place on the map and a doc.go that introduces it.
func packageBreaches(files []file) []string {
	docs := map[string]string{}
	for _, f := range files {
		docs[f.dir()] += ""
		if path.Base(f.name) == "doc.go" {
			docs[f.dir()] = strings.TrimSpace(f.doc)
		}
	}
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(docs)) {
		if _, known := placeOf(dir); !known {
			found = append(found, dir+": no place on the map")
		}
		if docs[dir] == "" {
			found = append(found, dir+": no doc.go that says what it owns")
		}
	}
	return found
}

func placeOf(dir string) (place, bool) {
	for _, p := range places {
		if match(p.pkg, dir) {
			return p, true
		}
	}
	return place{}, false
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, pkg) })
}

// match reports whether pkg is the pattern or, where the pattern ends in /..., lies below it. "..." matches everything.
func match(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	above, deep := strings.CutSuffix(pattern, "/...")
	return pkg == above || deep && strings.HasPrefix(pkg, above+"/")
}

// foreign reports whether an import path lies outside the standard library: only those have a dot in the first element.
func foreign(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}

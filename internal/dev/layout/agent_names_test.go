package layout

import (
	"cmp"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"agentctl/server/agent/acp/catalog"
)

const (
	acpDir     = "server/agent/acp"
	catalogDir = "server/agent/acp/catalog"
)

// agentNames returns the names of agents that the product code of server/agent/acp uses. What
// differs between agents is in the catalog alone. Comments may give an agent as an example.
func agentNames(fsys fs.FS) (found []string, err error) {
	var names []string
	for _, p := range catalog.Presets() {
		if p.Name != "cursor" { // also ACP's word for the position in a list
			names = append(names, p.Name)
		}
	}
	err = fs.WalkDir(fsys, acpDir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == catalogDir {
			return cmp.Or(err, fs.SkipDir)
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		var s scanner.Scanner
		set := token.NewFileSet()
		s.Init(set.AddFile(name, set.Base(), len(src)), src, nil, 0)
		for pos, tok, text := s.Scan(); tok != token.EOF; pos, tok, text = s.Scan() {
			named := func(agent string) bool { return hasWord(text, agent) }
			if (tok == token.IDENT || tok == token.STRING) && slices.ContainsFunc(names, named) {
				found = append(found, set.Position(pos).String()+": "+text)
			}
		}
		return err
	})
	return found, err
}

// hasWord reports whether a word of a text begins with the name of an agent. Capitals begin words.
func hasWord(text, name string) bool {
	for i := range len(text) - len(name) + 1 {
		begins := i == 0 || !unicode.IsLetter(rune(text[i-1])) || unicode.IsUpper(rune(text[i]))
		if begins && strings.EqualFold(text[i:i+len(name)], name) {
			return true
		}
	}
	return false
}

func TestAgentsAreNamedInTheCatalogAlone(t *testing.T) {
	found, err := agentNames(os.DirFS(filepath.Join("..", "..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range found {
		t.Errorf("%s: a field of catalog.Agent answers what differs between agents", use)
	}
}

func TestANameOfAnAgentIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		path, src string
		found     bool
	}{
		"a comparison":     {"server/agent/acp/a.go", "package acp\nvar b = name == \"Codex\"\n", true},
		"an identifier":    {"server/agent/acp/rpc/a.go", "package rpc\nvar isClaude bool\n", true},
		"a part of a word": {"server/agent/acp/a.go", "package acp\nconst actionDecline = \"decline\"\n", false},
		"a comment":        {"server/agent/acp/a.go", "package acp\n\n// As Claude does.\nvar b bool\n", false},
		"a test":           {"server/agent/acp/a_test.go", "package acp\nvar b = \"qwen\"\n", false},
		"in the catalog":   {"server/agent/acp/catalog/a.go", "package catalog\nvar b = \"qwen\"\n", false},
		"elsewhere":        {"server/policy/a.go", "package policy\nvar b = \".qwen\"\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := agentNames(fstest.MapFS{acpDir: {Mode: fs.ModeDir}, test.path: {Data: []byte(test.src)}})
			if err != nil || (len(found) > 0) != test.found {
				t.Errorf("found %q, %v", found, err)
			}
		})
	}
}

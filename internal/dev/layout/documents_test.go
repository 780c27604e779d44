package layout

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testName is a test in a document: its package, which may be missing after another of the same
// package, and its function.
var (
	testName = regexp.MustCompile("`(?:([a-z0-9/]+)\\.)?((?:Test|Fuzz)[A-Z]\\w+)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

func TestDocumentsNameTestsThatExist(t *testing.T) {
	root := os.DirFS("../../..")
	have := map[string]bool{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		src, err := fs.ReadFile(root, name)
		for _, m := range testFunc.FindAllSubmatch(src, -1) {
			have[path.Dir(name)+"."+string(m[1])] = true
			have["."+string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]int{
		"docs/requirements.md": 200, "docs/security.md": 50, "CONTRIBUTING.md": 10, "README.md": 10,
	}
	for name, atLeast := range documents {
		doc, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		found := testName.FindAllStringSubmatch(string(doc), -1)
		if len(found) < atLeast {
			t.Fatalf("%s names only %d tests", name, len(found))
		}
		for _, m := range found {
			if !have[m[1]+"."+m[2]] {
				t.Errorf("%s: %s.%s does not exist", name, m[1], m[2])
			}
		}
	}
}

// mapRow is a row of the map in ARCHITECTURE.md: a directory with a trailing slash, then text.
var mapRow = regexp.MustCompile(`(?m)^([a-z0-9]+(?:/[a-z0-9]+)*)/ `)

func TestMapListsThePackagesOfTheRules(t *testing.T) {
	doc, err := os.ReadFile("../../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(doc), "\n## Map\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("ARCHITECTURE.md: no section Map")
	}
	var rows []string
	for _, m := range mapRow.FindAllStringSubmatch(section, -1) {
		if slices.Contains(rows, m[1]) {
			t.Errorf("ARCHITECTURE.md: %s is twice on the map", m[1])
		}
		rows = append(rows, m[1])
		if _, known := ruleOf(m[1]); !known {
			t.Errorf("ARCHITECTURE.md: the map has %s, packageRules has not", m[1])
		}
	}
	for _, r := range packageRules {
		if !slices.Contains(rows, r.pkg) {
			t.Errorf("ARCHITECTURE.md: the map lacks %s", r.pkg)
		}
	}
}

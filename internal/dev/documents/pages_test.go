package documents

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root returns the directory with README.md and docs, in the archive if there is one.
func root() string {
	if dir := os.Getenv("AGENTCTL_TEST_ARCHIVE"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..")
}

// pages returns the names of all documents.
func pages(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		more, err := fs.Glob(os.DirFS(root()), pattern)
		must(t, err)
		names = append(names, more...)
	}
	return names
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), name))
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// link is a link of a document to a file or a heading of the documents.
var link = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)

// TestEveryLinkWorks also reads the documents of the archive: an archive has the files that its
// documents link to.
func TestEveryLinkWorks(t *testing.T) {
	found := 0
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			found++
			target := page
			if m[1] != "" {
				target = path.Join(path.Dir(page), m[1])
			}
			if _, err := os.Stat(filepath.Join(root(), target)); err != nil {
				t.Errorf("%s links to %s: %v", page, target, err)
			} else if m[2] != "" && !hasHeading(readPage(t, target), m[2]) {
				t.Errorf("%s links to %s: no heading #%s", page, target, m[2])
			}
		}
	}
	if found < 50 {
		t.Errorf("%d links", found)
	}
}

var (
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInIDs   = regexp.MustCompile(`[^\pL\pN _-]`)
	fencedText = regexp.MustCompile("(?ms)^```.*?^```$")
)

// hasHeading reports whether a page has a heading with the ID that GitHub gives it.
func hasHeading(page, id string) bool {
	for _, m := range heading.FindAllStringSubmatch(fencedText.ReplaceAllString(page, ""), -1) {
		if strings.ReplaceAll(notInIDs.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == id {
			return true
		}
	}
	return false
}

// indexes are the pages that link to all pages of the directories below them, by directory.
var indexes = map[string]string{
	"docs":           "docs/README.md",
	"docs/decisions": "docs/decisions/README.md",
	"docs/dialects":  "docs/dialects.md",
}

func TestEveryPageIsInItsIndex(t *testing.T) {
	for _, page := range pages(t) {
		dir := path.Dir(page)
		index := indexes[dir]
		if dir == "." || page == index {
			continue
		}
		if index == "" {
			t.Errorf("%s: no index lists the pages of %s", page, dir)
			continue
		}
		target, err := filepath.Rel(path.Dir(index), page)
		must(t, err)
		if !strings.Contains(readPage(t, index), "]("+filepath.ToSlash(target)+")") {
			t.Errorf("%s does not list %s", index, page)
		}
	}
}

package layout

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	named   = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)\\w+)`")
	defined = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

func TestDocumentsNameTestsThatExist(t *testing.T) {
	root := os.DirFS("../..")
	have := map[string]bool{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		src, err := fs.ReadFile(root, name)
		for _, m := range defined.FindAllSubmatch(src, -1) {
			have[path.Dir(name)+"."+string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docs/requirements.md", "docs/security.md"} {
		doc, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		found := named.FindAllStringSubmatch(string(doc), -1)
		if len(found) < 20 {
			t.Fatalf("%s names only %d tests", name, len(found))
		}
		for _, m := range found {
			if !have[m[1]+"."+m[2]] {
				t.Errorf("%s: %s.%s does not exist", name, m[1], m[2])
			}
		}
	}
}

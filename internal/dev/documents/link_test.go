//go:build documents && unix

package documents

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"
)

// link is a relative link of a document, without its fragment.
var link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

// TestLinkedFilesAreThere reads the documents of the archive, if there is one: an archive has the
// files that its documents link to.
func TestLinkedFilesAreThere(t *testing.T) {
	found := 0
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			found++
			target := path.Join(path.Dir(page), m[1])
			if _, err := os.Stat(filepath.Join(root(), target)); err != nil {
				t.Errorf("%s links to %s: %v", page, target, err)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d links", found)
	}
}

package diff

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Compare returns the changes from an old to a new text. If the old text is nil, the file is new.
// Lines that occur once in both texts anchor the parts in common, so the time is O(n log n).
func Compare(path string, oldText *string, newText string) File {
	p := &parser{}
	var old []byte
	if oldText == nil {
		p.startFile("", path)
	} else {
		p.startFile(path, path)
		old = []byte(*oldText)
	}
	if patch := diff.Diff("", old, "", []byte(newText)); patch != nil {
		const header = 3 // lines with the names of the files
		for _, line := range splitLines(string(patch))[header:] {
			p.line(line)
		}
	}
	return p.files[0]
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

package layout

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestNoFileHasMarksOfAMerge looks in all files: those in texts and documents break no build.
func TestNoFileHasMarksOfAMerge(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	marks := [][]byte{[]byte("\n" + "<<<<<<< "), []byte("\n" + ">>>>>>> ")}
	looked := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "dist"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		looked++
		for _, mark := range marks {
			if bytes.Contains(b, mark) {
				t.Errorf("%s has a mark of a merge", name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 1000 {
		t.Errorf("looked in %d files only", looked)
	}
}

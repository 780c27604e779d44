package sqlite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Every Open rewrites the file "generation" and records its identity in the database. A restored
// database file names an older generation. In a restored directory the change time of the file
// differs: no copying tool can set it.

// readGeneration returns the identity of the generation file, or "" when there is none.
func readGeneration(dir string) (string, error) {
	path := filepath.Join(dir, "generation")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read generation: %w", err)
	}
	changed, err := changeTime(path)
	if err != nil {
		return "", fmt.Errorf("read generation: %w", err)
	}
	return string(text) + "@" + strconv.FormatInt(changed, 10), nil
}

// writeGeneration writes a new generation file and returns its identity. A file torn by a power cut
// counts as another generation.
func writeGeneration(dir string) (string, error) {
	file, err := os.OpenFile(filepath.Join(dir, "generation"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("write generation: %w", err)
	}
	_, err = file.WriteString(rand.Text())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("write generation: %w", err)
	}
	return readGeneration(dir)
}

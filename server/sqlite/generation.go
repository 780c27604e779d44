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

// The side file "generation" is rewritten by every Open and named in the database. A database put back from a backup
// names an older one; a whole directory put back has one with another change time, which no copying tool can set.

// readGeneration identifies the side file as it is; empty when there is none.
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

// writeGeneration writes a new side file and returns its identity. A file torn by a power cut is merely another one.
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

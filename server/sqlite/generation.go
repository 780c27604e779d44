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

const generationFile = "generation"

// readGeneration returns the identity of the generation file, or "" if the file does not exist.
func readGeneration(dir string) (string, error) {
	path := filepath.Join(dir, generationFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var changed int64
	if err == nil {
		changed, err = changeTime(path)
	}
	return string(text) + "@" + strconv.FormatInt(changed, 10), wrap(err, "read generation")
}

// A MissingError reports a data directory that was used and whose database is missing or empty.
// The directory is unchanged.
type MissingError struct{ Dir string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is missing or empty, but sessions were stored in %s", fileName, e.Dir)
}

// checkUsed returns a *MissingError if a store was open in dir before, and its database is missing
// or empty. It is called before SQLite opens the file: SQLite would delete a write-ahead log
// without its database, and the log may hold everything.
func checkUsed(dir string) error {
	info, err := os.Stat(Path(dir))
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if found, err := readGeneration(dir); err != nil || found == "" {
		return err
	}
	return &MissingError{Dir: dir}
}

// writeGeneration writes a new generation file and returns its identity. A file torn by a power cut
// counts as another generation.
func writeGeneration(dir string) (string, error) {
	file, err := os.OpenFile(filepath.Join(dir, generationFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("write generation: %w", err)
	}
	_, err = file.WriteString(rand.Text())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("write generation: %w", err)
	}
	return readGeneration(dir)
}

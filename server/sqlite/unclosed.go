package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentctl/internal/atomicfile"
)

// unclosedFile is the file in a data directory that names the generation of a store that is open or
// was not closed. Its write-ahead log must be there: without it the database lacks commits, and
// does not know it. The record of the run may be one of these commits.
//
// Open writes the file last, after the log is synced. Close removes it first, before SQLite removes
// the log. A store of an earlier release writes another generation, so that its runs do not count.
const unclosedFile = "unclosed"

// A LogMissingError reports a store that was not closed and whose write-ahead log is missing. The
// directory is unchanged.
type LogMissingError struct{ Dir string }

func (e *LogMissingError) Error() string {
	return fmt.Sprintf("the write-ahead log %s-wal is missing in %s, and the last server did not close it: "+
		"the database may lack what it stored last", fileName, e.Dir)
}

// checkLog returns a *LogMissingError if the last store in dir was not closed and its log is
// missing. The caller holds the lock of the directory, and SQLite has not opened the database: it
// would create a log.
func checkLog(dir string) error {
	if _, err := os.Stat(Path(dir) + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unclosed, err := os.ReadFile(filepath.Join(dir, unclosedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", unclosedFile, err)
	}
	generation, err := os.ReadFile(filepath.Join(dir, generationFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", generationFile, err)
	}
	if len(unclosed) == 0 || string(unclosed) != string(generation) {
		return nil
	}
	return &LogMissingError{Dir: dir}
}

// markUnclosed notes that the store in dir is open.
func markUnclosed(dir string) error {
	generation, err := os.ReadFile(filepath.Join(dir, generationFile))
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, unclosedFile), generation, 0o600)
	}
	return wrap(err, "write %s", unclosedFile)
}

// markClosed notes that the database in dir needs no log.
func markClosed(dir string) error {
	err := removeFiles(filepath.Join(dir, unclosedFile))
	if err == nil {
		err = atomicfile.SyncDir(dir)
	}
	return wrap(err, "remove %s", unclosedFile)
}

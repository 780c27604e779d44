package download

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"agentctl/internal/atomicfile"
)

// Save writes a new file that only the user can read. The error is fs.ErrExist if there is anything
// of that name, even a link to nothing.
func Save(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("save: %w", err), os.Remove(name))
	}
	return nil
}

// Replace writes a file in place of another one. A link is replaced, not followed.
func Replace(name string, data []byte) error {
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		return fmt.Errorf("save: %w", &fs.PathError{Op: "replace", Path: name, Err: errors.New("is a directory")})
	}
	if err := atomicfile.Write(name, data, 0o600); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

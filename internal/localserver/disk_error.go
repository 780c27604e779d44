package localserver

import (
	"errors"
	"io/fs"
	"syscall"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// DiskError returns an error of the files of a data directory with its code and what to do if the
// disk is full or cannot be written, else err.
func DiskError(err error) error {
	var hint string
	switch {
	case errors.Is(err, eventlog.ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "the disk is full: free some space, or choose another --data"
	case errors.Is(err, eventlog.ErrReadOnly), errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = "the disk or the file cannot be written: check its mount and permissions, or choose another --data"
	default:
		return err
	}
	return exit.Errorf(exit.Failure, protocol.CodeStorage, "%w", err).WithHint("%s", hint)
}

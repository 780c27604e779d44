package localserver

import (
	"errors"
	"io/fs"
	"syscall"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

// StoreError returns the error of an operation on stored sessions with its code and what to do.
func StoreError(err error) error {
	var damaged *sqlite.DamagedError
	var missing *sqlite.MissingError
	var noLog *sqlite.LogMissingError
	failed := func(code protocol.Code) *exit.Error { return exit.Errorf(exit.Failure, code, "%w", err) }
	switch {
	case errors.As(err, &damaged), errors.Is(err, eventlog.ErrCorrupt):
		return failed(protocol.CodeCorrupt).WithHint("see what is damaged: agentctl check FILE")
	case errors.As(err, &missing):
		return failed(protocol.CodeCorrupt).WithHint("restore a backup: agentctl restore FILE; " +
			"to begin without sessions, which are lost then, remove the file \"generation\" there")
	case errors.As(err, &noLog):
		return failed(protocol.CodeCorrupt).WithHint("put the file back; or restore a backup: agentctl restore FILE " +
			"--replace; or keep what the database has, without what was stored last: agentctl repair --without-log")
	case errors.Is(err, eventlog.ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return failed(protocol.CodeStorage).WithHint("the disk is full: free some space, or choose another --data")
	case errors.Is(err, eventlog.ErrReadOnly), errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return failed(protocol.CodeStorage).WithHint("the disk or the file cannot be written: " +
			"check its mount and permissions, or choose another --data")
	case errors.Is(err, sqlite.ErrLocked):
		return failed(exit.CodeFailed).WithHint("stop the server: agentctl stop")
	case errors.Is(err, sqlite.ErrInUse):
		return failed(exit.CodeFailed).WithHint("pass --replace: what is there is kept in a file")
	}
	return err
}

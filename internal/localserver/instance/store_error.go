package instance

import (
	"errors"

	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
	"agentctl/server/sqlite/dirlock"
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
	case errors.Is(err, dirlock.ErrLocked):
		return failed(exit.CodeFailed).WithHint("stop the server: agentctl stop")
	case errors.Is(err, sqlite.ErrInUse):
		return failed(exit.CodeFailed).WithHint("pass --replace: what is there is kept in a file")
	}
	return localserver.DiskError(err)
}

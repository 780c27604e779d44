package session

import (
	"context"
	"path/filepath"
	"time"

	"agentctl/internal/worktree"
	"agentctl/protocol"
)

func init() {
	handlers[protocol.DoChanges] = handler((*Session).changes)
	handlers[protocol.DoDiff] = handler((*Session).diff)
}

// Bounds of git: its time, and how many run for all sessions.
const (
	changesTimeout = 20 * time.Second
	maxGitStatus   = 2
)

// changes answers with what differs in the directory from the last commit.
func (s *Session) changes(cmd *command, _ *protocol.Empty) (any, error) {
	return nil, readDirectory(s, cmd, func(ctx context.Context, dir string) (any, error) {
		result := protocol.ChangesResult{Files: []protocol.DirectoryFile{}}
		if dir == "" {
			return result, nil
		}
		changes, ok, err := worktree.Status(ctx, dir)
		result.Repository = ok
		for _, c := range changes {
			result.Files = append(result.Files, protocol.DirectoryFile{
				Path: protocol.ValidText(c.Path), Status: c.Code, Added: c.Added, Removed: c.Removed,
			})
		}
		return result, err
	})
}

// diff answers with the differences of a file of the directory from the last commit.
func (s *Session) diff(cmd *command, d *protocol.DiffData) (any, error) {
	path := d.Path
	if !filepath.IsLocal(path) {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "the path must be below the directory of the session")
	}
	return nil, readDirectory(s, cmd, func(ctx context.Context, dir string) (any, error) {
		if dir == "" {
			return protocol.DiffResult{}, nil
		}
		patch, cut, _, err := worktree.Diff(ctx, dir, path)
		return protocol.DiffResult{Patch: protocol.ValidText(patch), Cut: cut}, err
	})
}

// readDirectory answers with what read finds in the session's directory, with git.
func readDirectory(s *Session, cmd *command, read func(ctx context.Context, dir string) (any, error)) error {
	dir, running := s.state.CWD, s.hub.gitStatus
	return runAsync(s, cmd, nil, func(ctx context.Context) (any, error) {
		select {
		case running <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		defer func() { <-running }()
		ctx, cancel := context.WithTimeout(ctx, changesTimeout)
		defer cancel()
		result, err := read(ctx, dir)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeUnsupported, "%s: %s", cmd.verb, protocol.ValidText(err.Error()))
		}
		return result, nil
	}, nil)
}

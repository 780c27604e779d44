package session

import (
	"context"
	"time"

	"agentctl/internal/worktree"
	"agentctl/protocol"
)

func init() {
	handlers[protocol.DoChanges] = handler((*Session).changes)
}

// Bounds of git status: its time, and how many run for all sessions.
const (
	changesTimeout = 20 * time.Second
	maxGitStatus   = 2
)

// changes answers with what differs in the directory from the last commit.
func (s *Session) changes(cmd *command, _ *protocol.Empty) (any, error) {
	dir, running := s.state.CWD, s.hub.gitStatus
	s.runAsync(cmd, nil, func(ctx context.Context) (any, error) {
		select {
		case running <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		defer func() { <-running }()
		return directoryChanges(ctx, dir)
	}, unlessFailed(func(result any) (any, error) { return result, nil }))
	return nil, errAnswerLater
}

// directoryChanges returns what differs in a directory from the last commit.
func directoryChanges(ctx context.Context, dir string) (any, error) {
	result := protocol.ChangesResult{Files: []protocol.DirectoryFile{}}
	if dir == "" {
		return result, nil
	}
	ctx, cancel := context.WithTimeout(ctx, changesTimeout)
	defer cancel()
	changes, ok, err := worktree.Status(ctx, dir)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "git status: %s", protocol.ValidText(err.Error()))
	}
	result.Repository = ok
	for _, c := range changes {
		result.Files = append(result.Files, protocol.DirectoryFile{
			Path: protocol.ValidText(c.Path), Status: c.Code, Added: c.Added, Removed: c.Removed,
		})
	}
	return result, nil
}

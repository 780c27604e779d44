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

// changesTimeout bounds a git status.
const changesTimeout = 20 * time.Second

// changes answers with what differs in the directory from the last commit. Commands that arrive while
// git runs get the same answer, so that a session runs git once at a time.
func (s *Session) changes(cmd *command, _ *protocol.Empty) (any, error) {
	s.changesAsked = append(s.changesAsked, cmd)
	if len(s.changesAsked) > 1 {
		return nil, errAnswerLater
	}
	dir := s.state.CWD
	s.runAsync(cmd, nil, func(ctx context.Context) (any, error) { return directoryChanges(ctx, dir) },
		func(result any, err error) (any, error) {
			for _, other := range s.changesAsked[1:] {
				s.answer(other, result, err)
			}
			s.changesAsked = nil
			return result, err
		})
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

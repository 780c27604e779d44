package session

import (
	"context"
	"time"

	"agentctl/internal/worktree"
	"agentctl/protocol"
	"agentctl/server/session/list"
	"agentctl/server/session/record"
)

// worktreeTimeout bounds the removal of a worktree.
const worktreeTimeout = time.Minute

// releaseWorktree removes the git worktree of a deleted session on another goroutine, and then
// calls then on the session's. A worktree stays if its work would be lost, or if another session
// works in it.
func (s *Session) releaseWorktree(cmd *command, d *protocol.CloseData, then func(protocol.CloseResult)) {
	remove, dir := s.hub.cfg.RemoveWorktree, s.state.CWD
	if remove == nil || d.KeepWorktree || dir == "" || s.state.Labels[worktree.Label] == "" {
		then(protocol.CloseResult{})
		return
	}
	s.asyncCommands++
	s.hub.agents.Go(func() {
		ctx, cancel := context.WithTimeout(s.background, worktreeTimeout)
		defer cancel()
		kept := ""
		if other := worksIn(s.hub.list.List(false), dir, s.id); other != "" {
			kept = "session " + other + " works there"
		} else {
			kept = remove(ctx, dir)
		}
		posted := s.mail.post(func() {
			s.asyncCommands--
			if kept == "" {
				s.logger().Info("worktree removed", "dir", dir)
				then(protocol.CloseResult{})
				return
			}
			s.logger().Info("worktree stays", "dir", dir, "reason", kept)
			kept = protocol.SplitText(protocol.ValidText(kept), record.ShortText)[0]
			then(protocol.CloseResult{Worktree: dir, Reason: kept})
		})
		switch {
		case posted:
		case !s.hub.list.Exists(s.id): // another command deleted it
			cmd.Answer(nil, list.NotFound(s.id))
		default:
			cmd.Answer(nil, errShuttingDown())
		}
	})
}

// worksIn returns a session other than id that works in a directory, and "" if none does.
func worksIn(sessions []protocol.Summary, dir, id string) string {
	for i := range sessions {
		if s := &sessions[i]; s.Session != id && s.CWD != "" && worktree.Within(s.CWD, dir) {
			return s.Session
		}
	}
	return ""
}

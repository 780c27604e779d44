package session

import (
	"context"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/session/record"
)

func init() {
	handlers[protocol.DoUndo] = handler((*Session).undo)
	handlers[protocol.DoRetry] = handler((*Session).retry)
}

// An undone is a turn that the agent has forgotten.
type undone struct {
	agent.Undone
	messages []protocol.Message // the one that started the turn, and those that joined it
}

// undo lets the agent forget its last turn, and restores the files that its tools changed.
func (s *Session) undo(cmd *command, _ *protocol.Empty) (any, error) {
	return s.takeBack(cmd, true, func(u *undone) (any, error) {
		s.recorder.Record(protocol.Notice, &cmd.By, protocol.NoticeData{Level: protocol.LevelInfo, Message: u.notice()})
		return protocol.UndoResult{
			Turn: u.Turn, Message: u.messages[0], Steered: u.messages[1:], Restored: u.Restored, Kept: u.Kept,
		}, nil
	})
}

// retry lets the agent forget its last turn and sends the messages of that turn again: those that joined it
// join the new one. Files stay.
func (s *Session) retry(cmd *command, _ *protocol.Empty) (any, error) {
	return s.takeBack(cmd, false, func(u *undone) (any, error) {
		if u.messages[0].Work {
			return nil, protocol.Errorf(protocol.CodeConflict,
				"the agent forgot work that it began itself: no message to send again")
		}
		s.recorder.Record(protocol.Notice, &cmd.By, protocol.NoticeData{
			Level: protocol.LevelInfo, Message: "the agent forgot the turn before: its message is sent again",
		})
		result, err := s.acceptMessage(cmd, again(&u.messages[0]), true)
		for i := 1; i < len(u.messages) && err == nil; i++ {
			if result.(protocol.SendResult).Status == protocol.SendStarted {
				_, err = s.acceptMessage(cmd, again(&u.messages[i]), true)
			} else {
				err = s.queueJoining(cmd, again(&u.messages[i]))
			}
		}
		return result, err
	})
}

// queueJoining queues a message that joins the turn of the one before it, which waits too.
func (s *Session) queueJoining(cmd *command, m protocol.Message) error {
	m.MessageID, m.By = NewID(idMessage), &cmd.By
	err := s.hub.settings().Limits.queue().Check(s.state, &m)
	if err == nil {
		s.recorder.RecordAll(s.queue.AddJoining(s.state, m, time.Now()))
	}
	return err
}

// takeBack lets the agent forget its last turn, then runs finish on the session's goroutine. No
// turn starts before that.
func (s *Session) takeBack(cmd *command, files bool, finish func(*undone) (any, error)) (any, error) {
	agent, err := requireCapability[agent.Undoer](s, "undo a turn")
	if err != nil {
		return nil, err
	}
	switch {
	case s.turn != nil:
		return nil, protocol.Errorf(protocol.CodeConflict, "a turn is running: interrupt it first")
	case s.undoing:
		return nil, protocol.Errorf(protocol.CodeConflict, "a turn is being undone: wait for its end")
	}
	s.undoing = true
	s.journal.AfterCommit(func(failed error) {
		if failed != nil {
			s.undoing = false
			s.answer(cmd, nil, failed)
			return
		}
		_ = runAsync(s, cmd, s.slot.Preparation(), func(ctx context.Context) (*undone, error) { // answers later
			done, err := agent.Undo(ctx, files)
			if err != nil {
				return nil, err
			}
			u := &undone{Undone: done}
			if u.messages, err = archive.MessagesOf(ctx, s.hub.cfg.Store, s.id, done.Turn); err != nil {
				return nil, readError(s.hub.log, s.id, err)
			}
			return u, nil
		}, func(u *undone, err error) (any, error) {
			s.undoing = false
			defer s.startNext()
			if err != nil {
				return nil, err
			}
			return finish(u)
		})
	})
	return nil, errAnswerLater
}

// again returns a copy of a message that is first in the queue, or joins the turn of those before it.
func again(m *protocol.Message) protocol.Message {
	return protocol.Message{Text: m.Text, Parts: m.Parts, Delivery: protocol.DeliverSteer}
}

// notice describes to users what was undone.
func (u *undone) notice() string {
	text := "the agent forgot the last turn"
	if len(u.Restored) > 0 {
		text += "; restored: " + strings.Join(u.Restored, ", ")
	}
	if len(u.Kept) > 0 {
		text += "; not restored, because they changed since: " + strings.Join(u.Kept, ", ")
	}
	return protocol.SplitText(text, record.LongText)[0]
}

package request_test

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/request"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// rig is a sender with a session that answers in the test, at a time that the test sets.
type rig struct {
	*request.Sender
	session *tuitest.FakeSession
	now     time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{session: tuitest.NewFakeSession(), now: tuitest.Start}
	tasks := task.NewRunner(t.Context())
	t.Cleanup(tasks.Close)
	r.Sender = &request.Sender{
		Runner: request.Runner{
			Tasks: tasks, Status: new(ui.Status), Answers: ui.NewAnswers(func() time.Time { return r.now }),
		},
		Session: r.session,
	}
	return r
}

// refuse makes the session refuse every command.
func (r *rig) refuse() {
	r.session.Reply = func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }
}

// finish runs a command and the callback of its task.
func finish(t *testing.T, cmd tea.Cmd) {
	t.Helper()
	msg, ok := cmd().(request.DoneMsg)
	if !ok {
		t.Fatal("the task has no result")
	}
	msg.Then(msg.Err)
}

func TestTheCallbackGetsTheResultOfACommand(t *testing.T) {
	r := newRig(t)
	r.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil }
	var result protocol.InterruptResult
	called := 0
	cmd := r.Send(protocol.DoInterrupt, protocol.InterruptData{Turn: "t1"}, &result, func(err error) tea.Cmd {
		if called++; err != nil || !result.Interrupted {
			t.Errorf("got %+v, error %v", result, err)
		}
		return nil
	})
	if len(r.session.Commands()) != 0 {
		t.Fatal("the command is sent in the event loop")
	}
	finish(t, cmd)
	got := r.session.Commands()
	if len(got) != 1 || got[0].Verb != protocol.DoInterrupt || called != 1 {
		t.Errorf("got commands %+v, %d calls", got, called)
	}
}

func TestARefusedCommandWithoutACallbackIsReported(t *testing.T) {
	r := newRig(t)
	r.refuse()
	finish(t, r.Do(protocol.DoQueueHold, protocol.Empty{}))
	if r.Status.Text != tuitest.ErrRefused.Message {
		t.Errorf("got the status message %q", r.Status.Text)
	}
}

func TestOnlyCommandsThatTheServerAnswersItselfAreExpectedSoon(t *testing.T) {
	for verb, want := range map[protocol.Verb]bool{
		protocol.DoRename: true, protocol.DoApprove: true, protocol.DoCompact: false, protocol.DoFork: false,
	} {
		for _, refused := range []bool{false, true} {
			r := newRig(t)
			if refused {
				r.refuse()
			}
			cmd := r.Do(verb, protocol.Empty{})
			if got := r.Answers.Waiting(); got != want {
				t.Errorf("%s: waits for an answer: %v, want %v", verb, got, want)
			}
			if finish(t, cmd); r.Answers.Waiting() {
				t.Errorf("%s, refused %v: still waits after the answer", verb, refused)
			}
		}
	}
}

func TestTheServerThatDoesNotAnswerIsNamed(t *testing.T) {
	r := newRig(t)
	cmd := r.SendTo(r.session, "box", protocol.DoRename, protocol.RenameData{}, nil, r.Report)
	r.now = r.now.Add(4 * time.Second)
	if got := r.Answers.Text(); got != "box · no answer for 4s" {
		t.Errorf("got %q", got)
	}
	finish(t, cmd)
}

func TestATaskHasNoResultAfterTheEndOfTheProgram(t *testing.T) {
	r := newRig(t)
	ctx, end := context.WithCancel(t.Context())
	r.Tasks = task.NewRunner(ctx)
	msg := r.Run(func(context.Context) error {
		end()
		return errors.New("cancelled")
	}, r.Report)()
	if msg != nil {
		t.Errorf("got %+v", msg)
	}
}

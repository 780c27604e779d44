package plain

import (
	"context"

	"agentctl/protocol"
)

// A task runs commands outside of the loop.
type task func(context.Context) taskResult

// taskResult is the line that a task prints, or "", and what to wait for after the message it sent.
type taskResult struct {
	line  string
	seq   uint64 // position of the message; 0: none, or the server does not send it
	turns int    // then: the number of ended turns that includes the one that answers
}

// enqueue adds a task that returns a line to print, and reports whether there was room for it. If
// not, it prints an error.
func (c *client) enqueue(run func(context.Context) string) bool {
	return c.enqueueTask(func(ctx context.Context) taskResult { return taskResult{line: run(ctx)} })
}

func (c *client) enqueueTask(t task) bool {
	select {
	case c.tasks <- t:
		c.input.running++
		return true
	default:
		c.renderer.linef("too many pending commands: this one was dropped")
		return false
	}
}

// runTasks runs tasks in order until ctx ends.
func (c *client) runTasks(ctx context.Context) {
	for {
		select {
		case t := <-c.tasks:
			select {
			case c.results <- t(ctx):
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// input is what the input has caused, to know when it is done.
type input struct {
	endsRun bool   // the end of the input ends the client
	ended   bool   // the input
	running int    // tasks without a result
	sent    uint64 // position of the last message
	turns   int    // number of turns to end
}

// add records the result of a task.
func (in *input) add(r taskResult) {
	in.running--
	in.sent, in.turns = max(in.sent, r.seq), max(in.turns, r.turns)
}

// done reports whether the input has ended and nothing that it caused is left to wait for. The
// error says that the session waits for a person.
func (in *input) done(r *renderer) (bool, error) {
	s := r.state
	if in.endsRun && in.ended && in.running == 0 && r.caughtUp && s.Seq >= in.sent && s.Turns >= in.turns {
		switch s.Status() {
		case protocol.Waiting:
			return true, &UnfinishedError{s.Clone()}
		case protocol.Idle:
			if len(s.Queue) > 0 && s.BlockingHold() != nil {
				return true, &UnfinishedError{s.Clone()}
			}
			return len(s.Queue) == 0, nil
		}
	}
	return false, nil
}

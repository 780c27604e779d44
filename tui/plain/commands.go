package plain

import (
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

// helpText is the output of /help.
const helpText = `a line is sent as a message; // sends one that begins with /
/approve [REQUEST]: allow a request once; REQUEST is required if several are pending
/always [REQUEST]: allow it from now on
/deny [REQUEST] [REASON]: refuse it
/stop [REQUEST] [REASON]: refuse it and end the turn
/explain [REQUEST]: ask the agent for an explanation
/option ID [REQUEST]: choose an option of the agent
/answer [REQUEST] QUESTION=ANSWER…: answer its questions; both may be numbers, as in 1=2
a number: choose an answer, while the agent asks one question with choices
(a decision without REQUEST is not taken in the moment after a request)
/keep [REQUEST] N…: allow only these tasks of a plan
/replan [REQUEST] REASON: ask for another plan
/interrupt [keep|hold|clear]: end the turn, and keep, hold or clear the queue
/queue: list the queued messages with their numbers
/now N, /edit N TEXT, /remove N, /move N TO: send, edit, remove or move a queued message
/hold, /release: hold or release the queue
/rules: list the rules that allow requests; /revoke N revokes one
/status: show the session and its connection; /retry connects now
/quit: quit; the session continues`

// runLine runs a command, or sends the line as a message.
func (c *client) runLine(in inputLine) {
	line := strings.TrimSpace(in.line)
	switch {
	case in.err != nil:
		c.renderer.linef("%s: input is not read any more", in.err)
		return
	case line == "":
		return
	case strings.HasPrefix(line, "//"):
		c.send(line[1:])
		return
	case c.choose(line):
		return
	case !strings.HasPrefix(line, "/") || c.isAgentCommand(line):
		c.send(line)
		return
	}
	verb, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	out := c.renderer
	switch verb {
	case "help":
		out.linef("%s", helpText)
	case "quit":
		c.quit()
	case "status":
		s := out.state
		out.linef("session %s, %s, %s, %s, position %d", remote.SessionName(s), s.Status(), out.conn.State,
			format.Count(len(s.Queue), "queued message"), s.Seq)
	case "interrupt":
		c.interrupt(rest)
	case "retry":
		c.retry()
	case "queue":
		out.linef("%s in the queue", format.Count(len(out.state.Queue), "message"))
		for i, m := range out.state.Queue {
			out.linef("%d: %s: %s", i+1, remote.ActorName(m.By), m.Text)
		}
	case "hold":
		c.runCommand("/hold", protocol.DoQueueHold, protocol.QueueHoldData{})
	case "release":
		c.runCommand("/release", protocol.DoQueueRelease, protocol.QueueReleaseData{})
	case "now", "edit", "remove", "move":
		c.changeQueued(verb, rest)
	case "rules", "revoke":
		c.runRuleCommand(verb, rest)
	default:
		if _, ok := decisionVerbs[verb]; ok {
			c.decide(verb, rest)
			return
		}
		if remote.IsOwnWord(verb) {
			out.linef("/%s works on the screen only; //%s goes to the agent", verb, verb)
			return
		}
		out.linef("no command /%s: /help lists all, // sends a line that begins with /", verb)
	}
}

// isAgentCommand reports whether a line is one of the agent's own commands. Words of agentctl never
// are.
func (c *client) isAgentCommand(line string) bool {
	name, _, _ := strings.Cut(line[1:], " ")
	o := c.renderer.state.Options
	if o == nil || remote.IsOwnWord(name) {
		return false
	}
	return slices.ContainsFunc(o.Commands, func(command protocol.SlashCommand) bool {
		return strings.TrimPrefix(command.Name, "/") == name
	})
}

// send sends a message. Without connection, the session sends it later.
func (c *client) send(text string) {
	if c.renderer.conn.State != remote.Connected {
		c.renderer.linef("waits for the connection: %s", text)
	}
	data := protocol.SendData{Text: text, ClientMessageID: rand.Text()}
	ended := c.renderer.state.Turns
	c.enqueueTask(func(ctx context.Context) taskResult {
		var sent protocol.SendResult
		err := c.session.Do(ctx, protocol.DoSend, data, &sent)
		r := taskResult{line: errorLine(ctx, "not sent: "+text, err), seq: sent.Seq}
		if err == nil && r.seq == 0 {
			r.turns = ended + 1
		}
		return r
	})
}

// runCommand enqueues a command of the protocol for the typed command. It prints only errors:
// events report success.
func (c *client) runCommand(typed string, verb protocol.Verb, data any) {
	c.enqueue(func(ctx context.Context) string {
		return errorLine(ctx, typed, c.session.Do(ctx, verb, data, nil))
	})
}

// errorLine returns a line for an error, or "" without error or after ctx ended.
func errorLine(ctx context.Context, what string, err error) string {
	if err == nil || ctx.Err() != nil {
		return ""
	}
	return what + ": " + remote.ErrorText(err)
}

// interrupt interrupts the turn and prints the result. The queue is "keep", "hold", "clear" or "".
func (c *client) interrupt(queue string) {
	turn := c.renderer.state.Turn
	if turn == nil {
		c.renderer.linef("no turn is running")
		return
	}
	s := c.renderer.state
	queued, held := len(s.Queue), s.BlockingHold() != nil
	c.renderer.linef("interrupting")
	data, result := protocol.InterruptData{Turn: turn.Turn, Queue: queue}, new(protocol.InterruptResult)
	c.enqueue(func(ctx context.Context) string {
		if err := c.session.Do(ctx, protocol.DoInterrupt, data, result); err != nil {
			return errorLine(ctx, "/interrupt", err)
		}
		return describe.Interrupted(result.Interrupted, queue, queued, held)
	})
}

// retry connects now instead of after the delay.
func (c *client) retry() {
	r, ok := c.session.(remote.Retrier)
	if !ok || c.renderer.conn.State == remote.Connected {
		c.renderer.linef("connected")
		return
	}
	c.enqueue(func(context.Context) string {
		r.Retry()
		return "trying to connect"
	})
}

// changeQueued runs a command on a queued message.
func (c *client) changeQueued(verb, rest string) {
	s, out := c.renderer.state, c.renderer
	number, text, _ := strings.Cut(rest, " ")
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(s.Queue) {
		out.linef("/%s N: no such message: /queue lists them", verb)
		return
	}
	message := s.Queue[i-1].MessageID
	switch text = strings.TrimSpace(text); verb {
	case "now":
		start := remote.StartNow(s, message)
		c.enqueue(func(ctx context.Context) string {
			return errorLine(ctx, "/now", start(ctx, c.session))
		})
	case "remove":
		c.runCommand("/remove", protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: message})
	case "edit":
		if text == "" {
			out.linef("/edit N TEXT: no text")
			return
		}
		c.runCommand("/edit", protocol.DoQueueEdit, protocol.QueueEditData{MessageID: message, Text: text})
	case "move":
		to, err := strconv.Atoi(text)
		if err != nil || to < 1 || to > len(s.Queue) {
			out.linef("/move N TO: want a place from 1 to %d", len(s.Queue))
			return
		}
		c.runCommand("/move", protocol.DoQueueMove, protocol.QueueMoveData{MessageID: message, Index: to - 1})
	}
}

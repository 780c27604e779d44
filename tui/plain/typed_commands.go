package plain

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// helpText is what /help tells.
const helpText = `a line is sent as a message; // sends one that begins with /
/approve [REQUEST]: allow it once; REQUEST says which, when several wait
/always [REQUEST]: allow it from now on
/deny [REQUEST] [REASON]: refuse it
/stop [REQUEST] [REASON]: refuse it and end the turn
/explain [REQUEST]: let the agent say why it asks
/option ID [REQUEST]: take an option of the agent's own
/answer [REQUEST] QUESTION=TEXT…: answer its questions
/keep [REQUEST] N…: of a plan allow those tasks alone
/replan [REQUEST] REASON: ask for another plan
/interrupt [keep|hold|clear]: end the turn, and what becomes of the queue
/queue: the messages that wait, with their numbers
/now N, /edit N TEXT, /remove N, /move N TO: send one now, change it, take it away, move it
/hold, /release: let the queue wait, or go on
/find WORDS: where they were said
/rules: what is allowed without asking; /revoke N takes it back
/status: the session and its connection; /retry connects now
/quit: leave; the session goes on`

// runLine carries out a line that a person typed.
func (p *plainSession) runLine(t inputLine) {
	line := strings.TrimSpace(t.line)
	switch {
	case t.err != nil:
		p.renderer.line("%s: what is typed is not read any more", t.err)
		return
	case line == "":
		return
	case strings.HasPrefix(line, "//"):
		p.send(line[1:])
		return
	case !strings.HasPrefix(line, "/") || p.isAgentCommand(line):
		p.send(line)
		return
	}
	verb, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	n := p.renderer
	switch verb {
	case "help":
		n.line("%s", helpText)
	case "quit":
		p.quit()
	case "status":
		n.line("session %s, %s, %s, %s, position %d", remote.SessionName(n.state), n.state.Status(), n.conn.State, ui.Count(len(n.state.Queue), "queued message"), n.state.Seq)
	case "interrupt":
		p.interrupt(rest)
	case "retry":
		p.retry()
	case "queue", "now", "edit", "remove", "move", "hold", "release":
		p.queue(verb, rest)
	case "find":
		p.find(rest)
	case "rules", "revoke":
		p.rules(verb, rest)
	case "approve", "always", "deny", "stop", "explain", "option", "answer", "keep", "replan":
		p.decide(verb, rest)
	default:
		n.line("no command /%s: /help lists them, // sends a line that begins with /", verb)
	}
}

// isAgentCommand tells that the line is a command that the agent understands.
func (p *plainSession) isAgentCommand(line string) bool {
	name, _, _ := strings.Cut(line[1:], " ")
	o := p.renderer.state.Options
	return o != nil && slices.ContainsFunc(o.Commands, func(c protocol.SlashCommand) bool { return strings.TrimPrefix(c.Name, "/") == name })
}

func (p *plainSession) send(text string) {
	if p.renderer.conn.State != remote.Connected {
		p.renderer.line("waits for the connection: %s", text)
	}
	data := protocol.SendData{Text: text, ClientMessageID: rand.Text()}
	p.enqueue(func(ctx context.Context) string {
		return errorLine(ctx, "not sent: "+text, p.session.Do(ctx, protocol.DoSend, data, nil))
	})
}

// command carries out a command whose events tell the rest.
func (p *plainSession) command(verb protocol.Verb, data any) {
	p.enqueue(func(ctx context.Context) string {
		return errorLine(ctx, string(verb), p.session.Do(ctx, verb, data, nil))
	})
}

func errorLine(ctx context.Context, what string, err error) string {
	if err == nil || ctx.Err() != nil {
		return ""
	}
	return what + ": " + remote.ErrorText(err)
}

func (p *plainSession) interrupt(queue string) {
	turn := p.renderer.state.Turn
	if turn == nil {
		p.renderer.line("no turn is under way")
		return
	}
	s := p.renderer.state
	queued, held := len(s.Queue), s.BlockingHold() != nil
	p.renderer.line("interrupting")
	data, result := protocol.InterruptData{Turn: turn.Turn, Queue: queue}, new(protocol.InterruptResult)
	p.enqueue(func(ctx context.Context) string {
		if err := p.session.Do(ctx, protocol.DoInterrupt, data, result); err != nil {
			return errorLine(ctx, "interrupt", err)
		}
		return describe.Interrupted(result.Interrupted, queue, queued, held)
	})
}

// retry tries to connect at once.
func (p *plainSession) retry() {
	r, ok := p.session.(remote.Retrier)
	if !ok || p.renderer.conn.State == remote.Connected {
		p.renderer.line("connected")
		return
	}
	p.enqueue(func(context.Context) string {
		r.Retry()
		return "trying to connect"
	})
}

func (p *plainSession) queue(verb, rest string) {
	s, n := p.renderer.state, p.renderer
	switch verb {
	case "queue":
		n.line("%s in the queue", ui.Count(len(s.Queue), "message"))
		for i := range s.Queue {
			n.line("%d: %s: %s", i+1, remote.ActorName(s.Queue[i].By), s.Queue[i].Text)
		}
		return
	case "hold":
		p.command(protocol.DoQueueHold, protocol.QueueHoldData{})
		return
	case "release":
		p.command(protocol.DoQueueRelease, protocol.QueueReleaseData{})
		return
	}
	number, text, _ := strings.Cut(rest, " ")
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(s.Queue) {
		n.line("/%s: which message? /queue numbers them", verb)
		return
	}
	message := s.Queue[i-1].MessageID
	switch text = strings.TrimSpace(text); verb {
	case "now":
		commands := remote.StartNow(s, message)
		p.enqueue(func(ctx context.Context) string {
			return errorLine(ctx, "now", remote.RunAll(ctx, p.session, commands))
		})
	case "remove":
		p.command(protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: message})
	case "edit":
		if text == "" {
			n.line("/edit N TEXT: what is the new text?")
			return
		}
		p.command(protocol.DoQueueEdit, protocol.QueueEditData{MessageID: message, Text: text})
	case "move":
		to, err := strconv.Atoi(text)
		if err != nil || to < 1 || to > len(s.Queue) {
			n.line("/move N TO: to which place?")
			return
		}
		p.command(protocol.DoQueueMove, protocol.QueueMoveData{MessageID: message, Index: to - 1})
	}
}

// decide answers a request: the one named, or the only one.
func (p *plainSession) decide(verb, rest string) {
	n := p.renderer
	d := protocol.ApproveData{}
	if verb == "option" {
		d.Option, rest, _ = strings.Cut(rest, " ")
	}
	request, rest, err := requestNamed(n.state.Approvals, strings.TrimSpace(rest))
	if err != nil {
		n.line("/%s: %s", verb, err)
		return
	}
	d.Request = request.Request
	switch verb {
	case "approve":
		d.Decision, d.Reason = protocol.AllowOnce, rest
	case "always":
		d.Decision, d.Reason = protocol.AllowAlways, rest
	case "deny":
		d.Decision, d.Reason = protocol.Deny, rest
	case "stop":
		d.Decision, d.Reason = protocol.DenyStop, rest
	case "explain":
		d.Decision, d.Reason = protocol.Explain, rest
	case "option":
		d.Reason = rest
	case "answer":
		d.Decision = protocol.AllowOnce
		if d.Input, err = parseAnswers(request, rest); err != nil {
			n.line("/answer: %s", err)
			return
		}
	case "keep":
		d.Decision = protocol.AllowOnce
		if d.Input, err = parseTasks(request, rest); err != nil {
			n.line("/keep: %s", err)
			return
		}
	case "replan":
		d.Decision, d.Reason, d.Input = protocol.Deny, rest, &protocol.ApprovalInput{Replan: true}
	}
	p.command(protocol.DoApprove, d)
}

func requestNamed(pending []protocol.Approval, rest string) (*protocol.Approval, string, error) {
	name, after, _ := strings.Cut(rest, " ")
	if i := approval.IndexOf(pending, name); i >= 0 {
		return &pending[i], strings.TrimSpace(after), nil
	}
	switch len(pending) {
	case 0:
		return nil, "", fmt.Errorf("no approval is pending")
	case 1:
		return &pending[0], rest, nil
	}
	names := make([]string, len(pending))
	for i := range pending {
		names[i] = pending[i].Request
	}
	return nil, "", fmt.Errorf("%d approvals are pending, name one: %s", len(pending), strings.Join(names, ", "))
}

// parseAnswers reads QUESTION=TEXT; a text goes on until the next question's name.
func parseAnswers(a *protocol.Approval, rest string) (*protocol.ApprovalInput, error) {
	out := map[string][]string{}
	var at string
	for _, word := range strings.Fields(rest) {
		name, text, found := strings.Cut(word, "=")
		if found && slices.ContainsFunc(a.Questions, func(q protocol.Question) bool { return q.ID == name }) {
			at = name
			out[at] = append(out[at], text)
			continue
		}
		if at == "" {
			return nil, fmt.Errorf("write QUESTION=TEXT")
		}
		given := out[at]
		given[len(given)-1] += " " + word
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("write QUESTION=TEXT")
	}
	return &protocol.ApprovalInput{Answers: out}, nil
}

// parseTasks reads the numbers of the tasks that a plan is to keep.
func parseTasks(a *protocol.Approval, rest string) (*protocol.ApprovalInput, error) {
	var keep []int
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(a.Tasks) {
			return nil, fmt.Errorf("%s is none of its %s", word, ui.Count(len(a.Tasks), "task"))
		}
		keep = append(keep, n-1)
	}
	kept := approval.KeepTasks(a.Tasks, keep)
	if len(kept) == 0 {
		return nil, fmt.Errorf("name one or more of its %s", ui.Count(len(a.Tasks), "task"))
	}
	return &protocol.ApprovalInput{Tasks: kept}, nil
}

package client

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
)

// maxHeld bounds the shell calls held back while a request is pending.
const maxHeld = 256

// handleItem records an item, which came in the frame with an id. It returns false if the item has
// no native equivalent.
func (c *Conn) handleItem(id string, payload json.RawMessage) bool {
	var it wire.Item
	if payload == nil || json.Unmarshal(payload, &it) != nil {
		c.startPendingTurn()
		return false
	}
	if s := c.sentAs(id); s != nil {
		c.enqueue(s)
		return c.decodeItem(&it)
	}
	if !c.startsAt.IsZero() {
		if text, _ := it.Content.Text(); it.Type == wire.MessageItem && it.Role == wire.User {
			c.startTurn(c.takeSendByText(text), text)
			return true
		}
		c.startPendingTurn()
	}
	if text, failed := it.FailureText(); failed {
		c.handleModelFailure(text)
		return true
	}
	if c.turn != nil && (it.Role == wire.Assistant || it.Type != wire.MessageItem) {
		c.turn.failure.err = nil // the turn continues
	}
	c.detectDecision(&it)
	if it.IsShell() && len(c.log.State.Approvals) > 0 && len(c.state.heldItems) < maxHeld {
		c.state.heldItems = append(c.state.heldItems, it)
		return true
	}
	return c.decodeItem(&it)
}

// detectDecision ends a request that another user decided, if the output of its command shows it.
func (c *Conn) detectDecision(it *wire.Item) {
	if it.Type != wire.OutputItem && it.Type != wire.ShellOutputItem || it.CallID == "" || len(c.log.State.Approvals) == 0 ||
		c.turn == nil {
		return
	}
	a := c.log.State.Approvals[0]
	if a.Command == "" { // a call without a title does not match
		return
	}
	ran := slices.ContainsFunc(c.log.State.Turn.Tools, func(t protocol.OpenTool) bool {
		return t.Tool == truncate(it.CallID) && t.Title == a.Command
	})
	ran = ran || slices.ContainsFunc(c.state.heldItems, func(h wire.Item) bool {
		return h.CallID == it.CallID && h.Action != nil && truncate(protocol.JoinCommand(h.Action.Command)) == a.Command
	})
	if !ran {
		return
	}
	if decodeOutput(it).Output == wire.Aborted {
		c.decidedElsewhere(nil, protocol.Cancelled)
	} else {
		c.decidedElsewhere(nil, protocol.Allowed)
	}
}

// decodeOutput decodes the output of a call. Text that is no JSON is the output.
func decodeOutput(it *wire.Item) (out wire.CallOutput) {
	if it.Output != nil && json.Unmarshal([]byte(*it.Output), &out) != nil {
		return wire.CallOutput{Output: *it.Output}
	}
	return out
}

func (c *Conn) startPendingTurn() {
	if !c.startsAt.IsZero() {
		c.startTurn(c.takeNextSend(), "")
	}
}

// releaseItems records the items held back while a request was pending.
func (c *Conn) releaseItems() {
	held := c.state.heldItems
	c.state.heldItems = nil
	for i := range held {
		c.decodeItem(&held[i])
	}
}

// decodeItem records an item in the turn.
func (c *Conn) decodeItem(it *wire.Item) bool {
	switch it.Type {
	case wire.MessageItem:
		return c.decodeMessageItem(it)
	case wire.ReasoningItem:
		c.ensureTurn()
		c.closeParts("")
		c.addReasoning(it)
	case wire.CallItem, wire.ShellItem:
		c.ensureTurn()
		c.closeParts("")
		c.replayEarlier()
		c.turn.callCount++
		c.startCall(it)
	case wire.OutputItem, wire.ShellOutputItem:
		c.ensureTurn()
		c.closeParts("")
		c.endCall(it)
	default:
		return false
	}
	return true
}

// decodeMessageItem records a message: the agent's text, an echo of the user's message, or a
// warning.
func (c *Conn) decodeMessageItem(it *wire.Item) bool {
	text, plain := it.Content.Text()
	if !plain {
		return false
	}
	switch it.Role {
	case wire.Assistant:
		if c.explanation != nil && it.Status == "" { // an answer of the model has a status
			c.explanation.text = truncate(c.explanation.text + text)
			return true
		}
		c.ensureTurn()
		c.addText(it.ID, text)
	case wire.User:
		c.handleUserItem(text)
	case wire.System:
		if by, outcome, ok := wire.DecodeDecision(text); ok && len(c.log.State.Approvals) > 0 {
			c.decidedElsewhere(by, outcome)
			return true
		}
		if !c.handleWarning(it, text) {
			c.addNotice(text)
		}
	default:
		return false
	}
	return true
}

// handleUserItem records a message of role user in a turn: the echo of the turn's message, the
// reason of a denial, a message of the client that joins the turn, or words of the server or of
// another client to the agent.
func (c *Conn) handleUserItem(text string) {
	same := func(other string) bool { return wire.StripControls(other) == wire.StripControls(text) }
	t := c.turn
	switch {
	case t != nil && !t.echoed && same(t.text):
		t.echoed = true
	case t != nil && !t.echoed && c.queues(): // the echo came late: the turn began without its message
		t.echoed = true
		if s := c.takeSendByText(text); s != nil {
			c.acceptSend(s, &protocol.SendResult{
				Status: protocol.SendStarted, MessageID: t.message, Turn: t.id, Seq: t.first,
			})
			return
		}
		c.addNotice(text)
	case t != nil && t.told != "" && same(t.told):
		t.told = ""
	case t == nil || c.queues():
		c.addNotice(text)
	default:
		if s := c.takeSendByText(text); s != nil {
			c.joinTurn(s)
			return
		}
		c.addNotice("Told the agent: " + text)
	}
}

func (c *Conn) addNotice(text string) {
	c.add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelInfo, Message: truncate(text)})
}

// addText appends text to the part of an id. Text without an id is a part of its own.
func (c *Conn) addText(id, text string) {
	if id == "" {
		id = c.newID("p")
	}
	id = truncate(id)
	c.closeParts(id)
	if _, known := c.turn.parts[id]; !known {
		c.turn.parts[id] = true
		c.add(protocol.TextStart, protocol.PartStartData{Part: id})
	}
	for text = protocol.ValidText(text); text != ""; {
		now := text
		if room := c.replayEarlier(); room > 0 && room < len(text) {
			for room < len(text) && !utf8.RuneStart(text[room]) {
				room++
			}
			now = text[:room]
		}
		text = text[len(now):]
		c.turn.textBytes += len(now)
		for _, piece := range protocol.SplitText(now, protocol.MaxText) {
			c.add(protocol.TextDelta, protocol.PartDeltaData{Part: id, Text: piece})
		}
	}
}

// addReasoning records reasoning, which arrives whole.
func (c *Conn) addReasoning(it *wire.Item) {
	id := truncate(it.ID)
	if id == "" {
		id = c.newID("r")
	}
	text, _ := it.Content.Text()
	if text == "" {
		text, _ = it.Summary.Text()
	}
	c.add(protocol.ReasoningStart, protocol.PartStartData{Part: id})
	for _, piece := range protocol.SplitText(protocol.ValidText(text), protocol.MaxText) {
		if piece != "" {
			c.add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: id, Text: piece})
		}
	}
	c.add(protocol.ReasoningEnd, protocol.PartEndData{Part: id, DurationMS: roundNumber(it.DurationMS, 1)})
}

// roundNumber returns a JSON number times a factor, rounded and bounded; nil: 0.
func roundNumber(f *float64, factor float64) int64 {
	if f == nil {
		return 0
	}
	return int64(math.Round(max(0, min(*f*factor, 1<<53))))
}

// startCall records the start of a tool call.
func (c *Conn) startCall(it *wire.Item) {
	id := it.CallID
	if id == "" {
		id = it.ID
	}
	if id == "" {
		id = c.newID("call")
	}
	d := protocol.ToolStartedData{Tool: truncate(id), Name: truncate(it.Name), Kind: protocol.ToolOther}
	var argv []string
	if it.Type == wire.ShellItem {
		d.Name, d.Kind = wire.LocalShell, protocol.ToolExecute
		if it.Action != nil {
			argv = it.Action.Command
			d.Input = protocol.MustEncode(wire.Action{Command: argv})
		}
		c.turn.shellCalls = append(c.turn.shellCalls, d.Tool)
	} else if it.Arguments != nil {
		arguments := []byte(*it.Arguments)
		argv = wire.ArgvOf(arguments)
		if compact, ok := protocol.Compact(arguments); ok && len(bytes.TrimSpace(arguments)) > 0 {
			d.Input = compact
		} else {
			d.Input = protocol.MustEncode(protocol.ValidText(*it.Arguments))
		}
	}
	d.Title = d.Name
	if argv != nil {
		d.Kind, d.Title = protocol.ToolExecute, truncate(protocol.JoinCommand(argv))
	}
	if d.Name == wire.PatchTool || len(argv) > 0 && argv[0] == wire.PatchTool {
		d.Kind = protocol.ToolEdit
		if paths := wire.PatchPaths(strings.Join(argv, "\n")); paths != nil {
			d.Title = truncate(wire.PatchTool + " " + strings.Join(paths, " "))
		}
	}
	if len(d.Input) > protocol.MaxText {
		d.Input = protocol.MustEncode(truncate(string(d.Input)))
	}
	c.add(protocol.ToolStarted, d)
	if !slices.Contains(c.turn.calls, d.Tool) {
		c.turn.calls = append(c.turn.calls, d.Tool)
	}
	if len(c.turn.calls) > maxParts {
		oldest := c.turn.calls[0]
		c.closeCall(oldest, protocol.ToolEndedData{Tool: oldest, Status: protocol.ToolUnknown})
	}
}

// endCall records the output of a call, which ends it. Output of the local shell without a call id
// belongs to the oldest call.
func (c *Conn) endCall(it *wire.Item) {
	id := truncate(it.CallID)
	if id == "" && it.Type == wire.ShellOutputItem && len(c.turn.shellCalls) > 0 {
		id = c.turn.shellCalls[0]
	}
	if id == "" && it.ID != "" {
		id = truncate(it.ID)
	}
	if id == "" {
		id = c.newID("call")
	}
	if !slices.Contains(c.turn.calls, id) { // its start is missing
		c.add(protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Kind: protocol.ToolOther})
	}
	out := decodeOutput(it)
	end := protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted}
	end.ExitCode, end.DurationMS = out.Metadata.ExitCode, roundNumber(out.Metadata.Seconds, 1000)
	before, cancelled := strings.CutSuffix("\n"+out.Output, "\n"+wire.Aborted)
	switch {
	case cancelled && (end.ExitCode == nil || before == "" && !c.queues()): // a message aborts with exit code 1
		end.Status, end.ExitCode, out.Output = protocol.ToolCancelled, nil, strings.TrimPrefix(before, "\n")
	case end.ExitCode != nil && *end.ExitCode != 0:
		end.Status = protocol.ToolFailed
	}
	for _, piece := range protocol.SplitText(protocol.ValidText(out.Output), protocol.MaxText) {
		if piece != "" {
			c.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: piece})
		}
	}
	c.closeCall(id, end)
}

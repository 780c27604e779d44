package agentloop

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
)

// maxHeld bounds the shell calls that wait while a request is pending.
const maxHeld = 256

// response takes an item; false when it maps to nothing.
func (c *client) response(payload json.RawMessage) bool {
	var it item
	if payload == nil || json.Unmarshal(payload, &it) != nil {
		c.startUnnamed()
		return false
	}
	if !c.starts.IsZero() {
		if text, _ := it.Content.text(); it.Type == messageItem && it.Role == user {
			c.begin(c.named(text), text)
			return true
		}
		c.startUnnamed()
	}
	if c.turn != nil && (it.Role == assistant || it.Type != messageItem) {
		c.turn.fault = nil // it goes on
	}
	c.overtaken(&it)
	if it.isShell() && len(c.log.State.Approvals) > 0 && len(c.memory.held) < maxHeld {
		c.memory.held = append(c.memory.held, it)
		return true
	}
	return c.item(&it)
}

// overtaken ends a request that somebody else decided, where the server says so only by what the command gave.
func (c *client) overtaken(it *item) {
	if it.Type != outputItem && it.Type != shellOutputItem || it.CallID == "" || len(c.log.State.Approvals) == 0 || c.turn == nil {
		return
	}
	a := c.log.State.Approvals[0]
	if a.Command == "" { // a call without a title is not of it
		return
	}
	ran := slices.ContainsFunc(c.log.State.Turn.Tools, func(t protocol.OpenTool) bool {
		return t.Tool == clip(it.CallID) && t.Title == a.Command
	})
	ran = ran || slices.ContainsFunc(c.memory.held, func(h item) bool {
		return h.CallID == it.CallID && h.Action != nil && clip(join(h.Action.Command)) == a.Command
	})
	if !ran {
		return
	}
	if outputOf(it).Output == aborted {
		c.lost(nil, protocol.Cancelled)
	} else {
		c.lost(nil, protocol.Allowed)
	}
}

// outputOf reads what a call gave; raw output is output alone.
func outputOf(it *item) (out callOutput) {
	if it.Output != nil && json.Unmarshal([]byte(*it.Output), &out) != nil {
		return callOutput{Output: *it.Output}
	}
	return out
}

func (c *client) startUnnamed() {
	if !c.starts.IsZero() {
		c.begin(c.unnamed(), "")
	}
}

func (it *item) isShell() bool { return it.Type == shellItem || it.Type == shellOutputItem }

// release lets what was held back while a request was pending be seen, in order.
func (c *client) release() {
	held := c.memory.held
	c.memory.held = nil
	for i := range held {
		c.item(&held[i])
	}
}

// item takes an item into the turn.
func (c *client) item(it *item) bool {
	switch it.Type {
	case messageItem:
		return c.said(it)
	case reasoningItem:
		c.need()
		c.closeParts("")
		c.thought(it)
	case callItem, shellItem:
		c.need()
		c.closeParts("")
		c.recall()
		c.turn.called++
		c.called(it)
	case outputItem, shellOutputItem:
		c.need()
		c.closeParts("")
		c.output(it)
	default:
		return false
	}
	return true
}

// said takes a message: the agent's words, an echo of the user's, or a warning.
func (c *client) said(it *item) bool {
	text, plain := it.Content.text()
	if !plain {
		return false
	}
	switch it.Role {
	case assistant:
		if c.why != nil {
			c.why.text = clip(c.why.text + text)
			return true
		}
		c.need()
		c.speak(it.ID, text)
	case user:
		if t := c.turn; t != nil && !t.echoed && clean(t.text) == clean(text) {
			t.echoed = true
			return true
		}
		c.notice(protocol.LevelInfo, text)
	case system:
		if by, outcome, ok := decidedBy(text); ok && len(c.log.State.Approvals) > 0 {
			c.lost(by, outcome)
			return true
		}
		level := protocol.LevelInfo
		if warning := strings.TrimPrefix(text, "⚠️ "); warning != text {
			level, text = protocol.LevelWarning, warning
		}
		c.notice(level, text)
	default:
		return false
	}
	return true
}

func (c *client) notice(level, text string) {
	c.add(protocol.Notice, protocol.NoticeData{Level: level, Message: clip(text)})
}

// speak appends a chunk to the part of its id. One without an id stands alone.
func (c *client) speak(id, text string) {
	if id == "" {
		id = c.mint("p")
	}
	id = clip(id)
	c.closeParts(id)
	if _, known := c.turn.parts[id]; !known {
		c.turn.parts[id] = true
		c.add(protocol.TextStart, protocol.PartStartData{Part: id})
	}
	for text = protocol.ValidText(text); text != ""; {
		now := text
		if room := c.recall(); room > 0 && room < len(text) {
			for room < len(text) && !utf8.RuneStart(text[room]) {
				room++
			}
			now = text[:room]
		}
		text = text[len(now):]
		c.turn.said += len(now)
		for _, piece := range protocol.SplitText(now, protocol.MaxText) {
			c.add(protocol.TextDelta, protocol.PartDeltaData{Part: id, Text: piece})
		}
	}
}

// thought takes reasoning, which comes whole.
func (c *client) thought(it *item) {
	id := clip(it.ID)
	if id == "" {
		id = c.mint("r")
	}
	text, _ := it.Content.text()
	if text == "" {
		text, _ = it.Summary.text()
	}
	c.add(protocol.ReasoningStart, protocol.PartStartData{Part: id})
	for _, piece := range protocol.SplitText(protocol.ValidText(text), protocol.MaxText) {
		if piece != "" {
			c.add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: id, Text: piece})
		}
	}
	c.add(protocol.ReasoningEnd, protocol.PartEndData{Part: id, DurationMS: whole(it.DurationMS, 1)})
}

// whole is a number that came as any JSON number, times a factor, within bounds; absent: 0.
func whole(f *float64, factor float64) int64 {
	if f == nil {
		return 0
	}
	return int64(math.Round(max(0, min(*f*factor, 1<<53))))
}

// called takes the start of a tool call.
func (c *client) called(it *item) {
	id := it.CallID
	if id == "" {
		id = it.ID
	}
	if id == "" {
		id = c.mint("call")
	}
	d := protocol.ToolStartedData{Tool: clip(id), Name: clip(it.Name), Kind: protocol.ToolOther}
	var argv []string
	if it.Type == shellItem {
		d.Name, d.Kind = localShell, protocol.ToolExecute
		if it.Action != nil {
			argv = it.Action.Command
			d.Input = protocol.MustEncode(action{Command: argv})
		}
		c.turn.shells = append(c.turn.shells, d.Tool)
	} else if it.Arguments != nil {
		arguments := []byte(*it.Arguments)
		argv = argvOf(arguments)
		if compact, ok := protocol.Compact(arguments); ok && len(bytes.TrimSpace(arguments)) > 0 {
			d.Input = compact
		} else {
			d.Input = protocol.MustEncode(protocol.ValidText(*it.Arguments))
		}
	}
	switch {
	case d.Name == "apply_patch" || len(argv) > 0 && argv[0] == "apply_patch":
		d.Kind = protocol.ToolEdit
	case argv != nil:
		d.Kind = protocol.ToolExecute
	}
	d.Title = d.Name
	if argv != nil {
		d.Title = clip(join(argv))
	}
	if len(d.Input) > protocol.MaxText {
		d.Input = protocol.MustEncode(clip(string(d.Input)))
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

// output takes what a call gave, which ends it. Output of the local shell that names no call is of the oldest one.
func (c *client) output(it *item) {
	id := clip(it.CallID)
	if id == "" && it.Type == shellOutputItem && len(c.turn.shells) > 0 {
		id = c.turn.shells[0]
	}
	if id == "" && it.ID != "" {
		id = clip(it.ID)
	}
	if id == "" {
		id = c.mint("call")
	}
	if !slices.Contains(c.turn.calls, id) { // its start was not seen
		c.add(protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Kind: protocol.ToolOther})
	}
	out := outputOf(it)
	end := protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted}
	end.ExitCode, end.DurationMS = out.Metadata.ExitCode, whole(out.Metadata.Seconds, 1000)
	said, cancelled := strings.CutSuffix("\n"+out.Output, "\n"+aborted)
	switch {
	case cancelled && end.ExitCode == nil:
		end.Status, out.Output = protocol.ToolCancelled, strings.TrimPrefix(said, "\n")
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

package client

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// maxHeld bounds the shell calls held back while a request is pending.
const maxHeld = 256

// hold holds back an item of the local shell while a request is pending, and reports whether it did.
func (t *turns) hold(st *protocol.State, it *wire.Item) bool {
	if !it.IsShell() || len(st.Approvals) == 0 || len(t.heldItems) >= maxHeld {
		return false
	}
	t.heldItems = append(t.heldItems, *it)
	return true
}

// releaseItems records the items held back while a request was pending.
func (t *turns) releaseItems() (events []codec.Entry) {
	held := t.heldItems
	t.heldItems = nil
	for i := range held {
		events = append(events, t.call(&held[i])...)
	}
	return events
}

// decidedByOutput reports whether an item is the output of the command that the pending request is
// about: another user decided it.
func (t *turns) decidedByOutput(st *protocol.State, it *wire.Item) (outcome protocol.Outcome, ok bool) {
	if it.Type != wire.OutputItem && it.Type != wire.ShellOutputItem || it.CallID == "" || len(st.Approvals) == 0 ||
		st.Turn == nil {
		return "", false
	}
	a := st.Approvals[0]
	if a.Command == "" { // a call without a title does not match
		return "", false
	}
	ran := slices.ContainsFunc(st.Turn.Tools, func(open protocol.OpenTool) bool {
		return open.Tool == truncate(it.CallID) && open.Title == a.Command
	})
	ran = ran || slices.ContainsFunc(t.heldItems, func(h wire.Item) bool {
		return h.CallID == it.CallID && h.Action != nil && truncate(protocol.JoinCommand(h.Action.Command)) == a.Command
	})
	if ran && decodeOutput(it).Output == wire.Aborted {
		return protocol.Cancelled, true
	}
	return protocol.Allowed, ran
}

// decodeOutput decodes the output of a call. Text that is not JSON is the output itself.
func decodeOutput(it *wire.Item) (out wire.CallOutput) {
	if it.Output != nil && json.Unmarshal([]byte(*it.Output), &out) != nil {
		return wire.CallOutput{Output: *it.Output}
	}
	return out
}

// roundNumber returns a JSON number times a factor, rounded and bounded; nil: 0.
func roundNumber(f *float64, factor float64) int64 {
	if f == nil {
		return 0
	}
	return int64(math.Round(max(0, min(*f*factor, 1<<53))))
}

// call records the start of a tool call, or its output.
func (t *turns) call(it *wire.Item) []codec.Entry {
	if it.Type == wire.OutputItem || it.Type == wire.ShellOutputItem {
		return append(t.closeParts(""), t.endCall(it)...)
	}
	events := t.proceed()
	t.current.callCount++
	return append(events, t.startCall(it)...)
}

// startCall records the start of a tool call.
func (t *turns) startCall(it *wire.Item) []codec.Entry {
	id := it.CallID
	if id == "" {
		id = it.ID
	}
	if id == "" {
		id = t.newID("call")
	}
	d := protocol.ToolStartedData{Tool: truncate(id), Name: truncate(it.Name), Kind: protocol.ToolOther}
	var argv []string
	if it.Type == wire.ShellItem {
		d.Name, d.Kind = wire.LocalShell, protocol.ToolExecute
		if it.Action != nil {
			argv = it.Action.Command
			d.Input = protocol.MustEncode(wire.Action{Command: argv})
		}
		t.current.shellCalls = append(t.current.shellCalls, d.Tool)
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
	events := []codec.Entry{t.event(protocol.ToolStarted, d)}
	if !slices.Contains(t.current.calls, d.Tool) {
		t.current.calls = append(t.current.calls, d.Tool)
	}
	if len(t.current.calls) > maxParts {
		oldest := protocol.ToolEndedData{Tool: t.current.calls[0], Status: protocol.ToolUnknown}
		events = append(events, t.closeCall(oldest))
	}
	return events
}

// endCall records the output of a call, which ends it. Output of the local shell without a call id
// belongs to the oldest call.
func (t *turns) endCall(it *wire.Item) (events []codec.Entry) {
	id := truncate(it.CallID)
	if id == "" && it.Type == wire.ShellOutputItem && len(t.current.shellCalls) > 0 {
		id = t.current.shellCalls[0]
	}
	if id == "" && it.ID != "" {
		id = truncate(it.ID)
	}
	if id == "" {
		id = t.newID("call")
	}
	if !slices.Contains(t.current.calls, id) { // its start is missing
		started := protocol.ToolStartedData{Tool: id, Kind: protocol.ToolOther}
		events = append(events, t.event(protocol.ToolStarted, started))
	}
	out := decodeOutput(it)
	end := protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted}
	end.ExitCode, end.DurationMS = out.Metadata.ExitCode, roundNumber(out.Metadata.Seconds, 1000)
	before, cancelled := strings.CutSuffix("\n"+out.Output, "\n"+wire.Aborted)
	switch {
	case cancelled && (end.ExitCode == nil || before == "" && !t.queues): // a message aborts with exit code 1
		end.Status, end.ExitCode, out.Output = protocol.ToolCancelled, nil, strings.TrimPrefix(before, "\n")
	case end.ExitCode != nil && *end.ExitCode != 0:
		end.Status = protocol.ToolFailed
	}
	for _, piece := range protocol.SplitText(protocol.ValidText(out.Output), protocol.MaxText) {
		if piece != "" {
			events = append(events, t.event(protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: piece}))
		}
	}
	return append(events, t.closeCall(end))
}

// closeCall ends an open call.
func (t *turns) closeCall(d protocol.ToolEndedData) codec.Entry {
	same := func(open string) bool { return open == d.Tool }
	t.current.calls = slices.DeleteFunc(t.current.calls, same)
	t.current.shellCalls = slices.DeleteFunc(t.current.shellCalls, same)
	return t.event(protocol.ToolEnded, d)
}

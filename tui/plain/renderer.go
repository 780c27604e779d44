package plain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// maxLine is how much of a line without an end is kept before it is told.
const maxLine = 16 << 10

// renderer puts a session into lines. It keeps the fold, so that it can name
// what a line is about.
type renderer struct {
	zone  *time.Location
	out   strings.Builder
	conn  remote.Conn
	state *protocol.State

	caughtUp  bool
	absence   describe.Away
	nameDue   bool                    // who the session is was not told yet
	statusDue bool                    // nor what it does now
	parts     []*partBuffer           // that speak, in the order they began
	tools     map[string]*runningTool // by call, while it runs
	rendered  []string                // turns that were told to their end, the newest last
}

// maxRendered bounds the turns that are known to have been told.
const maxRendered = 4 * recentTurns

// partBuffer is text that grows: whole lines are told.
type partBuffer struct {
	part    string
	name    string
	cleaner transcript.Cleaner
	rest    string
}

// runningTool is a tool call that runs.
type runningTool struct {
	title  string
	output *transcript.Text
}

func newRenderer(zone *time.Location) *renderer {
	return &renderer{zone: zone, conn: remote.Conn{State: remote.Connecting}, state: &protocol.State{}, tools: map[string]*runningTool{}}
}

// flush writes what was told since the last flush.
func (n *renderer) flush(w io.StringWriter) {
	// A failed write shows at the writer's own flush.
	_, _ = w.WriteString(n.out.String())
	n.out.Reset()
}

// over tells that nothing more will come.
func (n *renderer) over() bool { return n.caughtUp && n.state.Closed }

// line tells one thing; more lines of it are indented.
func (n *renderer) line(format string, args ...any) {
	s := strings.TrimRight(transcript.Clean(fmt.Sprintf(format, args...)), "\n")
	if s != "" {
		n.out.WriteString(strings.ReplaceAll(s, "\n", "\n  ") + "\n")
	}
}

func (n *renderer) update(u remote.Update) {
	switch {
	case u.Conn != nil:
		n.setConn(*u.Conn)
	case u.Attached != nil:
		n.attached(u.Attached)
	case u.Event != nil:
		n.live(u.Event)
	}
}

// past tells the finished turns that were not told.
func (n *renderer) past(page *protocol.HistoryResult) {
	told := slices.Clone(n.rendered)
	for _, raw := range page.Events {
		var e protocol.Event
		if json.Unmarshal(raw, &e) == nil && (len(told) == 0 || e.Turn != "") && !slices.Contains(told, e.Turn) {
			n.event(&e)
		}
	}
}

func (n *renderer) live(e *protocol.Event) {
	if e.Type == protocol.CaughtUp {
		n.caughtUpNow()
	}
	if !e.Durable() {
		return
	}
	n.absence.Apply(e)
	if err := n.state.Apply(e); err != nil {
		n.line("%s", err)
		return
	}
	if e.Type == protocol.SessionCreated {
		n.introduce()
	}
	n.event(e)
}

func (n *renderer) event(e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		d := remote.DecodeData[protocol.MessageUserData](e.Data)
		by := d.By
		if by == nil {
			by = e.By
		}
		if d.Text != "" || len(d.Parts) > 0 || by != nil { // else it stands for what somebody else asked
			n.line("%s %s: %s", e.Time.In(n.zone).Format("15:04"), remote.ActorName(by), d.Text)
		}
	case protocol.TextStart, protocol.TextDelta, protocol.TextEnd:
		n.text(e)
	case protocol.ReasoningEnd:
		n.line("agent thought")
	case protocol.JoinedDeltas:
		for _, p := range remote.DecodeData[protocol.JoinedData](e.Data).Parts {
			switch p.Kind {
			case protocol.KindText:
				n.partBuffer(p.Part, "").append(n, p.Text)
			case protocol.KindOutput:
				n.call(p.Part).output.Append(p.Text)
			}
		}
	case protocol.ToolStarted, protocol.ToolOutput, protocol.ToolEnded:
		n.tool(e)
	case protocol.ApprovalRequested:
		n.flushParts()
		n.approval(remote.DecodeData[protocol.Approval](e.Data))
	case protocol.ApprovalExplained:
		d := remote.DecodeData[protocol.ApprovalExplainedData](e.Data)
		n.line("approval %s explained: %s", d.Request, d.Text)
	case protocol.ApprovalResolved:
		d := remote.DecodeData[protocol.ApprovalResolvedData](e.Data)
		n.line("approval %s: %s", d.Request, describe.Outcome(d, e.By))
	case protocol.TurnEnded:
		n.endTurn()
		n.rendered = append(n.rendered[max(0, len(n.rendered)-maxRendered+1):], e.Turn)
		d := remote.DecodeData[protocol.TurnEndedData](e.Data)
		n.line("turn %s%s after %s%s", d.Reason, describe.By(e.By), ui.Duration(ui.Millis(d.DurationMS)), ui.Prefixed(": ", d.Message))
	case protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased:
		n.queue(e)
	default:
		if text, _, ok := describe.Event(e.Type, e.Data); ok {
			n.line("%s", text)
		}
	}
}

func (n *renderer) queue(e *protocol.Event) {
	switch e.Type {
	case protocol.QueueAdded:
		d := remote.DecodeData[protocol.QueueAddedData](e.Data)
		place := ""
		if i := n.state.QueueIndex(d.MessageID); i >= 0 {
			place = " " + describe.Ordinal(i+1)
		}
		n.line("queued%s: %s: %s", place, remote.ActorName(d.By), d.Text)
	case protocol.QueueUpdated:
		n.line("queued message edited by %s: %s", remote.ActorName(e.By), remote.DecodeData[protocol.QueueUpdatedData](e.Data).Text)
	case protocol.QueueRemoved:
		if d := remote.DecodeData[protocol.QueueRemovedData](e.Data); d.Reason != protocol.RemovedStarted {
			n.line("queued message %s by %s", d.Reason, remote.ActorName(e.By))
		}
	case protocol.QueueMoved:
		n.line("queued message moved to %d by %s", remote.DecodeData[protocol.QueueMovedData](e.Data).Index+1, remote.ActorName(e.By))
	case protocol.QueueHeld:
		n.line("queue %s", describe.Hold(remote.DecodeData[protocol.Hold](e.Data)))
	case protocol.QueueReleased:
		n.line("queue released")
	}
}

func (n *renderer) text(e *protocol.Event) {
	switch e.Type {
	case protocol.TextStart:
		d := remote.DecodeData[protocol.PartStartData](e.Data)
		n.partBuffer(d.Part, d.Agent)
	case protocol.TextDelta:
		d := remote.DecodeData[protocol.PartDeltaData](e.Data)
		n.partBuffer(d.Part, "").append(n, d.Text)
	case protocol.TextEnd:
		n.endPart(remote.DecodeData[protocol.PartEndData](e.Data).Part)
	}
}

func (n *renderer) partBuffer(part, name string) *partBuffer {
	i := n.partIndex(part)
	if i < 0 {
		i = len(n.parts)
		n.parts = append(n.parts, &partBuffer{part: part, name: "agent"})
	}
	v := n.parts[i]
	v.name = cmp.Or(name, v.name)
	return v
}

// partIndex is the index of a part's voice, or -1.
func (n *renderer) partIndex(part string) int {
	return slices.IndexFunc(n.parts, func(v *partBuffer) bool { return v.part == part })
}

// append tells the lines that are whole by now.
func (v *partBuffer) append(n *renderer, text string) {
	v.rest += v.cleaner.Clean(text)
	for {
		line, rest, whole := strings.Cut(v.rest, "\n")
		if !whole {
			break
		}
		v.flushLine(n, line)
		v.rest = rest
	}
	if len(v.rest) > maxLine {
		v.flushLine(n, v.rest)
		v.rest = ""
	}
}

func (v *partBuffer) flushLine(n *renderer, line string) {
	if strings.TrimSpace(line) != "" {
		n.line("%s: %s", v.name, line)
	}
}

func (n *renderer) endPart(part string) {
	if i := n.partIndex(part); i >= 0 {
		n.parts[i].flushLine(n, n.parts[i].rest)
		n.parts = slices.Delete(n.parts, i, i+1)
	}
}

// flushParts tells what was said so far, before something else is told.
func (n *renderer) flushParts() {
	for _, v := range n.parts {
		v.flushLine(n, v.rest)
		v.rest = ""
	}
}

// endTurn ends what is open when a turn ends.
func (n *renderer) endTurn() {
	n.flushParts()
	n.parts = nil
	clear(n.tools)
}

func (n *renderer) call(id string) *runningTool {
	c := n.tools[id]
	if c == nil {
		c = &runningTool{title: id, output: transcript.NewTerminalOutput()}
		n.tools[id] = c
	}
	return c
}

func (n *renderer) tool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		d := remote.DecodeData[protocol.ToolStartedData](e.Data)
		_, known := n.tools[d.Tool]
		c := n.call(d.Tool)
		if title := strings.TrimSpace(d.Name + " " + d.Title); title != "" {
			c.title = title
		}
		if !known {
			n.flushParts()
			n.line("tool %s", c.title)
		}
	case protocol.ToolOutput:
		d := remote.DecodeData[protocol.ToolOutputData](e.Data)
		c := n.call(d.Tool)
		if d.Replace {
			c.output = transcript.NewTerminalOutput()
		}
		c.output.Append(d.Text)
		for i := range d.Content {
			c.output.Append(describe.Content(&d.Content[i]))
		}
	case protocol.ToolEnded:
		d := remote.DecodeData[protocol.ToolEndedData](e.Data)
		c := n.call(d.Tool)
		delete(n.tools, d.Tool)
		const width = 200
		tail, hidden := c.output.Tail(width, transcriptview.TailLines)
		if hidden > 0 {
			tail = append([]string{fmt.Sprintf("(%s before)", ui.Count(hidden, "line"))}, tail...)
		}
		for _, line := range tail {
			n.line("  | %s", transcript.StripStyles(line))
		}
		exit := ""
		if d.ExitCode != nil && *d.ExitCode != 0 {
			exit = fmt.Sprintf(" with exit code %d", *d.ExitCode)
		}
		n.line("tool %s: %s%s%s", c.title, d.Status, exit, ui.Prefixed(": ", d.Error))
	}
}

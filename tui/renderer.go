package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/tui/remote"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// lineMax is how much of a line without an end is kept before it is told.
const lineMax = 16 << 10

// narrator puts a session into lines. It keeps the fold, so that it can name
// what a line is about.
type narrator struct {
	zone  *time.Location
	out   strings.Builder
	link  remote.Conn
	state *protocol.State

	caughtUp bool
	absence  absence
	unnamed  bool             // who the session is was not told yet
	standing bool             // nor what it does now
	voices   []*voice         // that speak, in the order they began
	tools    map[string]*call // by call, while it runs
	told     []string         // turns that were told to their end, the newest last
}

// toldMax bounds the turns that are known to have been told.
const toldMax = 4 * recentTurns

// voice is text that grows: whole lines are told.
type voice struct {
	part    string
	name    string
	cleaner transcript.Cleaner
	rest    string
}

// call is a tool call that runs.
type call struct {
	title  string
	output *transcript.Text
}

func newNarrator(zone *time.Location) *narrator {
	return &narrator{zone: zone, link: remote.Conn{State: remote.Connecting}, state: &protocol.State{}, tools: map[string]*call{}}
}

// flush writes what was told since the last flush.
func (n *narrator) flush(w io.StringWriter) {
	// A failed write shows at the writer's own flush.
	_, _ = w.WriteString(n.out.String())
	n.out.Reset()
}

// over tells that nothing more will come.
func (n *narrator) over() bool { return n.caughtUp && n.state.Closed }

// line tells one thing; more lines of it are indented.
func (n *narrator) line(format string, args ...any) {
	s := strings.TrimRight(transcript.Clean(fmt.Sprintf(format, args...)), "\n")
	if s != "" {
		n.out.WriteString(strings.ReplaceAll(s, "\n", "\n  ") + "\n")
	}
}

func (n *narrator) update(u remote.Update) {
	switch {
	case u.Conn != nil:
		n.linked(*u.Conn)
	case u.Attached != nil:
		n.attached(u.Attached)
	case u.Event != nil:
		n.live(u.Event)
	}
}

// past tells the finished turns that were not told.
func (n *narrator) past(page *protocol.HistoryResult) {
	told := slices.Clone(n.told)
	for _, raw := range page.Events {
		var e protocol.Event
		if json.Unmarshal(raw, &e) == nil && (len(told) == 0 || e.Turn != "") && !slices.Contains(told, e.Turn) {
			n.event(&e)
		}
	}
}

func (n *narrator) live(e *protocol.Event) {
	if e.Type == protocol.CaughtUp {
		n.arrived()
	}
	if !e.Durable() {
		return
	}
	n.absence.saw(e)
	if err := n.state.Apply(e); err != nil {
		n.line("%s", err)
		return
	}
	if e.Type == protocol.SessionCreated {
		n.introduce()
	}
	n.event(e)
}

func (n *narrator) event(e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		d := decode[protocol.MessageUserData](e.Data)
		by := d.By
		if by == nil {
			by = e.By
		}
		if d.Text != "" || len(d.Parts) > 0 || by != nil { // else it stands for what somebody else asked
			n.line("%s %s: %s", e.Time.In(n.zone).Format("15:04"), remote.ActorName(by), d.Text)
		}
	case protocol.TextStart, protocol.TextDelta, protocol.TextEnd:
		n.says(e)
	case protocol.ReasoningEnd:
		n.line("agent thought")
	case protocol.JoinedDeltas:
		for _, p := range decode[protocol.JoinedData](e.Data).Parts {
			switch p.Kind {
			case protocol.KindText:
				n.voice(p.Part, "").hear(n, p.Text)
			case protocol.KindOutput:
				n.call(p.Part).output.Append(p.Text)
			}
		}
	case protocol.ToolStarted, protocol.ToolOutput, protocol.ToolEnded:
		n.tool(e)
	case protocol.ApprovalRequested:
		n.pause()
		n.asks(decode[protocol.Approval](e.Data))
	case protocol.ApprovalExplained:
		d := decode[protocol.ApprovalExplainedData](e.Data)
		n.line("approval %s explained: %s", d.Request, d.Text)
	case protocol.ApprovalResolved:
		d := decode[protocol.ApprovalResolvedData](e.Data)
		n.line("approval %s: %s", d.Request, outcome(d, e.By))
	case protocol.TurnEnded:
		n.hush()
		n.told = append(n.told[max(0, len(n.told)-toldMax+1):], e.Turn)
		d := decode[protocol.TurnEndedData](e.Data)
		n.line("turn %s%s after %s%s", d.Reason, byWhom(e.By), Duration(Millis(d.DurationMS)), because(d.Message))
	case protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld, protocol.QueueReleased:
		n.queue(e)
	default:
		if text, _, ok := Event(e.Type, e.Data); ok {
			n.line("%s", text)
		}
	}
}

func (n *narrator) queue(e *protocol.Event) {
	switch e.Type {
	case protocol.QueueAdded:
		d := decode[protocol.QueueAddedData](e.Data)
		place := ""
		if i := n.state.QueueIndex(d.MessageID); i >= 0 {
			place = " " + ordinal(i+1)
		}
		n.line("queued%s: %s: %s", place, remote.ActorName(d.By), d.Text)
	case protocol.QueueUpdated:
		n.line("queued message edited by %s: %s", remote.ActorName(e.By), decode[protocol.QueueUpdatedData](e.Data).Text)
	case protocol.QueueRemoved:
		if d := decode[protocol.QueueRemovedData](e.Data); d.Reason != protocol.RemovedStarted {
			n.line("queued message %s by %s", d.Reason, remote.ActorName(e.By))
		}
	case protocol.QueueMoved:
		n.line("queued message moved to %d by %s", decode[protocol.QueueMovedData](e.Data).Index+1, remote.ActorName(e.By))
	case protocol.QueueHeld:
		n.line("queue %s", holdText(decode[protocol.Hold](e.Data)))
	case protocol.QueueReleased:
		n.line("queue released")
	}
}

func (n *narrator) says(e *protocol.Event) {
	switch e.Type {
	case protocol.TextStart:
		d := decode[protocol.PartStartData](e.Data)
		n.voice(d.Part, d.Agent)
	case protocol.TextDelta:
		d := decode[protocol.PartDeltaData](e.Data)
		n.voice(d.Part, "").hear(n, d.Text)
	case protocol.TextEnd:
		n.silence(decode[protocol.PartEndData](e.Data).Part)
	}
}

func (n *narrator) voice(part, name string) *voice {
	i := n.speaks(part)
	if i < 0 {
		i = len(n.voices)
		n.voices = append(n.voices, &voice{part: part, name: "agent"})
	}
	v := n.voices[i]
	v.name = cmp.Or(name, v.name)
	return v
}

// speaks is the index of a part's voice, or -1.
func (n *narrator) speaks(part string) int {
	return slices.IndexFunc(n.voices, func(v *voice) bool { return v.part == part })
}

// hear tells the lines that are whole by now.
func (v *voice) hear(n *narrator, text string) {
	v.rest += v.cleaner.Clean(text)
	for {
		line, rest, whole := strings.Cut(v.rest, "\n")
		if !whole {
			break
		}
		v.tell(n, line)
		v.rest = rest
	}
	if len(v.rest) > lineMax {
		v.tell(n, v.rest)
		v.rest = ""
	}
}

func (v *voice) tell(n *narrator, line string) {
	if strings.TrimSpace(line) != "" {
		n.line("%s: %s", v.name, line)
	}
}

func (n *narrator) silence(part string) {
	if i := n.speaks(part); i >= 0 {
		n.voices[i].tell(n, n.voices[i].rest)
		n.voices = slices.Delete(n.voices, i, i+1)
	}
}

// pause tells what was said so far, before something else is told.
func (n *narrator) pause() {
	for _, v := range n.voices {
		v.tell(n, v.rest)
		v.rest = ""
	}
}

// hush ends what is open when a turn ends.
func (n *narrator) hush() {
	n.pause()
	n.voices = nil
	clear(n.tools)
}

func (n *narrator) call(id string) *call {
	c := n.tools[id]
	if c == nil {
		c = &call{title: id, output: transcript.NewTerminalOutput()}
		n.tools[id] = c
	}
	return c
}

func (n *narrator) tool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		d := decode[protocol.ToolStartedData](e.Data)
		_, known := n.tools[d.Tool]
		c := n.call(d.Tool)
		if title := strings.TrimSpace(d.Name + " " + d.Title); title != "" {
			c.title = title
		}
		if !known {
			n.pause()
			n.line("tool %s", c.title)
		}
	case protocol.ToolOutput:
		d := decode[protocol.ToolOutputData](e.Data)
		c := n.call(d.Tool)
		if d.Replace {
			c.output = transcript.NewTerminalOutput()
		}
		c.output.Append(d.Text)
		for i := range d.Content {
			c.output.Append(contentText(&d.Content[i]))
		}
	case protocol.ToolEnded:
		d := decode[protocol.ToolEndedData](e.Data)
		c := n.call(d.Tool)
		delete(n.tools, d.Tool)
		const width = 200
		tail, hidden := c.output.Tail(width, tailLines)
		if hidden > 0 {
			tail = append([]string{fmt.Sprintf("(%s before)", Count(hidden, "line"))}, tail...)
		}
		for _, line := range tail {
			n.line("  | %s", transcript.StripStyles(line))
		}
		exit := ""
		if d.ExitCode != nil && *d.ExitCode != 0 {
			exit = fmt.Sprintf(" with exit code %d", *d.ExitCode)
		}
		n.line("tool %s: %s%s%s", c.title, d.Status, exit, because(d.Error))
	}
}

package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/output"
	"agentctl/server/session/record"
)

// An Event is an event of a finished turn, or of the conversation between turns, in an exported
// state: messages, actions and decisions. Deltas are joined. Rules, the environment, the queue and
// its holds, settings and foreign messages are not carried.
type Event struct {
	Turn   string          `json:"turn,omitempty"`
	Task   string          `json:"task,omitempty"`
	Parent string          `json:"parent,omitempty"`
	Time   time.Time       `json:"time"`
	Type   protocol.Type   `json:"type"`
	By     *protocol.Actor `json:"by,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// newEvent returns an event as an exported state carries it, or nil if it does not.
func newEvent(e *protocol.Event) (*Event, error) {
	if row := protocol.EventTypeOf(e.Type); row == nil || !row.Exported || e.Turn == "" && !row.Outside {
		return nil, nil
	}
	p := &Event{
		Turn: e.Turn, Task: e.Task, Parent: e.Parent, Time: e.Time, Type: e.Type, By: e.By, Data: e.Data,
	}
	data, err := p.decode()
	if err != nil {
		return nil, err
	}
	p.Data, err = record.Encode(data)
	return p, err
}

// decode decodes the event's data into the type of its event, without fields that a state does not
// carry.
func (p *Event) decode() (any, error) {
	row := protocol.EventTypeOf(p.Type)
	if row == nil || !row.Exported {
		return nil, fmt.Errorf("a state carries no %.80q", string(p.Type))
	}
	data := row.New()
	if len(p.Data) > 0 {
		if err := json.Unmarshal(output.ReplaceTextBlobs(p.Data, notCarried), data); err != nil {
			return nil, fmt.Errorf("data of %s: %w", p.Type, err)
		}
	}
	switch d := data.(type) {
	case *protocol.MessageUserData:
		leaveOutBlobs(d.Parts)
	case *protocol.MessageSteeredData:
		leaveOutBlobs(d.Parts)
	case *protocol.TextContentData:
		withoutBlob(&d.Content)
	case *protocol.ToolOutputData:
		withoutBlobs(d.Content)
	case *protocol.ToolEndedData:
		var in struct {
			Blob  string `json:"blob"`
			Bytes int64  `json:"bytes"`
		}
		if bytes.HasPrefix(d.Output, []byte(`{"blob":"b_`)) && json.Unmarshal(d.Output, &in) == nil {
			d.Output = protocol.MustEncode(leftOut(fmt.Sprintf("%d bytes", in.Bytes)))
		}
	case *protocol.Approval:
		withoutBlobs(d.Content)
	case *protocol.ApprovalResolvedData:
		d.Rule = nil
	}
	return data, nil
}

// notCarried is said of bytes that a state does not carry.
const notCarried = "not in the exported state"

// leftOut returns the name of a content whose bytes a state does not carry.
func leftOut(name string) string {
	const note = "(" + notCarried + ")"
	if name == "" {
		return note
	}
	return name + " " + note
}

func leaveOutBlobs(parts []protocol.Part) {
	for i := range parts {
		if p := &parts[i]; p.Blob != "" {
			p.Name, p.Blob = leftOut(p.Name), ""
		}
	}
}

func withoutBlobs(list []protocol.Content) {
	for i := range list {
		withoutBlob(&list[i])
	}
}

// withoutBlob removes the name of a content's blob. A blob of data that the content has itself is
// made again when the state is restored.
func withoutBlob(c *protocol.Content) {
	if c.Blob == "" {
		return
	}
	c.Blob = ""
	if len(c.Data) == 0 {
		if c.Name == "" && c.Path != "" {
			c.Name = strings.TrimSpace(strings.TrimPrefix(c.Label(), c.Type))
		}
		c.Name = leftOut(c.Name)
	}
}

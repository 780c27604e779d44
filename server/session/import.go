package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// An importedPast is the past of an imported session.
type importedPast struct {
	entries []eventlog.Entry
	notice  string // tells what was imported
}

// importLog makes a new session with the past of a log. Nothing proves who wrote the log, so its
// actors are marked and have no subject, and it carries neither rules nor memory of the agent.
func (h *Hub) importLog(cmd *command, d *protocol.ImportData) error {
	past, err := readImported(d)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidMessage, "the events cannot be imported: %v", err)
	}
	return h.create(cmd, &d.CreateData, past)
}

// importMark follows the names of actors in imported events.
const importMark = " (imported)"

// readImported checks the events of an import. Types that an exported state does not carry are left
// out.
func readImported(d *protocol.ImportData) (*importedPast, error) {
	var events []pastEvent
	source, turns := "", 0
	for i, raw := range d.Events {
		var e protocol.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		p, err := newPastEvent(&e)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		if p == nil {
			continue
		}
		if p.By != nil {
			p.By = &protocol.Actor{Name: strings.TrimSuffix(p.By.Name, importMark) + importMark}
		}
		events = append(events, *p)
		if e.Type == protocol.TurnEnded {
			turns++
		}
		source = e.Session
	}
	switch entries, err := checkPast(events, nil); {
	case err != nil:
		return nil, err
	case turns == 0:
		return nil, fmt.Errorf("they have no finished turn")
	case d.LeftOut < 0:
		return nil, fmt.Errorf("left_out: want 0 or more")
	default:
		return &importedPast{entries, importNotice(source, turns, d.LeftOut)}, nil
	}
}

// importNotice tells what was imported, and what nothing proves.
func importNotice(source string, turns, leftOut int) string {
	of := "a log"
	if source != "" {
		of = fmt.Sprintf("the log of session %.40s", protocol.ValidText(source))
	}
	text := fmt.Sprintf("imported %d turns of %s; its authors, times and decisions are as told in it", turns, of)
	if turns == 1 {
		text = strings.Replace(text, "1 turns", "1 turn", 1)
	}
	if leftOut > 0 {
		text += fmt.Sprintf("; %d earlier turns are not in it", leftOut)
	}
	return text
}

// The text around the imported past in the first message to an agent.
const (
	maxImported  = 64 << 10 // bytes
	importedHead = "[This session continues an imported conversation. Its transcript so far:]"
	importedTail = "[End of the transcript. The new message of the user:]"
)

// addImported puts the imported past before a message. A command of the agent goes alone. It
// reports whether the message has the past. It is called off the session's goroutine.
func (s *Session) addImported(ctx context.Context, m *protocol.Message) (bool, error) {
	if strings.HasPrefix(m.Text, "/") {
		return false, nil
	}
	text, err := (&host{s: s}).Transcript(ctx, maxImported)
	if err != nil || text == "" {
		return false, err
	}
	m.Text = strings.Join([]string{importedHead, text, importedTail, m.Text}, "\n\n")
	return true, nil
}

package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// importMark follows the names of actors in imported events.
const importMark = " (imported)"

// Import returns the past of a session that by makes from a log. Nothing proves who wrote the log, so
// its actors are marked and have no subject, and it carries neither rules nor memory of the agent.
// Types that an exported state does not carry are left out. The error has the code invalid_message.
func Import(d *protocol.ImportData, by *protocol.Actor) (*Past, error) {
	turns, notice, err := readLog(d)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "the events cannot be imported: %v", err)
	}
	return &Past{
		Origin: []record.Event{{
			Type: protocol.Notice, By: by, Data: protocol.NoticeData{Level: protocol.LevelInfo, Message: notice},
		}},
		Turns: turns,
	}, nil
}

// readLog checks the events of an import. notice describes the import.
func readLog(d *protocol.ImportData) (entries []eventlog.Entry, notice string, err error) {
	var events []Event
	source, own := "", ownRequests{}
	for i, raw := range d.Events {
		var e protocol.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, "", fmt.Errorf("event %d: %w", i+1, err)
		}
		p, err := newEvent(&e)
		if err != nil {
			return nil, "", fmt.Errorf("event %d: %w", i+1, err)
		}
		if p == nil || !own.carry(e.Session, p) {
			continue
		}
		if p.By != nil {
			p.By = &protocol.Actor{Name: strings.TrimSuffix(p.By.Name, importMark) + importMark}
		}
		events = append(events, *p)
		source = e.Session
	}
	turns := finished(events)
	switch entries, err = check(renamed(events, nil), nil); {
	case err != nil:
	case turns == 0:
		err = errors.New("they have no finished turn")
	case d.LeftOut < 0:
		err = errors.New("left_out: want 0 or more")
	}
	return entries, importNotice(source, turns, d.LeftOut), err
}

// importNotice describes an import, and states what is not verified.
func importNotice(source string, turns, leftOut int) string {
	of := "a log"
	if source != "" {
		of = fmt.Sprintf("the log of session %.40s", protocol.ValidText(source))
	}
	text := fmt.Sprintf("imported %d turns of %s; its authors, times and decisions are not verified", turns, of)
	if turns == 1 {
		text = strings.Replace(text, "1 turns", "1 turn", 1)
	}
	if leftOut > 0 {
		text += fmt.Sprintf("; %d earlier turns are not in it", leftOut)
	}
	return text
}

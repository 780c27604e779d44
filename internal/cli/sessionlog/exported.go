package sessionlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"agentctl/protocol"
)

// MaxImport bounds the events of an import in bytes: they fit one message.
const MaxImport = 768 << 10

// An Exported is an exported log, without its older turns if it is long.
type Exported struct {
	Created    protocol.SessionCreatedData // of the session
	Turns      []logTurn
	bytes      int // of the turns
	LeftOut    int // finished turns before them
	Unfinished bool

	open logTurn // events since the last finished turn
}

// logTurn is a finished turn, and the events of the conversation before it.
type logTurn struct {
	events []json.RawMessage
	bytes  int
	begun  bool // it has its message
}

// ReadExported reads JSON lines as "agentctl export --format jsonl" writes them.
func ReadExported(b []byte) (*Exported, error) {
	log, n := new(Exported), 0
	for line := range bytes.Lines(b) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := log.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	log.Unfinished = log.open.begun
	switch {
	case n == 0:
		return nil, errors.New("it is empty")
	case len(log.Turns) == 0:
		return nil, errors.New("it has no finished turn")
	case log.bytes > MaxImport:
		return nil, fmt.Errorf("its last turn has %d KiB, more than the %d of an import", log.bytes>>10, MaxImport>>10)
	}
	return log, nil
}

// add adds a line. A turn of which the log lacks the beginning is left out.
func (l *Exported) add(line []byte) error {
	var e protocol.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf(`not an event: %w: want the output of "agentctl export --format jsonl"`, err)
	}
	switch {
	case e.Type == "":
		return errors.New(`not an event: want the output of "agentctl export --format jsonl"`)
	case e.Type == protocol.SessionCreated:
		return e.Decode(&l.Created)
	case e.Type == protocol.MessageUser && e.Turn != "":
		l.open.begun = true
	case protocol.OutsideOfTurns(e.Type, e.Turn):
	case e.Turn == "" || !l.open.begun:
		return nil
	}
	l.open.events = append(l.open.events, line)
	l.open.bytes += len(line) + 1
	if e.Type == protocol.TurnEnded {
		l.Turns, l.bytes = append(l.Turns, l.open), l.bytes+l.open.bytes
		l.open = logTurn{}
		for l.bytes > MaxImport && len(l.Turns) > 1 {
			l.bytes -= l.Turns[0].bytes
			l.Turns = l.Turns[1:]
			l.LeftOut++
		}
	}
	return nil
}

// Events returns the events to import.
func (l *Exported) Events() []json.RawMessage {
	var out []json.RawMessage
	for i := range l.Turns {
		out = append(out, l.Turns[i].events...)
	}
	return out
}

// Summary returns the numbers of imported turns.
func (l *Exported) Summary() string {
	text := fmt.Sprintf("imported %d turns", len(l.Turns))
	if len(l.Turns) == 1 {
		text = "imported 1 turn"
	}
	if l.LeftOut > 0 {
		text += fmt.Sprintf("; %d earlier ones do not fit", l.LeftOut)
	}
	if l.Unfinished {
		text += "; the last turn of the file has no end and is left out"
	}
	return text
}

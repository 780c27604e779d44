package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"agentctl/protocol"
)

// maxImport bounds the events of an import in bytes: they fit one message.
const maxImport = 768 << 10

// An exportedLog is an exported log, without its older turns if it is long.
type exportedLog struct {
	created    protocol.SessionCreatedData // of the session
	turns      []logTurn
	bytes      int // of the turns
	leftOut    int // finished turns before them
	unfinished bool

	open logTurn // events since the last finished turn
}

// logTurn is a finished turn, and the events of the conversation before it.
type logTurn struct {
	events []json.RawMessage
	bytes  int
	begun  bool // it has its message
}

// readExportedLog reads JSON lines as "agentctl export --format jsonl" writes them.
func readExportedLog(b []byte) (*exportedLog, error) {
	log, n := new(exportedLog), 0
	for line := range bytes.Lines(b) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := log.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	log.unfinished = log.open.begun
	switch {
	case n == 0:
		return nil, errors.New("it is empty")
	case len(log.turns) == 0:
		return nil, errors.New("it has no finished turn")
	case log.bytes > maxImport:
		return nil, fmt.Errorf("its last turn has %d KiB, more than the %d of an import", log.bytes>>10, maxImport>>10)
	}
	return log, nil
}

// add adds a line. A turn of which the log lacks the beginning is left out.
func (l *exportedLog) add(line []byte) error {
	var e protocol.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf(`not an event: %w: want the output of "agentctl export --format jsonl"`, err)
	}
	switch {
	case e.Type == "":
		return errors.New(`not an event: want the output of "agentctl export --format jsonl"`)
	case e.Type == protocol.SessionCreated:
		return e.Decode(&l.created)
	case e.Type == protocol.MessageUser && e.Turn != "":
		l.open.begun = true
	case protocol.OutsideOfTurns(e.Type, e.Turn):
	case e.Turn == "" || !l.open.begun:
		return nil
	}
	l.open.events = append(l.open.events, line)
	l.open.bytes += len(line) + 1
	if e.Type == protocol.TurnEnded {
		l.turns, l.bytes = append(l.turns, l.open), l.bytes+l.open.bytes
		l.open = logTurn{}
		for l.bytes > maxImport && len(l.turns) > 1 {
			l.bytes -= l.turns[0].bytes
			l.turns = l.turns[1:]
			l.leftOut++
		}
	}
	return nil
}

// events returns the events to import.
func (l *exportedLog) events() []json.RawMessage {
	var out []json.RawMessage
	for i := range l.turns {
		out = append(out, l.turns[i].events...)
	}
	return out
}

// summary returns the numbers of imported turns.
func (l *exportedLog) summary() string {
	text := fmt.Sprintf("imported %d turns", len(l.turns))
	if len(l.turns) == 1 {
		text = "imported 1 turn"
	}
	if l.leftOut > 0 {
		text += fmt.Sprintf("; %d earlier ones do not fit", l.leftOut)
	}
	if l.unfinished {
		text += "; the last turn of the file has no end and is left out"
	}
	return text
}

package sessions

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/cli/sessionlog"
	"agentctl/protocol"
)

// logLine returns a line of an exported log.
func logLine(turn string, typ protocol.Type, data any) string {
	return string(protocol.MustEncode(protocol.Event{
		Session: "s", Turn: turn, Type: typ, Data: protocol.MustEncode(data),
	})) + "\n"
}

func TestACommandOfAnImportedLogIsNotRun(t *testing.T) {
	for agent, want := range map[string]string{
		"claude": "claude", "acp:rm -rf .": "", "script:evil.script": "", "rm -rf .": "",
	} {
		log := &sessionlog.Exported{Created: protocol.SessionCreatedData{Agent: agent}}
		if got := (&importOptions{}).createData(log).Agent; got != want {
			t.Errorf("agent %q of the file: runs %q, want %q", agent, got, want)
		}
		if got := (&importOptions{Agent: "mine"}).createData(log).Agent; got != "mine" {
			t.Errorf("runs %q, not the agent of --agent", got)
		}
	}
}

func TestTheNewestFinishedTurnsOfALogAreImported(t *testing.T) {
	var text strings.Builder
	text.WriteString(logLine("", protocol.SessionCreated, protocol.SessionCreatedData{Title: "T", Agent: "a"}))
	text.WriteString(logLine("cut", protocol.TurnEnded, protocol.TurnEndedData{})) // its beginning is missing
	for i := range 5 {
		turn := fmt.Sprint("t", i)
		text.WriteString(logLine(turn, protocol.MessageUser, protocol.MessageUserData{}))
		text.WriteString(logLine(turn, protocol.TextDelta, strings.Repeat("x", 300<<10)))
		text.WriteString(logLine(turn, protocol.TurnEnded, protocol.TurnEndedData{}))
		text.WriteString("\n" + logLine("", protocol.AgentOptions, nil))
	}
	text.WriteString(logLine("t5", protocol.MessageUser, protocol.MessageUserData{}))
	log, err := sessionlog.ReadExported([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Turns) != 2 || log.LeftOut != 3 || !log.Unfinished || len(log.Events()) != 6 ||
		log.Created.Title != "T" {
		t.Errorf("%d turns with %d events, %d left out", len(log.Turns), len(log.Events()), log.LeftOut)
	}
	if n := len(protocol.MustEncode(protocol.ImportData{Events: log.Events()})); n > protocol.MaxMessage*7/8 {
		t.Errorf("an import has %d bytes", n)
	}
	large := logLine("t", protocol.MessageUser, strings.Repeat("x", sessionlog.MaxImport)) + logLine("t", protocol.TurnEnded, nil)
	if _, err := sessionlog.ReadExported([]byte(large)); err == nil || !strings.Contains(err.Error(), "its last turn has") {
		t.Errorf("a turn that does not fit: %v", err)
	}
}

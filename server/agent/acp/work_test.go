package acp

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkWithoutAPromptIsATurn(t *testing.T) {
	for name, want := range map[string][]string{
		// Codex reports when it works.
		"codex-goal": {
			`parent "I call create_goalyou said: fine" ends completed <nil>`,
			`parent begins ""`, `parent "you said: </codex_internal_context>" ends completed <nil>`,
			`parent begins ""`, `parent "you said: </codex_internal_context>" ends completed <nil>`,
			`parent begins ""`, `parent "" ends interrupted <nil>`,
		},
		// Claude reports the end of a turn that it began itself.
		"claude-background-command": {
			`parent "I call Bashyou said: fine" ends completed <nil>`,
			`parent begins ""`, `parent "you said: fine" ends completed <nil>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, s := playRecording(t, name)
				s.decide = allow
				s.prompt(t.Context(), a, "go")
				time.Sleep(4 * time.Second)
				synctest.Wait()
				s.interrupt()
				time.Sleep(time.Second)
				synctest.Wait()
				s.wantLog(t, want...)
			})
		})
	}
}

// chunkOf returns a line with text of the agent.
func chunkOf(text string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` +
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}`
}

// callOf starts a call.
const callOf = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` +
	`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Build","status":"in_progress"}}}`

// scripted returns an agent whose program answers its start and the prompt, then sends lines at their
// times.
func scripted(t *testing.T, lines ...recordedLine) (*Agent, *shownSession) {
	t.Helper()
	start := []recordedLine{
		{0, "c2a", `{"id":1,"method":"initialize"}`},
		{0, "a2c", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`},
		{0, "c2a", `{"id":2,"method":"session/new"}`},
		{0, "a2c", `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`},
		{0, "c2a", `{"id":3,"method":"session/prompt"}`},
		{0, "a2c", `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`},
	}
	return playLines(t, append(start, lines...))
}

func TestSilenceEndsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := scripted(t,
			recordedLine{1_000, "a2c", chunkOf("one ")}, recordedLine{9_000, "a2c", chunkOf("two")},
			recordedLine{30_000, "a2c", chunkOf("three ")}, recordedLine{31_000, "a2c", callOf},
		)
		s.prompt(t.Context(), a, "go")
		wait := func(seconds time.Duration, want ...string) {
			t.Helper()
			time.Sleep(seconds * time.Second)
			synctest.Wait()
			s.wantLog(t, want...)
		}
		log := []string{`parent "" ends completed <nil>`, `parent begins ""`}
		wait(18, log...)
		log = append(log, `parent "one two" ends completed <nil>`)
		wait(2, log...)
		log = append(log, `parent begins ""`)
		wait(600, log...) // a call is open
		log = append(log, `parent "three " ends completed <nil>`)
		wait(60, log...)
	})
}

func TestWorkOfAnAgentThatExitsFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, s := scripted(t, recordedLine{1_000, "a2c", chunkOf("one ")}, recordedLine{2_000, "end", ""})
		s.prompt(t.Context(), a, "go")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		s.wantLog(t, `parent "" ends completed <nil>`, `parent begins ""`, `parent "one " ends  Recorded ended`)
	})
}

func TestWorkThatDoesNotStopIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := []recordedLine{{1_000, "a2c", chunkOf("go")}, {1_000, "c2a", `{"method":"session/cancel"}`}}
		for i := range 9 { // it exits at 10 s otherwise
			lines = append(lines, recordedLine{1_600 + 900*i, "a2c", chunkOf(" on")})
		}
		a, s := scripted(t, append(lines, recordedLine{60_000, "killed", ""})...)
		s.prompt(t.Context(), a, "go")
		time.Sleep(2 * time.Second)
		s.interrupt()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		s.wantLog(
			t, `parent "" ends completed <nil>`, `parent begins ""`,
			`parent "go on on on on on" ends interrupted <nil>`,
		)
		if a.Process().Running {
			t.Error("the agent still runs")
		}
	})
}

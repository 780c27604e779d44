package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A recordedFrame is a line between agentctl and a real adapter, in the directory /w.
type recordedFrame struct {
	Dir  string `json:"dir"` // c2a: of agentctl; a2c: of the adapter
	Line string `json:"line"`

	message
}

type message struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

// A player is the adapter of a recording. It sends what the adapter sent, after agentctl has sent
// what it sent then.
type player struct {
	t         *testing.T
	frames    []recordedFrame
	decided   []protocol.Outcome // decisions that were recorded
	out       *io.PipeWriter
	in        *bufio.Reader
	closeIn   func()
	interrupt func() // of the running turn

	mu sync.Mutex
}

func loadRecording(t *testing.T, file string) *player {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t}
	for line := range strings.Lines(string(b)) {
		var f recordedFrame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(f.Line), &f.message); err != nil {
			t.Fatal(err)
		}
		var answer permissionResult
		if f.Dir == "c2a" && json.Unmarshal(f.Result, &answer) == nil && answer.Outcome.Outcome != "" {
			outcome := protocol.Denied
			if strings.HasPrefix(answer.Outcome.Option, "allow") {
				outcome = protocol.Allowed
			}
			p.decided = append(p.decided, outcome)
		}
		p.frames = append(p.frames, f)
	}
	return p
}

// prompts returns the messages of the recorded turns.
func (p *player) prompts() (texts []string) {
	for _, f := range p.frames {
		var params promptParams
		if f.Dir == "c2a" && f.Method == "session/prompt" && json.Unmarshal(f.Params, &params) == nil {
			texts = append(texts, params.Prompt[0].Text)
		}
	}
	return texts
}

// dial starts the player.
func (p *player) dial(context.Context) (io.ReadWriteCloser, error) {
	fromPlayer, out := io.Pipe()
	fromClient, in := io.Pipe()
	p.out, p.in, p.closeIn = out, bufio.NewReader(fromClient), func() { _ = fromClient.Close() }
	go p.play()
	return struct {
		io.Reader
		io.Writer
		io.Closer
	}{fromPlayer, in, closer(func() { _, _ = fromPlayer.Close(), in.Close() })}, nil
}

type closer func()

func (c closer) Close() error {
	c()
	return nil
}

func (p *player) play() {
	defer p.closeIn()
	for i := range p.frames {
		f := &p.frames[i]
		if f.Dir == "a2c" {
			if _, err := io.WriteString(p.out, f.Line+"\n"); err != nil {
				return
			}
			continue
		}
		if f.Method == "session/cancel" {
			p.mu.Lock()
			p.interrupt()
			p.mu.Unlock()
		}
		line, err := p.in.ReadString('\n')
		if err != nil {
			return
		}
		var got message
		if err := json.Unmarshal([]byte(line), &got); err != nil || !sameMessage(got, f.message) {
			p.t.Errorf("agentctl sends\n%s\nrecorded is\n%s", line, f.Line)
		}
	}
	_, _ = p.in.ReadString('\n') // until it is closed
}

// sameMessage compares messages without the version of agentctl.
func sameMessage(a, b message) bool {
	if a.Method == "initialize" {
		return b.Method == a.Method
	}
	equal := func(a, b json.RawMessage) bool {
		var x, y any
		_, _ = json.Unmarshal(a, &x), json.Unmarshal(b, &y)
		return reflect.DeepEqual(x, y)
	}
	return a.Method == b.Method && equal(a.Params, b.Params) && equal(a.Result, b.Result)
}

// TestRecordedAdaptersWorkInBothVersions plays a conversation of each adapter in each version.
func TestRecordedAdaptersWorkInBothVersions(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.jsonl")
	if err != nil || len(files) != 4 {
		t.Fatalf("recordings %q, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			p := loadRecording(t, file)
			version := 1
			if strings.HasSuffix(name, "-v2") {
				version = 2
			}
			r := &recorder{changed: make(chan struct{}, 1)}
			decisions := p.decided
			r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
				v := agent.Verdict{Outcome: decisions[0]}
				decisions = decisions[1:]
				return v, nil
			}
			a, err := New(
				Config{Name: "Recorded", Dial: p.dial, Version: version}, agent.Spec{Session: "s", CWD: "/w"}, r,
			)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Close() }()
			var turns []recordedTurn
			for i, text := range p.prompts() {
				ctx, cancel := context.WithCancel(t.Context())
				p.mu.Lock()
				p.interrupt = cancel
				p.mu.Unlock()
				before, asked := len(r.events), len(r.asked)
				end, err := a.Run(ctx, agent.Turn{ID: string(rune('a' + i)), Message: protocol.Message{Text: text}}, r)
				cancel()
				r.mu.Lock()
				turns = append(turns, recordedTurn{end, err, r.events[before:], r.asked[asked:]})
				r.mu.Unlock()
			}
			checkRecordedTurns(t, turns, strings.HasPrefix(name, "codex"))
		})
	}
}

// A recordedTurn is what a session got of a turn.
type recordedTurn struct {
	end    agent.End
	err    error
	events []agent.Event
	asked  []protocol.Approval
}

func (r *recordedTurn) tool(t *testing.T) (output string, end protocol.ToolEndedData) {
	t.Helper()
	for _, text := range toolOutputs(r.events) {
		output += text
	}
	for _, e := range r.events {
		if e.Type == protocol.ToolEnded {
			end = e.Data.(protocol.ToolEndedData)
		}
	}
	return output, end
}

func checkRecordedTurns(t *testing.T, turns []recordedTurn, deniedEnds bool) {
	t.Helper()
	if len(turns) != 7 {
		t.Fatalf("%d turns", len(turns))
	}
	completed := func(r *recordedTurn) bool { return r.err == nil && r.end.Reason == protocol.ReasonCompleted }
	said, ran, wrote, edited, denied, failed, stopped := &turns[0], &turns[1], &turns[2], &turns[3], &turns[4], &turns[5], &turns[6]
	if !completed(said) || textOf(said.events) != "you said: good morning" || said.end.Usage == nil ||
		said.end.Usage.Input < 1000 {
		t.Errorf("said %q: %+v, %v", textOf(said.events), said.end, said.err)
	}
	output, end := ran.tool(t)
	if !completed(ran) || len(ran.asked) != 1 || ran.asked[0].Kind != protocol.ApproveCommand ||
		ran.asked[0].Command != "touch made.txt; echo hi; sleep 1; exit 3" || ran.asked[0].Subject() == "" ||
		!strings.Contains(output, "hi") || end.ExitCode == nil || *end.ExitCode != 3 {
		t.Errorf("ran %+v with %q: %+v; asked %+v", ran.end, output, end, ran.asked)
	}
	for _, change := range []struct {
		turn *recordedTurn
		text string
	}{{wrote, "one\ntwo\n"}, {edited, "three"}} {
		a := change.turn.asked[0]
		rest, _ := a.RestArguments()
		if !completed(change.turn) || a.Kind != protocol.ApprovePatch || rest != "" || a.Subject() == "" ||
			len(a.Content) != 1 || !strings.Contains(a.Content[0].New, change.text) || a.Content[0].Path != "/w/new.txt" {
			t.Errorf("changed %+v: asked %s", change.turn.end, protocol.MustEncode(a))
		}
	}
	reason := protocol.ReasonCompleted
	if deniedEnds {
		reason = protocol.ReasonDenied
	}
	if _, end := denied.tool(t); denied.err != nil || denied.end.Reason != reason || end.Status != protocol.ToolDenied {
		t.Errorf("denied %+v, %v: %+v", denied.end, denied.err, end)
	}
	if failure := failed.end.Message + errorOf(failed.err); completed(failed) || !strings.Contains(failure, "no such luck") {
		t.Errorf("failed %+v, %v", failed.end, failed.err)
	}
	if stopped.err != nil || stopped.end.Reason != protocol.ReasonInterrupted ||
		!strings.HasPrefix(textOf(stopped.events), "drop 1 drop 2 drop 3") {
		t.Errorf("interrupted %+v, %v: %q", stopped.end, stopped.err, textOf(stopped.events))
	}
}

func errorOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A recordedLine is a line of a recording. The first line of the file is its header.
type recordedLine struct {
	MS   int
	Dir  string // c2a, a2c; in tests also end, and killed as the last
	Line string
}

// readRecording returns the lines of a recording of testdata/recordings.
func readRecording(t *testing.T, name string) (list []recordedLine) {
	t.Helper()
	b, err := os.ReadFile("testdata/recordings/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var l recordedLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Dir != "" {
			list = append(list, l)
		}
	}
	return list
}

// A linePlayer plays the agent of a recording. It sends each line at its time after the line before, and
// waits for the lines of the client, whose ids may differ. It runs in a synctest bubble.
type linePlayer struct {
	lines []recordedLine
	in    *bufio.Reader
	out   io.ReadWriteCloser
	err   error
	done  chan struct{}
}

func (p *linePlayer) play() {
	defer close(p.done)
	defer func() { _ = p.out.Close() }()
	ids := map[string]json.RawMessage{} // of the recording → of the client
	for i, l := range p.lines {
		if l.Dir == "end" { // the agent exits
			time.Sleep(time.Duration(l.MS-p.lines[i-1].MS) * time.Millisecond)
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if p.err = json.Unmarshal([]byte(l.Line), &m); p.err != nil {
			return
		}
		if l.Dir == "c2a" {
			got, err := p.in.ReadBytes('\n')
			if err != nil {
				p.err = fmt.Errorf("line %d, %s: %w", i, l.Line, err)
				return
			}
			of := m
			if p.err = json.Unmarshal(got, &m); p.err == nil && m.Method != of.Method {
				p.err = fmt.Errorf("line %d: got %s, want %s", i, got, l.Line)
			}
			if p.err != nil {
				return
			}
			ids[string(of.ID)] = m.ID
			continue
		}
		if i > 0 {
			time.Sleep(time.Duration(l.MS-p.lines[i-1].MS) * time.Millisecond)
		}
		line := l.Line
		if m.Method == "" {
			line = strings.Replace(line, `"id":`+string(m.ID), `"id":`+string(ids[string(m.ID)]), 1)
		}
		if _, p.err = io.WriteString(p.out, line+"\n"); p.err != nil {
			return
		}
	}
	_, _ = io.Copy(io.Discard, p.in)
}

// A shownSession is a session that shows work, and each turn of it.
type shownSession struct {
	*recorder
	name string // in the log
	all  *shownSessions
	busy chan struct{} // capacity 1; held during a turn
	work *agent.Work   // current; guarded by all.mu
	stop func()        // interrupts the current turn of work; guarded by all.mu
}

// shownSessions are a session and its sub-agents' sessions, with a log of their turns.
type shownSessions struct {
	mu      sync.Mutex
	log     []string
	running sync.WaitGroup

	subAgents map[string]*shownSession
	most      int // sub-agents
}

func (s *shownSessions) logf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *shownSessions) new(name string) *shownSession {
	r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
	return &shownSession{recorder: r, name: name, all: s, busy: make(chan struct{}, 1)}
}

// SubAgent implements agent.WorkHost and agent.SubAgentHost.
func (s *shownSession) SubAgent(a agent.SubAgent, title string) (agent.SubAgentHost, error) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if sub := s.all.subAgents[a.ID]; sub != nil {
		return sub, nil
	}
	if len(s.all.subAgents) == s.all.most {
		return nil, protocol.Errorf(protocol.CodeSessionLimit, "too many")
	}
	if s.all.subAgents == nil {
		s.all.subAgents = map[string]*shownSession{}
	}
	sub := s.all.new(s.name + "/" + title)
	sub.decide = s.decide
	s.all.subAgents[a.ID] = sub
	s.all.log = append(s.all.log, sub.name+" is made")
	return sub, nil
}

// get returns the session of a sub-agent by its ACP session.
func (s *shownSessions) get(id string) *shownSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subAgents[id]
}

// count returns the number of sub-agents with a session.
func (s *shownSessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subAgents)
}

// requests returns what was asked in the session.
func (s *shownSession) requests() []protocol.Approval {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Session implements agent.SubAgentHost.
func (s *shownSession) Session() string { return s.name }

// Begin implements agent.WorkHost and agent.SubAgentHost.
func (s *shownSession) Begin(ctx context.Context, w agent.Work) error {
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.all.logf("%s begins %q", s.name, w.Text)
	ctx, stop := context.WithCancel(context.Background())
	s.all.mu.Lock()
	s.work, s.stop = &w, stop
	s.all.mu.Unlock()
	s.all.running.Go(func() {
		defer func() { <-s.busy }()
		s.run(ctx, func(ctx context.Context, out agent.Output) (agent.End, error) {
			return w.Run(ctx, agent.Turn{ID: "work"}, out)
		})
	})
	return nil
}

// interrupt interrupts the current turn of work.
func (s *shownSession) interrupt() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.stop()
}

// run runs a turn and logs its text and its end.
func (s *shownSession) run(ctx context.Context, run func(context.Context, agent.Output) (agent.End, error)) {
	s.clear()
	end, err := run(ctx, s)
	s.all.logf("%s %q ends %s%s %v", s.name, s.text(), end.Reason, end.Message, err)
}

// playRecording returns an agent with the program of a recording, and its session. It runs in a
// synctest bubble.
func playRecording(t *testing.T, name string) (*Agent, *shownSession) {
	t.Helper()
	return playLines(t, readRecording(t, name))
}

// playLines is playRecording for lines.
func playLines(t *testing.T, lines []recordedLine) (*Agent, *shownSession) {
	t.Helper()
	p := &linePlayer{lines: lines, done: make(chan struct{})}
	s := (&shownSessions{most: 100}).new("parent")
	config := Config{Name: "Recorded", Dial: func(context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		p.in, p.out = bufio.NewReader(theirs), theirs
		go p.play()
		return ours, nil
	}}
	a, err := New(config, agent.Spec{Session: "ses", CWD: t.TempDir()}, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		s.all.running.Wait()
		<-p.done
		if p.err != nil && p.lines[len(p.lines)-1].Dir != "killed" {
			t.Error(p.err)
		}
	})
	return a, s
}

// prompt runs a turn with a message.
func (s *shownSession) prompt(ctx context.Context, a *Agent, text string) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	s.run(ctx, func(ctx context.Context, out agent.Output) (agent.End, error) {
		return a.Run(ctx, turnOf(text), out)
	})
}

// wantLog compares the log of turns.
func (s *shownSession) wantLog(t *testing.T, want ...string) {
	t.Helper()
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if got := strings.Join(s.all.log, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// interruptible reports whether the current turn of work can be interrupted.
func (s *shownSession) interruptible() bool {
	s.all.mu.Lock()
	w := s.work
	s.all.mu.Unlock()
	return w.Interruptible()
}

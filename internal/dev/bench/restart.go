package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// measureRestart measures the start of "agentctl serve" with stored sessions, until it answers a
// request, and the memory that a session takes before it is loaded.
func measureRestart(ctx context.Context, b *bench) error {
	program, err := testbinary.Build(b.dir)
	if err != nil {
		return err
	}
	cases := []struct {
		of       string
		sessions int
		memory   int // bytes that the agent of each has saved
	}{
		{"0 sessions", 0, 0},
		{"1,000 sessions", 1_000, 0},
		{"10,000 sessions", 10_000, 0},
		{"1,000 sessions with 64 KB of an agent", 1_000, 64 << 10},
	}
	dir := func(i int) string { return filepath.Join(b.dir, fmt.Sprint("stored-", i)) }
	for i, c := range cases {
		if err := storeSessions(dir(i), c.sessions, c.memory); err != nil {
			return err
		}
	}
	for range b.Repeat {
		empty := 0.0
		for i, c := range cases {
			took, err := startServer(ctx, program, dir(i))
			if err != nil {
				return err
			}
			b.add(c.of, "program", "ms", took.Seconds()*1e3)
			s, err := b.start(ctx, agentctl, dir(i), 0)
			if err != nil {
				return err
			}
			memory, err := s.memory()
			if err != nil {
				return err
			}
			if c.sessions == 0 {
				empty = memory
			} else {
				b.add(c.of+", each", agentctl, "B", (memory-empty)/float64(c.sessions))
			}
			if err := b.stop(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// startServer starts "agentctl serve", waits for its answer to a request and ends it. It returns
// the time until the answer.
func startServer(ctx context.Context, program, dir string) (took time.Duration, err error) {
	x := exec.CommandContext(ctx, program, "serve", "--data", dir, "--listen", "127.0.0.1:0", "-o", "json")
	x.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_RUNTIME_DIR="+dir)
	out, err := x.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := x.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, x.Process.Signal(syscall.SIGTERM), x.Wait()) }()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return 0, fmt.Errorf("start of the server: %w", err)
	}
	var ready struct{ URL string }
	if err := json.Unmarshal(line, &ready); err != nil {
		return 0, fmt.Errorf("address of the server: %w", err)
	}
	url := "http" + strings.TrimPrefix(ready.URL, "ws") + "/healthz"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return time.Since(began), answer.Body.Close()
}

// storeSessions stores n sessions with a turn each, and so many bytes that the agent has saved.
func storeSessions(dir string, n, memory int) error {
	store, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		return err
	}
	var batches []*session.Batch
	for i := range n {
		b, err := storedSession(i, memory)
		if err != nil {
			return errors.Join(err, store.Close())
		}
		if batches = append(batches, b); len(batches) == 100 {
			if err := store.Commit(batches); err != nil {
				return errors.Join(err, store.Close())
			}
			batches = batches[:0]
		}
	}
	return errors.Join(store.Commit(batches), store.Close())
}

// storedSession returns what a session with a turn stores.
func storedSession(i, memory int) (*session.Batch, error) {
	id, now := session.NewID("s"), time.Now().UTC().Truncate(time.Millisecond)
	state, b := protocol.State{Session: id}, &session.Batch{Session: id, First: 1}
	name := "claude"
	if memory > 0 {
		name = "model"
	}
	var lines []byte
	for _, e := range []struct {
		name protocol.Type
		turn string
		data any
	}{
		{protocol.SessionCreated, "", protocol.SessionCreatedData{
			Name: fmt.Sprint("task-", i), Title: "A task of the benchmark", Agent: name, CWD: "/tmp",
		}},
		{protocol.MessageUser, "", protocol.Message{MessageID: "m_1", Text: filler}},
		{protocol.TurnStarted, "t_1", protocol.TurnStartedData{MessageID: "m_1", Agent: name}},
		{protocol.TextDelta, "t_1", protocol.PartDeltaData{Part: "p1", Text: filler}},
		{protocol.TextEnd, "t_1", protocol.PartEndData{Part: "p1"}},
		{protocol.TurnEnded, "t_1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted}},
	} {
		event := protocol.Event{
			Session: id, Seq: state.Seq + 1, Turn: e.turn, Time: now, Type: e.name, Data: protocol.MustEncode(e.data),
		}
		if err := state.Apply(&event); err != nil {
			return nil, err
		}
		lines = append(event.AppendJSON(lines), '\n')
	}
	b.Events, b.Last = [][]byte{lines}, state.Seq
	b.Snapshot, b.SnapSeq = protocol.MustEncode(&state), state.Seq
	spec := agent.Spec{Agent: name, CWD: "/tmp", State: fmt.Appendf(nil, `{"session":"conversation-%d"}`, i)}
	if memory > 0 {
		spec.State = make([]byte, memory)
		_, _ = rand.Read(spec.State) // never fails; agents compress what they save
	}
	b.Create = &session.Record{Epoch: session.NewEpoch(), Created: now, Spec: protocol.MustEncode(spec)}
	b.Summary = protocol.MustEncode(protocol.Summary{
		Session: id, Name: state.Name, Title: state.Title, Agent: state.Agent, CWD: state.CWD, Status: state.Status(),
		Seq: state.Seq, Epoch: b.Create.Epoch, Updated: now, Reason: protocol.ReasonCompleted,
		Attributes: state.Attributes, Progress: protocol.Progress{Turns: state.Turns, Output: filler},
	})
	return b, nil
}

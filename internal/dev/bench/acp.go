package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"agentctl/internal/dev/testbinary"
	"agentctl/wsclient"
)

// acpAgent is the kind of the agent that speaks the Agent Client Protocol.
const acpAgent = "acp"

// measureACP measures the processor time of the server for each line of an agent, from its standard
// output to the store. The server is the program agentctl, and no client reads the events.
func measureACP(ctx context.Context, b *bench) error {
	program, err := testbinary.Build(b.dir)
	if err != nil {
		return err
	}
	s, err := b.startProgram(ctx, program)
	if err != nil {
		return err
	}
	id, err := s.create(ctx)
	if err != nil {
		return err
	}
	if _, _, err := s.measureTurns(ctx, job{Events: 1}, id); err != nil { // starts the agent
		return err
	}
	for range b.Repeat {
		for _, m := range []struct {
			of string
			j  job
		}{
			{"chunks", job{Events: b.pick(100_000, 500_000)}},
			{"tool updates", job{Events: b.pick(20_000, 100_000), Tools: true}},
		} {
			took, used, err := s.measureTurns(ctx, m.j, id)
			if err != nil {
				return fmt.Errorf("%s: %w", m.of, err)
			}
			b.add(m.of, agentctl, "µs per line", used/float64(m.j.Events)*1e6)
			b.add(m.of+", rate", agentctl, "lines/s", float64(m.j.Events)/took)
		}
	}
	return nil
}

// startProgram starts the program agentctl as a server whose agent is this program.
func (b *bench) startProgram(ctx context.Context, program string) (*instance, error) {
	dir, err := os.MkdirTemp(b.dir, "program-")
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "server.json")
	text, err := json.Marshal(map[string]any{"default_agent": "bench", "agents": map[string]any{"bench": map[string]any{
		"command": self, "args": []string{"-serve", acpAgent}, "env": map[string]string{serveVariable: "1"},
	}}})
	if err == nil {
		err = os.WriteFile(config, text, 0o600)
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "serve", "--data", filepath.Join(dir, "data"), "--config", config,
		"--listen", "127.0.0.1:0", "-o", "json", "--log-file", filepath.Join(dir, "log"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_RUNTIME_DIR="+dir)
	cmd.Stderr = os.Stderr
	p := &process{cmd: cmd, in: terminator{cmd}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.out, p.pid = bufio.NewReader(out), cmd.Process.Pid
	var ready struct {
		URL       string `json:"url"`
		TokenFile string `json:"token_file"`
	}
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	secret, err2 := os.ReadFile(ready.TokenFile)
	if err = errors.Join(err, err2); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), p.stop())
	}
	s := &instance{process: p, kind: agentctl, dir: dir}
	s.client = wsclient.New(ready.URL, wsclient.Options{Token: strings.TrimSpace(string(secret))})
	b.servers = append(b.servers, s)
	return s, nil
}

// A terminator ends a program when its input is closed.
type terminator struct{ cmd *exec.Cmd }

func (terminator) Write([]byte) (int, error) { return 0, errors.New("the program takes no orders") }

// Close asks the program to end.
func (t terminator) Close() error { return t.cmd.Process.Signal(syscall.SIGTERM) }

// serveACP is an agent that carries out the job in each prompt. It knows one session.
func serveACP(in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, blockSize)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Prompt []struct {
					Text string `json:"text"`
				} `json:"prompt"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{}}`
		case "session/new":
			result = `{"sessionId":"s_1"}`
		case "session/prompt":
			result = `{"stopReason":"end_turn"}`
			var j job
			if len(m.Params.Prompt) != 1 {
				return errors.New("a prompt is one text")
			}
			if err := json.Unmarshal([]byte(m.Params.Prompt[0].Text), &j); err != nil {
				return err
			}
			if err := j.writeUpdates(w); err != nil {
				return err
			}
		}
		if m.ID == nil {
			continue
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// writeUpdates writes a line for each event of a job: chunks of a message, or the life of tools
// with a plan.
func (j *job) writeUpdates(w *bufio.Writer) error {
	began := time.Now().UnixNano()
	i := 0
	return j.run(func(text string) error {
		update := `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}`
		if j.Tools {
			update = toolUpdate(fmt.Sprint(began, "-", i/10), i%10, text)
		}
		i++
		_, err := fmt.Fprintln(w, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s_1","update":{`+
			update+`}}}`)
		return err
	})
}

// toolUpdate returns one of the ten updates in the life of a tool: its start, lines of its output,
// its end, and the plan after it.
func toolUpdate(id string, step int, text string) string {
	update := `"sessionUpdate":"tool_call_update","toolCallId":"` + id + `"`
	switch step {
	case 0:
		return `"sessionUpdate":"tool_call","toolCallId":"` + id + `","title":"go test ./...","kind":"execute",` +
			`"status":"pending","rawInput":{"command":"go test ./...","description":"` + text + `"}`
	case 8:
		return update + `,"status":"completed","rawOutput":{"output":"` + text + `","exitCode":0}`
	case 9:
		return `"sessionUpdate":"plan","entries":[` +
			`{"content":"Find the cause","priority":"high","status":"completed"},` +
			`{"content":"` + text + `","priority":"medium","status":"in_progress"},` +
			`{"content":"Run the tests","priority":"low","status":"pending"}]`
	}
	output := strings.Repeat(filler+`\n`, step) // an update repeats all of it
	return update + `,"status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"` +
		output + `"}}]`
}

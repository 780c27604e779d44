//go:build linux && soak

package soak

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentctl/internal/dev/fakeacp"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// configure writes the server's configuration and scripts.
func (r *run) configure() {
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(r.Dir, name), text, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	saved := filepath.Join(r.Dir, "acp")
	if err := os.Mkdir(saved, 0o700); err != nil {
		r.t.Fatal(err)
	}
	write("plain.script", []byte(`{"steers":true}`+script))
	write("resuming.script", []byte(`{"steers":true}`+"\n"+`{"resumes":true}`+script))
	config, err := json.Marshal(map[string]any{"agents": map[string]any{
		"plain":    map[string]any{"script": filepath.Join(r.Dir, "plain.script")},
		"resuming": map[string]any{"script": filepath.Join(r.Dir, "resuming.script")},
		"acp": map[string]any{
			"command": self, "env": map[string]string{fakeacp.EnvVar: "load,steering", fakeacp.DirEnvVar: saved},
		},
	}})
	if err != nil {
		r.t.Fatal(err)
	}
	write("config", config)
}

// start starts the server and notes its addresses.
func (r *run) start() {
	r.Start()
	u, err := url.Parse(r.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	r.address.Store(&u.Host)
	if r.token != "" {
		return
	}
	data := filepath.Join(r.Dir, "data")
	token, err := os.ReadFile(filepath.Join(data, "token"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.token, r.socket = strings.TrimSpace(string(token)), filepath.Join(data, "agentctl.sock")
}

// restart ends the server with a signal and starts the next one a moment later. It returns the
// processes of agents that the previous one left.
func (r *run) restart(ctx context.Context, signal syscall.Signal) []int {
	left := r.End(signal)
	r.count.kills.Add(1)
	wait(ctx, time.Duration(r.rng.IntN(1000))*time.Millisecond)
	r.start()
	return left
}

// usage returns what the server holds, without its goroutines.
func (r *run) usage() usage {
	trace, err := os.ReadFile(r.LogFile())
	if err != nil {
		r.t.Fatal(err)
	}
	u, err := readUsage(r.PID(), string(trace))
	if err != nil {
		r.t.Fatal(err)
	}
	return u
}

// measure returns what the server holds without clients: after two garbage collections, which lists
// of the sessions bring about. It ends with SIGQUIT, which prints the goroutines and kills the
// server, and starts the next one.
func (r *run) measure(ctx context.Context) usage {
	r.until(ctx, "clients leave", func(s *protocol.Summary) bool { return s.Clients == 0 })
	collected := func() int {
		trace, _ := os.ReadFile(r.LogFile())
		return collections(string(trace))
	}
	for start := collected(); collected() < start+2; {
		for range 20 {
			must[protocol.ListResult](ctx, r, protocol.DoList, "", protocol.ListData{})
		}
	}
	u := r.usage()
	r.restart(ctx, syscall.SIGQUIT)
	trace, err := os.ReadFile(r.LogFile())
	if err != nil {
		r.t.Fatal(err)
	}
	_, dump, _ := strings.Cut(string(trace[strings.LastIndex(string(trace), "SIGQUIT"):]), "\n")
	u.Goroutines = countGoroutines(dump)
	return u
}

// isACP reports whether the agent of session i is a process.
func (r *run) isACP(i int) bool { return i < r.ACP }

// createSessions creates the sessions and runs a turn in each, in two processes of the server: the
// second has loaded all of them, with their agents, as clients leave it.
func (r *run) createSessions(ctx context.Context) {
	r.sessions = make([]string, r.Sessions)
	r.inParallel(func(i int) {
		agent := []string{"plain", "resuming"}[i%2]
		if r.isACP(i) {
			agent = "acp"
		}
		data := protocol.CreateData{Agent: agent, CWD: r.Dir}
		r.sessions[i] = must[protocol.CreateResult](ctx, r, protocol.DoCreate, "", data).Session
		r.sendAsOperator(ctx, r.sessions[i], r.isACP(i), newToken("k0", i))
	})
	r.drain(ctx)
	r.restart(ctx, syscall.SIGKILL)
	r.inParallel(func(i int) { r.sendAsOperator(ctx, r.sessions[i], r.isACP(i), newToken("k0", r.Sessions+i)) })
	r.drain(ctx)
}

// inParallel calls f for the index of every session, some concurrently.
func (r *run) inParallel(f func(i int)) {
	var all sync.WaitGroup
	const workers = 16
	for w := range workers {
		all.Go(func() {
			for i := w; i < len(r.sessions); i += workers {
				f(i)
			}
		})
	}
	all.Wait()
}

func (r *run) sendAsOperator(ctx context.Context, session string, acp bool, token string) {
	text := kindWork + " " + token
	if acp {
		text = prompt(text)
	}
	r.check.send(session, token)
	must[protocol.SendResult](ctx, r, protocol.DoSend, session, protocol.SendData{Text: text})
	r.check.acknowledge(session, token, "success")
}

// releaseQueues releases the queues, which a restart holds.
func (r *run) releaseQueues(ctx context.Context) {
	r.inParallel(func(i int) { r.release(ctx, r.sessions[i]) })
}

func (r *run) release(ctx context.Context, session string) {
	must[protocol.QueueReleaseResult](ctx, r, protocol.DoQueueRelease, session, nil)
}

// must executes a command of the operator that must succeed, across any number of restarts.
func must[R any](ctx context.Context, r *run, verb protocol.Verb, session string, data any) R {
	r.t.Helper()
	result, err := wsclient.Call[R](ctx, r.operator.wire, verb, session, data)
	if err != nil {
		r.t.Errorf("%s: %v", verb, err)
		return result
	}
	r.count.acknowledged.Add(1)
	return result
}

// allowance returns what the server may hold more than before: the newest MiB of the log of each
// session, which stays loaded for a while.
func (r *run) allowance() allowance {
	const slack = 16 // MiB
	var logs int64
	for _, s := range r.check.sessions {
		logs += min(s.logBytes, 1<<20)
	}
	return allowance{Heap: slack + logs>>20, Files: 4, Goroutines: 3}
}

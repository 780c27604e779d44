package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/cli"
	"agentctl/internal/cli/verb"
	"agentctl/internal/dev/thorough"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent"
	"agentctl/server/policy"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// idleAgents opens, by any name, an agent that works until it is interrupted.
type idleAgents struct{}

func (idleAgents) Open(agent.Spec, agent.Host) (agent.Agent, error) { return idleAgent{}, nil }

func (idleAgents) Names() []string { return []string{"main"} }

func (idleAgents) HasSandboxes() bool { return true }

func (idleAgents) DefaultSandbox(string) protocol.Sandbox { return protocol.Sandbox{} }

func (idleAgents) CheckSandbox(protocol.Sandbox) error { return nil }

func (idleAgents) SandboxRefuses(*agent.Spec, *policy.Effect) error { return nil }

type idleAgent struct{}

func (idleAgent) Capabilities() agent.Capabilities { return agent.Capabilities{Resumes: true} }

func (idleAgent) Run(ctx context.Context, _ agent.Turn, _ agent.Output) (agent.End, error) {
	<-ctx.Done()
	return agent.End{}, nil
}

func (idleAgent) Fork(context.Context, string) ([]byte, []agent.Blob, error) { return nil, nil, nil }
func (idleAgent) Close() error                                               { return nil }

// A historyServer has random histories in its store. Command lines read them over the network.
type historyServer struct {
	t         *testing.T
	histories []*randomHistory
	others    []*randomHistory // made from the histories
	client    *wsclient.Client
	url       string
	dir       string // of the user of command lines
}

const histories = 24

// always is how many of them a test has at least.
const always = 8

// newHistoryServer starts a server that has random histories, and others made from them. By default it
// leaves out a later history in which nothing happens that does not happen in an earlier one.
func newHistoryServer(t *testing.T, others func([]*randomHistory) []*randomHistory) *historyServer {
	t.Helper()
	h := &historyServer{t: t, dir: t.TempDir()}
	type place struct {
		placed
		closed bool // carriers may refuse a closed session
	}
	happened := map[place]bool{}
	for i := range histories {
		drawn := aRandomHistory.Example(i).renumbered(fmt.Sprintf("s_history%02d", i), func(int) bool { return true })
		known := len(happened)
		for _, p := range drawn.places() {
			happened[place{p, drawn.events[len(drawn.events)-1].Type == protocol.SessionClosed}] = true
		}
		if thorough.All() || i < always || len(happened) > known {
			h.histories = append(h.histories, drawn)
		}
	}
	dir := t.TempDir()
	h.others = others(h.histories)
	storeHistories(t, dir, slices.Concat(h.histories, h.others))
	running, err := serve(dir, idleAgents{}, func(s session.Store) session.Store { return s })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.close(); err != nil {
			t.Error(err)
		}
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	running.listen(&server.Listener{Listener: ln})
	h.url = "ws://" + ln.Addr().String()
	h.client = wsclient.New("ws://server", wsclient.Options{Name: "ann", Dial: running.dial})
	t.Cleanup(func() { _ = h.client.Close() })
	return h
}

// run runs a command line of agentctl and returns its output.
func (h *historyServer) run(input []byte, args ...string) []byte {
	h.t.Helper()
	var out, failure bytes.Buffer
	env := map[string]string{"AGENTCTL_SERVER": h.url, "AGENTCTL_DATA": h.dir, "HOME": h.dir}
	if code := cli.Execute(h.t.Context(), &verb.Context{
		Stdin: bytes.NewReader(input), Out: output.Printer{Stdout: &out, Stderr: &failure},
		Env: func(name string) string { return env[name] },
	}, args); code != exit.OK {
		h.t.Fatalf("agentctl %s: exit code %d\n%s", strings.Join(args, " "), code, failure.Bytes())
	}
	return out.Bytes()
}

// A carrier makes a session from another one, and returns its id.
type carrier struct {
	name     string
	finished bool // carries no effect of an unfinished turn
	open     bool // refuses a closed session
	make     func(h *historyServer, id string) string
}

var carriers = []carrier{
	{"restore", false, false, func(h *historyServer, id string) string {
		state := do[protocol.ExportResult](h.t, h.client, protocol.DoExport, id, nil).State
		return do[protocol.CreateResult](h.t, h.client, protocol.DoRestore, "", protocol.RestoreData{State: state}).Session
	}},
	{"import", true, false, func(h *historyServer, id string) string {
		return string(bytes.TrimSpace(h.run(h.run(nil, "export", id, "--format", "jsonl"), "import", "-")))
	}},
	{"fork", true, true, func(h *historyServer, id string) string {
		return do[protocol.CreateResult](h.t, h.client, protocol.DoFork, id, protocol.ForkData{}).Session
	}},
}

// notCarried has, for each carrier, the fields of the state that a session does not get from the
// one that it was made from, and why. It gets every other field.
var notCarried = map[string]map[string]string{
	"restore": {
		"MCPServers":    "their secrets are not exported",
		"DiscardUnused": "the user wants it",
		"Limits":        "the agent reports its own",
		"Session":       "the id is new",
		"Seq":           "the log is new",
		"Name":          "names are unique",
		"Labels":        "they belong to the session",
		"Parent":        "it is who restores",
		"Created":       "it is now",
		"Closed":        "the session is open",
		"Turn":          "the current turn stays with its agent",
		"Holds":         "who holds the queue is not here",
		"Approvals":     "the current turn stays with its agent",
		"Rules":         "they were granted to the exported session alone",
		"Options":       "the agent reports its own",
	},
	"import": {
		"MCPServers":    "an admin names them",
		"DiscardUnused": "the user wants it",
		"Limits":        "the agent reports its own",
		"Session":       "the id is new",
		"Seq":           "the log is new",
		"Name":          "names are unique",
		"Title":         "the file's title comes from its first event",
		"Agent":         "it comes from the file's first event, unless the user names one",
		"CWD":           "it is a directory of another machine",
		"Labels":        "they belong to the session",
		"Parent":        "it is who imports",
		"Created":       "it is now",
		"Closed":        "the session is open",
		"Turn":          "the current turn stays with its agent",
		"Queue":         "nothing proves who wrote it",
		"Holds":         "there is no queue",
		"Scheduled":     "nothing proves who wrote it",
		"Approvals":     "the current turn stays with its agent",
		"Rules":         "nothing proves who granted them",
		"Context":       "the agent's context is empty",
		"Usage":         "the agent has used nothing",
		"Options":       "the agent reports its own",
	},
	"fork": {
		"MCPServers":    "the stored session names them, which this one does not",
		"DiscardUnused": "the user wants it",
		"Limits":        "the agent reports its own",
		"Session":       "the id is new",
		"Seq":           "the log is new",
		"Name":          "names are unique",
		"Labels":        "they belong to the session",
		"Parent":        "it is who forks",
		"Created":       "it is now",
		"Turn":          "the current turn stays with its agent",
		"Queue":         "its messages run in one session alone",
		"Holds":         "there is no queue",
		"Scheduled":     "its messages run in one session alone",
		"Approvals":     "the current turn stays with its agent",
		"Rules":         "they were granted to the forked session alone",
		"Context":       "the agent of the fork reports its own",
		"Usage":         "the agent of the fork has used nothing",
		"Options":       "the agent reports its own",
	},
}

// stateFields returns the fields of a state by name, encoded; "" for one without a value. Those of
// embedded structs count as its own.
func stateFields(s *protocol.State) map[string]string {
	fields := map[string]string{}
	var add func(v reflect.Value)
	add = func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Anonymous:
				add(v.Field(i))
			case v.Field(i).IsZero():
				fields[f.Name] = ""
			default:
				fields[f.Name] = string(protocol.MustEncode(v.Field(i).Interface()))
			}
		}
	}
	add(reflect.ValueOf(*s))
	return fields
}

// A restored, imported or forked session has the state of its source, field by field, except what
// notCarried lists. A new field of the state must be carried by all, or be listed.
func TestASessionMadeFromAnotherHasItsState(t *testing.T) {
	t.Parallel()
	h := newHistoryServer(t, func([]*randomHistory) []*randomHistory { return nil })
	for _, c := range carriers {
		set, differs := map[string]bool{}, map[string]bool{}
		for _, source := range h.histories {
			from := h.state(source.id)
			if c.open && from.Closed {
				continue
			}
			if c.finished {
				from.Plan = source.state(t, source.lastTurn()).Plan
			}
			made := h.state(c.make(h, source.id))
			if made.Turn != nil { // the first queued message, which starts
				made.Queue = append([]protocol.Message{made.Turn.Message}, made.Queue...)
			}
			got := stateFields(made)
			for name, want := range stateFields(from) {
				set[name] = set[name] || want != ""
				if notCarried[c.name][name] != "" {
					differs[name] = differs[name] || got[name] != want
				} else if got[name] != want {
					t.Errorf("%s of %s: %s is\n%s\nnot\n%s", c.name, source.id, name, got[name], want)
				}
			}
		}
		for name := range stateFields(new(protocol.State)) {
			subAgent := name == "SubAgent" // no command makes such a session
			if !set[name] && !(c.open && name == "Closed") && !subAgent {
				t.Errorf("%s: no history sets %s", c.name, name)
			}
		}
		for name := range notCarried[c.name] {
			if !differs[name] && set[name] {
				t.Errorf("%s: %s is listed and carried", c.name, name)
			}
		}
	}
}

func (h *historyServer) state(id string) *protocol.State {
	h.t.Helper()
	return do[protocol.SnapshotResult](h.t, h.client, protocol.DoSnapshot, id, nil).Snapshot.State
}

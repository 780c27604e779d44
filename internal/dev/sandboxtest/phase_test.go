//go:build sandbox

package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A victim is a process of a session: the server, or the one that is so many generations below it.
type victim struct {
	name  string
	below int
}

// victims are the processes of a complete sandbox.
var victims = []victim{{"server", 0}, {"supervisor", 1}, {"first process", 2}, {"program", 3}}

// phases are the times at which processes are killed. reach returns when the session is in its phase.
var phases = []struct {
	name    string
	victims []victim
	reach   func(*killRig)
}{
	{"set-up of the sandbox", victims[:2], (*killRig).stopSetUp},
	{"before the group is recorded", victims, (*killRig).stopRecord},
	{"start of the agent", victims, func(k *killRig) {
		k.traits("mute")
		k.post(protocol.DoSend, protocol.SendData{Text: "x"})
		waitFor(k.t, "agent", func() bool { return k.program() == "agent" })
	}},
	{"turn", victims, (*killRig).startTurn},
	{"end of the session", victims, func(k *killRig) {
		k.traits("stubborn")
		k.run("child")
		k.do(protocol.DoClose, protocol.CloseData{}, nil)
		k.session = "" // closed
	}},
	{"end of the server", victims, func(k *killRig) {
		k.traits("stubborn")
		k.startTurn()
		k.signal(k.server.PID(), syscall.SIGTERM)
		waitFor(k.t, "end of the turn", func() bool { return strings.Contains(k.log(), "code=server_restart") })
	}},
}

// TestAKilledProcessLeavesNothing kills each process of a session in each phase. Afterwards no process of
// it runs, and nothing is left of its sandbox: the session works, with this server and with the next one.
func TestAKilledProcessLeavesNothing(t *testing.T) {
	for _, p := range phases {
		for _, v := range p.victims {
			t.Run(p.name+"/"+v.name, func(t *testing.T) {
				k := newKillRig(t)
				p.reach(k)
				stopped := p.name == phases[0].name || p.name == phases[1].name
				left, tree, files := k.server.Agents(), k.tree(), k.sandboxes()
				if v.below >= len(tree) {
					t.Fatalf("only the processes %v run", tree)
				}
				if v.below == 0 {
					k.server.Kill()
				} else {
					k.signal(tree[v.below], syscall.SIGKILL)
				}
				if stopped {
					_ = syscall.Kill(tree[0], syscall.SIGCONT) // the one of both that was stopped
					_ = syscall.Kill(tree[1], syscall.SIGCONT)
				}
				k.waitGone(left)
				if v.below != 0 {
					if p.name == phases[len(phases)-1].name {
						k.server.End(0)
					} else {
						k.works()
						files = append(files, k.sandboxes()...)
						left = k.server.Kill()
						k.waitGone(left)
					}
				}
				_ = k.client.Close() // so that nobody makes the next server start an agent
				k.server.Start()
				if found := k.server.Agents(); len(found) > 0 {
					t.Errorf("the next server found the processes %v", found)
				}
				k.checkNothingLeft(files)
				k.connect()
				k.works()
				files = k.sandboxes()
				k.server.Stop()
				k.checkNothingLeft(files)
			})
		}
	}
}

// A killRig is a server with a session in a sandbox, whose agent has traits.
type killRig struct {
	*home
	t       *testing.T
	data    string // longer than the address of a socket
	server  *testbinary.Server
	client  *wsclient.Client
	session string
}

func newKillRig(t *testing.T) *killRig {
	h := newHome(t)
	h.git()
	real, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	// A sandbox stops itself before its set-up if the file hold exists.
	h.write("programs/bwrap", fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--chdir*) [ ! -e %s ] || kill -STOP $$;; esac\nexec %s \"$@\"\n",
		filepath.Join(h.dir, "hold"), real))
	base := os.Getenv(baseVariable)
	h.write("run/config", fmt.Sprintf(`{"agents": {"a": {"command": %q, "env": {%q: %q}}}}`,
		filepath.Join(base, "tools", "agent"), fakeacp.DirEnvVar, h.cwd))
	k := &killRig{home: h, t: t, data: filepath.Join(h.dir, strings.Repeat("data", 30))}
	k.server = &testbinary.Server{
		T: t, Program: filepath.Join(base, "tools", "agentctl"), Dir: filepath.Join(h.dir, "run"),
		Args: []string{"--data", k.data},
		Env:  []string{"HOME=" + h.dir, "PATH=" + filepath.Join(h.dir, "programs") + ":" + os.Getenv("PATH")},
	}
	k.server.Start()
	t.Cleanup(k.server.KillAll)
	k.connect()
	k.traits("plain")
	k.create()
	return k
}

func (k *killRig) connect() {
	client := wsclient.New(k.server.URL, wsclient.Options{Name: "test"})
	k.t.Cleanup(func() { _ = client.Close() })
	k.client = client
}

// traits sets the traits of the agents that start from now on. They restore their conversations.
func (k *killRig) traits(text string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.cwd, "traits"), []byte("load,"+text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killRig) create() {
	k.t.Helper()
	var made protocol.CreateResult
	k.session = ""
	k.do(protocol.DoCreate, protocol.CreateData{
		Agent: "a", CWD: k.cwd, Lazy: true, Sandbox: protocol.Sandbox{Mode: protocol.SandboxWorkspace},
	}, &made)
	k.session = made.Session
}

func (k *killRig) do(verb protocol.Verb, data, result any) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	c := protocol.Command{Command: verb, Session: k.session, Data: protocol.MustEncode(data)}
	if err := k.client.Do(ctx, c, result); err != nil {
		k.t.Fatalf("%s: %v\n%s", verb, err, k.log())
	}
}

// post sends a command whose answer may never come.
func (k *killRig) post(verb protocol.Verb, data any) {
	c := protocol.Command{Command: verb, Session: k.session, Data: protocol.MustEncode(data)}
	go func() { _ = k.client.Do(k.t.Context(), c, nil) }()
}

// follow returns the events of the session from now on.
func (k *killRig) follow() *wsclient.Subscription {
	k.t.Helper()
	var r protocol.SnapshotResult
	k.do(protocol.DoSnapshot, protocol.Empty{}, &r)
	since := protocol.Position{Epoch: r.Snapshot.Epoch, Seq: r.Snapshot.State.Seq}
	return k.client.Subscribe(k.session, wsclient.SubscribeOptions{Since: &since})
}

func (k *killRig) waitEvent(events *wsclient.Subscription, kind protocol.Type) *protocol.Event {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	for it, err := range events.Events(ctx) {
		if err != nil {
			break
		}
		if it.Event != nil && it.Event.Type == kind {
			return it.Event
		}
	}
	k.t.Fatalf("no %s\n%s", kind, k.log())
	return nil
}

func (k *killRig) log() string {
	b, _ := os.ReadFile(k.server.LogFile())
	return string(b)
}

// run runs a turn, which must complete.
func (k *killRig) run(text string) {
	k.t.Helper()
	seen := k.follow()
	k.do(protocol.DoSend, protocol.SendData{Text: text}, nil)
	for {
		end := k.waitEvent(seen, protocol.TurnEnded)
		var d protocol.TurnEndedData
		if err := end.Decode(&d); err != nil {
			k.t.Fatal(err)
		}
		switch d.Reason {
		case protocol.ReasonCompleted:
			return
		case protocol.ReasonError: // of the turn that was interrupted
		default:
			k.t.Fatalf("the turn ended: %+v", d)
		}
	}
}

// works runs a turn with a new process of the agent, in a new session if the earlier one is closed.
func (k *killRig) works() {
	k.t.Helper()
	k.traits("plain")
	if k.session == "" {
		k.create()
	}
	k.run("say it works")
}

// tree returns the server and the processes below it, each the first child of the one before.
func (k *killRig) tree() []int {
	tree := []int{k.server.PID()}
	for len(tree) <= len(victims) {
		child := children(tree[len(tree)-1])[0]
		if child == 0 {
			break
		}
		tree = append(tree, child)
	}
	return tree
}

// program returns the name of the program in the sandbox, or "".
func (k *killRig) program() string {
	tree := k.tree()
	if len(tree) < len(victims) {
		return ""
	}
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", tree[len(victims)-1]))
	name, _, _ := bytes.Cut(line, []byte{0})
	return filepath.Base(string(name))
}

// startTurn starts a turn that does not end, with a process below the agent.
func (k *killRig) startTurn() {
	k.post(protocol.DoSend, protocol.SendData{Text: "child\ndeaf"})
	waitFor(k.t, "turn", func() bool {
		tree := k.tree()
		return len(tree) == len(victims)+1 && k.program() == "agent"
	})
}

// stopSetUp stops a sandbox before its set-up.
func (k *killRig) stopSetUp() {
	k.write("hold", "")
	k.post(protocol.DoSend, protocol.SendData{Text: "x"})
	waitFor(k.t, "stopped set-up", func() bool {
		tree := k.tree()
		return len(tree) == 2 && state(tree[1]) == "T"
	})
	if err := os.Remove(filepath.Join(k.dir, "hold")); err != nil {
		k.t.Fatal(err)
	}
}

// stopRecord stops the server while a complete sandbox waits for the record of its group.
func (k *killRig) stopRecord() {
	k.stopSetUp()
	k.signal(k.server.PID(), syscall.SIGSTOP)
	waitFor(k.t, "stopped server", func() bool { return state(k.server.PID()) == "T" })
	k.signal(k.tree()[1], syscall.SIGCONT)
	waitFor(
		k.t, "complete sandbox", func() bool { return k.program() == "sh" && state(k.tree()[len(victims)-1]) == "S" },
	)
}

// state returns the state of a process as ps shows it.
func state(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if _, after, ok := strings.Cut(string(b), ") "); ok {
		return after[:1]
	}
	return ""
}

func (k *killRig) signal(pid int, s syscall.Signal) {
	k.t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killRig) waitGone(processes []int) {
	k.t.Helper()
	waitFor(k.t, "end of the processes", func() bool { return !slices.ContainsFunc(processes, k.server.Owns) })
}

// sandboxes returns the directories of sandboxes.
func (k *killRig) sandboxes() (list []string) {
	entries, _ := os.ReadDir(filepath.Join(k.data, "sandbox"))
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, e.Name())
		}
	}
	return list
}

// checkNothingLeft looks for directories of sandboxes that have ended, for their file in the repository, and
// for mounts.
func (k *killRig) checkNothingLeft(ended []string) {
	k.t.Helper()
	for _, name := range k.sandboxes() {
		if slices.Contains(ended, name) {
			k.t.Errorf("left: the directory %s", name)
		}
	}
	if _, err := os.Stat(filepath.Join(k.cwd, ".git/commondir")); err == nil {
		k.t.Error("left: .git/commondir")
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || bytes.Contains(mounts, []byte(k.dir)) {
		k.t.Errorf("a mount is left, or %v", err)
	}
}

package session

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/agent"
)

const (
	work    = protocol.SandboxWorkspace
	only    = protocol.SandboxReadOnly
	netOff  = protocol.SandboxNetworkOff
	dirAsks = "only in its directory"
)

// newSandboxHub returns a hub whose agent "free" has no configured sandbox, and "held" read-only.
func newSandboxHub(t *testing.T) *testHub {
	r := newTestHub(t, Config{System: System{Confine: (&sandboxes{}).confine}})
	r.agents.sandboxes = map[string]protocol.Sandbox{"held": {Mode: only}}
	return r
}

// sandbox returns the sandbox of a session in its state and summary, and that its agent got.
func (r *testHub) sandbox(session string) protocol.Sandbox {
	r.t.Helper()
	got := r.state(session).Sandbox
	sum, _ := r.hub.list.Summary(session)
	if a := r.agents.opened[len(r.agents.opened)-1]; a.spec.Sandbox != got || sum.Sandbox != got {
		r.t.Errorf("the state has %s, the summary %s, the agent %s", got, sum.Sandbox, a.spec.Sandbox)
	}
	return got
}

// The order is: the session's choice, the configuration, off; a session of an agent is confined as its
// parent and the configuration at least.
func TestWhoChoosesTheSandboxOfASession(t *testing.T) {
	type box = protocol.Sandbox
	for _, c := range []struct {
		agent         string
		parent, chose box
		byAgent       bool
		want          box
		code          protocol.Code
	}{
		{agent: "free"},
		{agent: "held", want: box{Mode: only}},
		{agent: "free", chose: box{Mode: work}, want: box{Mode: work}},
		{agent: "held", chose: box{Mode: work}, want: box{Mode: work}},
		{agent: "held", chose: box{Mode: protocol.SandboxOff}},
		{agent: "free", chose: box{Mode: "strong"}, code: protocol.CodeInvalidMessage},
		{agent: "free", chose: box{Network: netOff}, code: protocol.CodeInvalidMessage},
		{agent: "free", chose: box{Mode: work, Network: netOff}, code: protocol.CodeUnsupported},
		{agent: "held", chose: box{Network: netOff}, code: protocol.CodeUnsupported},
		{agent: "fake", byAgent: true},
		{agent: "fake", byAgent: true, parent: box{Mode: work}, want: box{Mode: work}},
		{agent: "fake", byAgent: true, parent: box{Mode: work}, chose: box{Mode: only}, want: box{Mode: only}},
		{agent: "fake", byAgent: true, parent: box{Mode: only}, chose: box{Mode: work}, code: protocol.CodeForbidden},
		{agent: "fake", byAgent: true, parent: box{Mode: work}, chose: box{Mode: protocol.SandboxOff}, code: protocol.CodeForbidden},
		{agent: "fake", byAgent: true, chose: box{Mode: protocol.SandboxOff}},
		{agent: "held", byAgent: true, want: box{Mode: only}},
		{agent: "held", byAgent: true, parent: box{Mode: work}, want: box{Mode: only}},
		{agent: "held", byAgent: true, chose: box{Mode: protocol.SandboxOff}, code: protocol.CodeForbidden},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newSandboxHub(t)
			defer r.close()
			who := anna
			if c.byAgent {
				boss := protocol.CreateData{Agent: c.agent, Sandbox: c.parent}
				if boss.Sandbox.Mode == "" {
					boss.Sandbox.Mode = protocol.SandboxOff
				}
				who = r.agentOf(r.createBy(anna, boss))
			}
			k := r.do(who, newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: c.agent, Sandbox: c.chose}))
			if c.code != "" {
				if e := refused(r, k, c.code); c.code == protocol.CodeForbidden && !strings.Contains(e.Message, "weaker") {
					t.Errorf("%+v: %s", c, e.Message)
				}
				return
			}
			res := must[protocol.CreateResult](r, k)
			if got := r.sandbox(res.Session); got != c.want || res.Sandbox != c.want {
				t.Errorf("%+v: %+v, answered %+v", c, got, res.Sandbox)
			}
		})
	}
}

// A user chooses an agent on another machine, which no sandbox confines. An agent does in no way.
func TestOnlyAUserChoosesAnAgentElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSandboxHub(t)
		defer r.close()
		for _, name := range []string{"far", "acp:wss://far.example/acp"} {
			far := protocol.CreateData{Agent: name, CWD: "/directory/of/another/machine"}
			id := r.createBy(anna, far)
			if got := r.sandbox(id); got.Mode != protocol.SandboxRemote {
				t.Errorf("the sandbox is %s", got)
			}
			must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x"})))
			r.agents.run().finish(agent.End{}, nil)
			r.waitIdle()
			confined := protocol.CreateData{Agent: name, Sandbox: protocol.Sandbox{Mode: work}}
			refused(r, r.do(anna, newCommand(protocol.DoCreate, "", confined)), protocol.CodeUnsupported)
			state := must[protocol.ExportResult](r, r.do(anna, newCommand(protocol.DoExport, id, protocol.Empty{}))).State
			for _, parent := range []protocol.CreateData{
				{Agent: "free"}, {Agent: "free", Sandbox: protocol.Sandbox{Mode: work}}, far,
			} {
				boss := r.agentOf(r.createBy(anna, parent))
				for _, c := range []protocol.Command{
					newCommand(protocol.DoCreate, "", far), newCommand(protocol.DoFork, id, protocol.ForkData{}),
					newCommand(protocol.DoRestore, "", protocol.RestoreData{State: state}),
					newCommand(protocol.DoImport, "", protocol.ImportData{CreateData: far, Events: logOf(r, id)}),
				} {
					refused(r, r.do(boss, c), protocol.CodeForbidden)
				}
			}
		}
		chosen := protocol.CreateData{Agent: "free", Sandbox: protocol.Sandbox{Mode: protocol.SandboxRemote}}
		refused(r, r.do(anna, newCommand(protocol.DoCreate, "", chosen)), protocol.CodeInvalidMessage)
	})
}

func TestASandboxSurvivesARestartARestoreAndAnImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSandboxHub(t)
		defer func() { r.close() }()
		r.agents.capable = func(context.Context, string) error { return nil }
		want := protocol.Sandbox{Mode: work}
		id := r.createBy(anna, protocol.CreateData{Agent: "free", Sandbox: want})
		exported := must[protocol.ExportResult](r, r.do(anna, newCommand(protocol.DoExport, id, protocol.Empty{}))).State
		r.restart()
		r.agents.sandboxes = map[string]protocol.Sandbox{"free": {Mode: only}}
		must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x"})))
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if got := r.sandbox(id); got != want {
			t.Errorf("after a restart it is %s", got)
		}
		for name, c := range map[string]protocol.Command{
			"a restored state": newCommand(protocol.DoRestore, "", protocol.RestoreData{State: exported}),
			"an import": newCommand(protocol.DoImport, "", protocol.ImportData{
				CreateData: protocol.CreateData{Agent: "free", Sandbox: want}, Events: logOf(r, id),
			}),
		} {
			res := must[protocol.CreateResult](r, r.do(anna, c))
			if got := r.state(res.Session).Sandbox; got.Mode != only {
				t.Errorf("%s has %s, weaker than the configuration", name, got)
			}
		}
	})
}

func TestAnAgentInASandboxCreatesSessionsOnlyInItsDirectory(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newSandboxHub(t)
		defer r.close()
		for _, confined := range []protocol.Sandbox{{}, {Mode: work}} {
			boss := r.agentOf(r.createBy(anna, protocol.CreateData{CWD: dir, Sandbox: confined}))
			child := r.createBy(boss, protocol.CreateData{CWD: dir})
			if got := r.state(child).CWD; got != dir {
				t.Errorf("%s: in %q", confined, got)
			}
			k := r.do(boss, newCommand(protocol.DoCreate, "", protocol.CreateData{CWD: other}))
			if !confined.Confines() {
				must[protocol.CreateResult](r, k)
				continue
			}
			if e := refused(r, k, protocol.CodeForbidden); !strings.Contains(e.Message, dirAsks) {
				t.Error(e.Message)
			}
			if got := r.state(r.createBy(boss, protocol.CreateData{})).CWD; got != dir {
				t.Errorf("without a directory in %q", got)
			}
		}
	})
}

// A request that the sandbox certainly refuses says so, and nothing allows it.
func TestARequestThatTheSandboxRefusesIsNotAllowed(t *testing.T) {
	dir := t.TempDir()
	patch := func(paths ...string) protocol.Approval {
		return protocol.Approval{Kind: protocol.ApprovePatch, Title: "edit", Paths: paths, Options: []protocol.Option{
			{ID: "go", Kind: protocol.AllowOnce, Label: "Go"},
		}}
	}
	command := func(line, input string) protocol.Approval {
		return protocol.Approval{Kind: protocol.ApproveCommand, Title: "run", Command: line, Input: []byte(input)}
	}
	for name, c := range map[string]struct {
		sandbox protocol.Sandbox
		request protocol.Approval
		refused bool
	}{
		"a file of the directory":     {protocol.Sandbox{Mode: only}, patch(dir + "/a"), true},
		"a relative file":             {protocol.Sandbox{Mode: only}, patch("/elsewhere", "a"), true},
		"a file elsewhere":            {protocol.Sandbox{Mode: only}, patch("/elsewhere/a"), false},
		"no file":                     {protocol.Sandbox{Mode: only}, patch(), false},
		"a command that writes":       {protocol.Sandbox{Mode: only}, command("make && touch a", ""), true},
		"a command that may write":    {protocol.Sandbox{Mode: only}, command("make || touch a", ""), false},
		"a command that reads":        {protocol.Sandbox{Mode: only}, command("cat a", ""), false},
		"a command in a directory":    {protocol.Sandbox{Mode: only}, command("touch /elsewhere/a", ""), false},
		"a command for the directory": {protocol.Sandbox{Mode: work}, command("touch a; make > out.log", ""), false},
		"a command that changes git":  {protocol.Sandbox{Mode: work}, command("echo x >> .git/config", ""), true},
		"a command that needs rights": {protocol.Sandbox{Mode: work}, command("sudo make install", ""), true},
		"the command without sandbox": {protocol.Sandbox{}, command("sudo make install", ""), false},
		"a command with more than one": {
			protocol.Sandbox{Mode: work}, command("", `{"command":"sudo make","env":{"A":"1"}}`), false,
		},
		"the configuration of git": {protocol.Sandbox{Mode: work}, patch(dir+"/a", dir+"/.git/config"), true},
		"git without a sandbox":    {protocol.Sandbox{}, patch(dir + "/.git/config"), false},
		"in a writable directory":  {protocol.Sandbox{Mode: work}, patch(dir + "/a"), false},
		"without a sandbox":        {protocol.Sandbox{}, patch(dir + "/a"), false},
		"what the agent says of it": {protocol.Sandbox{}, protocol.Approval{
			Kind: protocol.ApproveTool, Title: "x", ApprovalContext: protocol.ApprovalContext{Refused: "no"},
		}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newSandboxHub(t)
			defer r.close()
			id := r.createBy(anna, protocol.CreateData{CWD: dir, Sandbox: c.sandbox})
			must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x"})))
			r.agents.run().ask(c.request)
			r.waitIdle()
			a := r.state(id).Approvals[0]
			if (a.Refused != "") != c.refused || a.Offers(protocol.AllowOnce) == c.refused ||
				c.refused && a.Offers(protocol.AllowAlways) || !a.Offers(protocol.Deny) {
				t.Errorf("%s: refused %q, options %+v", name, a.Refused, a.Options)
			}
			k := r.do(anna, newCommand(protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce}))
			if c.refused {
				refused(r, k, protocol.CodeUnsupported)
			} else {
				must[protocol.ApproveResult](r, k)
			}
		})
	}
}

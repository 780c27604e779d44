package dashboard

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// createHint is the hint of the form that creates a session.
const createHint = "tab next field · enter creates · esc cancels"

// creator opens forms that create a session.
type creator struct {
	requests *requester
	servers  *servers
	cwd      string        // default directory of new sessions
	newID    func() string // returns a new client message ID
	propose  func() string // returns the agent proposed for the home server; nil: its default
	prompt   string        // of a form that was cancelled, until a session has it
}

// createForm creates a session and opens it. The server creates none if its agent cannot start.
// With several servers a field chooses one; the choices of agents, the default directory and the field
// of the sandbox follow.
type createForm struct {
	*ui.Form
	*creator
	server   int // index of the field of the server, or -1
	agent    int // index of the field of the agent; directory, perhaps sandbox, and prompt follow
	chosen   string
	proposed string // agent of the home server
}

// open returns a form with the proposed agent and the prompt of a cancelled one.
func (c *creator) open() *createForm { return c.newForm(c.proposal(), c.prompt) }

// newForm returns a form with an agent of the home server, or none, and a prompt.
func (c *creator) newForm(agent, prompt string) *createForm {
	f := &createForm{creator: c, server: -1, agent: 1, proposed: agent}
	fields := []ui.Field{ui.NewField("name", "", "(optional)")}
	if names := c.servers.names; len(names) > 0 {
		f.server, f.agent, f.chosen = 1, 2, names[0]
		hint := names[0] + " · →: " + strings.Join(names[1:], ", ")
		fields = append(fields, ui.NewField("server", "", hint, names[1:]...))
	}
	fields = append(fields, ui.NewField("agent", f.proposed, ""), ui.NewField("directory", c.cwd, "(server's)"),
		ui.NewField("prompt", prompt, "(optional)"))
	f.Form = ui.NewForm(c.requests.styles, "new session", createHint, fields...)
	f.setAgents(c.requests.server.Agents())
	f.offerSandbox(c.requests.server.Sandbox())
	f.Changed = func(*ui.Form) { f.followServer() }
	f.Submit = func(*ui.Form) ui.Response { return f.submit() }
	f.Cancel = func() { c.prompt = f.Value(f.promptField()) }
	return f
}

// proposal returns the agent proposed for the home server, or "".
func (c *creator) proposal() string {
	if c.propose == nil {
		return ""
	}
	return c.propose()
}

// promptField returns the index of the field of the prompt.
func (f *createForm) promptField() int { return len(f.Fields) - 1 }

// setAgents offers the agents of a server.
func (f *createForm) setAgents(agents []string) {
	hint := "(default)"
	if len(agents) > 0 {
		hint += " · →: " + strings.Join(agents, ", ")
	}
	field := &f.Fields[f.agent]
	field.Placeholder, field.Choices = ui.Excerpt(hint), agents
}

// followServer offers the agents of the chosen server. The directory of this machine and the
// proposed agent are those of home only.
func (f *createForm) followServer() {
	if f.server < 0 {
		return
	}
	home, before := f.servers.names[0], f.chosen
	f.chosen = cmp.Or(strings.TrimSpace(f.Value(f.server)), home)
	if f.chosen == before {
		return
	}
	f.setAgents(f.servers.several.AgentsOf(f.chosen))
	f.offerSandbox(f.servers.several.SandboxOf(f.chosen))
	switch directory := f.Value(f.agent + 1); {
	case before == home && directory == f.cwd:
		f.SetValue(f.agent+1, "")
	case f.chosen == home && directory == "":
		f.SetValue(f.agent+1, f.cwd)
	}
	switch agent := f.Value(f.agent); {
	case before == home && agent == f.proposed:
		f.SetValue(f.agent, "")
	case f.chosen == home && agent == "":
		f.SetValue(f.agent, f.proposed)
	}
}

// submit sends the request.
func (f *createForm) submit() ui.Response {
	chosen := f.chosen
	value := func(i int) string { return strings.TrimSpace(f.Value(i)) }
	data := protocol.CreateData{
		Name: value(0), Agent: value(f.agent), CWD: value(f.agent + 1), Prompt: value(f.promptField()), Check: true,
	}
	if data.Prompt != "" {
		data.ClientMessageID = f.newID()
	}
	if i := f.sandbox(); i >= 0 {
		var err error
		if data.Sandbox, err = readSandbox(value(i)); err != nil {
			f.Fail(err.Error(), "")
			return ui.Response{}
		}
	}
	create := f.requests.server.Create
	if f.server >= 0 {
		if err := f.servers.refuseServer(chosen); err != nil {
			f.Fail(err.Error(), "")
			return ui.Response{}
		}
		create = func(ctx context.Context, data protocol.CreateData) (protocol.CreateResult, error) {
			return f.servers.several.CreateOn(ctx, chosen, data)
		}
	}
	f.Sending()
	var created protocol.CreateResult
	return ui.Response{Cmd: f.requests.Run(func(ctx context.Context) (err error) {
		created, err = create(ctx, data)
		return err
	}, func(err error) tea.Cmd {
		if err == nil && data.Prompt != "" {
			f.prompt = ""
		}
		return f.requests.submitted(f.Form, f, err, OpenIntent{created.Session})
	})}
}

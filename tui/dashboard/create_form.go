package dashboard

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// createForm creates a session and opens it. The server creates none if its agent cannot start.
// With several servers a field chooses one; the choices of agents and the default directory follow.
type createForm struct {
	*ui.Form
	dashboard *Dashboard
	server    int // index of the field of the server, or -1
	agent     int // index of the field of the agent; directory and prompt follow
	chosen    string
	proposed  string // agent of the home server
	draft     createDraft
}

func (d *Dashboard) createForm() *createForm {
	f := &createForm{dashboard: d, server: -1, agent: 1}
	fields := []ui.Field{ui.NewField("name", "", "(optional)")}
	if names := d.servers.names; len(names) > 0 {
		f.server, f.agent, f.chosen = 1, 2, names[0]
		hint := names[0] + " · →: " + strings.Join(names[1:], ", ")
		fields = append(fields, ui.NewField("server", "", hint, names[1:]...))
	}
	if d.Agent != nil {
		f.proposed = d.Agent()
	}
	fields = append(fields, ui.NewField("agent", f.proposed, ""), ui.NewField("directory", d.CWD, "(server's)"),
		ui.NewField("prompt", "", "(optional)"))
	f.Form = ui.NewForm(d.Styles, "new session", createHint, fields...)
	f.setAgents(d.Server.Agents())
	for i := range f.Fields {
		f.draft.first = append(f.draft.first, f.Value(i))
	}
	f.Changed = func(*ui.Form) { f.followServer(); f.saveDraft() }
	f.Submit = func(*ui.Form) ui.Response { return f.submit() }
	f.Cancel = f.close
	return f
}

// setAgents offers the agents of a server.
func (f *createForm) setAgents(agents []string) {
	hint := "(default)"
	if len(agents) > 0 {
		hint += " · →: " + strings.Join(agents, ", ")
	}
	field := &f.Fields[f.agent]
	field.Placeholder, field.Choices = format.JoinLines(transcript.Clean(hint)), agents
}

// followServer offers the agents of the chosen server. The directory of this machine and the
// proposed agent are those of home only.
func (f *createForm) followServer() {
	d := f.dashboard
	if f.server < 0 {
		return
	}
	home, before := d.servers.names[0], f.chosen
	f.chosen = cmp.Or(strings.TrimSpace(f.Value(f.server)), home)
	if f.chosen == before {
		return
	}
	f.setAgents(d.servers.several.AgentsOf(f.chosen))
	switch directory := f.Value(f.agent + 1); {
	case before == home && directory == d.CWD:
		f.SetValue(f.agent+1, "")
	case f.chosen == home && directory == "":
		f.SetValue(f.agent+1, d.CWD)
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
	d, chosen := f.dashboard, f.chosen
	value := func(i int) string { return strings.TrimSpace(f.Value(i)) }
	data := protocol.CreateData{
		Name: value(0), Agent: value(f.agent), CWD: value(f.agent + 1), Prompt: value(f.prompt()), Check: true,
	}
	if data.Prompt != "" {
		data.ClientMessageID = d.NewID()
	}
	create := d.Server.Create
	if f.server >= 0 {
		if err := d.servers.refuseServer(chosen); err != nil {
			f.Fail(err.Error(), "")
			return ui.Response{}
		}
		create = func(ctx context.Context, data protocol.CreateData) (protocol.CreateResult, error) {
			return d.servers.several.CreateOn(ctx, chosen, data)
		}
	}
	f.Sending()
	return ui.Response{Cmd: d.requests.run(func(ctx context.Context) doneFunc {
		created, err := create(ctx, data)
		return func() (tea.Cmd, ui.Intent) {
			if err == nil {
				f.removeDraft()
			}
			return d.submitted(f.Form, f, err, OpenIntent{created.Session})
		}
	})}
}

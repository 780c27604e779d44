package dashboard

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// sessionName returns the display name of a session, on one line.
func sessionName(s *protocol.Summary) string {
	return ui.OneLine(transcript.Clean(cmp.Or(s.Name, s.Title, ui.ShortID(s.Session))))
}

// filterForm returns the form for the filter. Each change applies the filter.
func (d *Dashboard) filterForm() *ui.Form {
	f := ui.NewForm(d.Styles, "filter", "enter keeps · esc shows all",
		ui.NewField("words", d.filter, "of the name, title, agent, directory or status"))
	f.Changed = func(f *ui.Form) { d.setFilter(f.Value(0)) }
	f.Submit = func(*ui.Form) ui.Response { return ui.Response{Close: true} }
	f.Cancel = func() { d.setFilter("") }
	return f
}

// createForm returns the form that creates a session. The created session is opened. The server
// creates none if its agent cannot start.
func (d *Dashboard) createForm() *ui.Form {
	agents := d.Server.Agents()
	agentHint := "(default)"
	if len(agents) > 0 {
		agentHint += " · →: " + strings.Join(agents, ", ")
	}
	f := ui.NewForm(d.Styles, "new session", "tab next field · enter creates · esc cancels",
		ui.NewField("name", "", "(optional)"),
		ui.NewField("agent", "", ui.OneLine(transcript.Clean(agentHint)), agents...),
		ui.NewField("directory", d.CWD, "(server's)"),
		ui.NewField("prompt", "", "(optional)"),
	)
	f.Submit = func(f *ui.Form) ui.Response {
		f.Sending()
		data := protocol.CreateData{
			Name: strings.TrimSpace(f.Value(0)), Agent: strings.TrimSpace(f.Value(1)),
			CWD: strings.TrimSpace(f.Value(2)), Prompt: strings.TrimSpace(f.Value(3)), Check: true,
		}
		if data.Prompt != "" {
			data.ClientMessageID = d.NewID()
		}
		return ui.Response{Cmd: d.requests.run(func(ctx context.Context) doneFunc {
			created, err := d.Server.Create(ctx, data)
			return func() (tea.Cmd, any) { return d.submitted(f, err, OpenIntent{created.Session}) }
		})}
	}
	return f
}

// renameForm returns the form that renames a session.
func (d *Dashboard) renameForm(s *protocol.Summary) *ui.Form {
	f := ui.NewForm(d.Styles, "rename "+sessionName(s), "enter renames · esc cancels",
		ui.NewField("name", ui.OneLine(transcript.Clean(s.Name)), "(optional)"))
	session := s.Session
	f.Submit = func(f *ui.Form) ui.Response {
		f.Sending()
		name := strings.TrimSpace(f.Value(0))
		data := protocol.RenameData{Name: &name}
		return ui.Response{Cmd: d.requests.do(session, protocol.DoRename, data, nil, func(err error) (tea.Cmd, any) {
			return d.submitted(f, err, nil)
		})}
	}
	return f
}

// submitted handles the result of a form's request. It closes the form and returns the intent then.
// On error the form stays open and shows it.
func (d *Dashboard) submitted(f *ui.Form, err error, then any) (tea.Cmd, any) {
	switch {
	case !d.overlays.Contains(f): // the user closed it
		return d.requests.report(err)
	case err != nil:
		f.Fail(remote.ErrorText(err), remote.Advice(err))
		return nil, nil
	}
	return nil, closeIntent{f, then}
}

// closeDialog offers to close or delete a session.
type closeDialog struct {
	styles   *ui.Styles
	requests *requester
	session  string
	name     string
	closed   bool
}

func (c *closeDialog) Scope() keymap.Scope { return keymap.EndSession }
func (c *closeDialog) FullScreen() bool    { return false }
func (c *closeDialog) KeyHint() string     { return c.styles.Keys.Hint(keymap.Back, "back") }

func (c *closeDialog) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return c.press(msg.String())
	case tea.MouseWheelMsg:
		return ui.Response{Pass: true}
	case *protocol.Summary:
		if msg.Session == c.session {
			c.closed = msg.Status == protocol.Closed
			return ui.Response{Close: msg.Deleted}
		}
	}
	return ui.Response{}
}

func (c *closeDialog) press(key string) ui.Response {
	data := protocol.CloseData{}
	switch c.styles.Keys.InList(keymap.EndSession, key) {
	case keymap.Back:
		return ui.Response{Close: true}
	case keymap.CloseSession:
		if c.closed {
			return ui.Response{}
		}
	case keymap.DeleteSession:
		data.Delete = true
	default:
		return ui.Response{}
	}
	return ui.Response{Close: true, Cmd: c.requests.do(c.session, protocol.DoClose, data, nil, c.requests.report)}
}

func (c *closeDialog) View(width, height int) ([]string, *tea.Cursor) {
	s := c.styles
	out := []string{s.Rule(s.Warning.Render("close "+c.name+"?"), width)}
	if !c.closed {
		key := s.KeyName.Render(s.Keys.Key(keymap.CloseSession))
		out = append(out, ui.Fit("   "+key+" close: the turn is interrupted, the history stays", width))
	}
	key := s.KeyName.Render(s.Keys.Key(keymap.DeleteSession))
	out = append(out, ui.Fit("   "+key+" delete with all history", width))
	return out[:min(len(out), max(height, 0))], nil
}

package tui

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
)

// sessionName returns what a session is called.
func sessionName(s *protocol.Summary) string {
	return OneLine(transcript.Clean(cmp.Or(s.Name, s.Title, ShortID(s.Session))))
}

// filterForm filters the list while its text is typed.
func (d *Dashboard) filterForm() *Form {
	f := NewForm(d.Styles, "filter", "enter keeps · esc shows all",
		NewField("words", d.filter, "of the name, title, agent, directory or status"))
	f.Changed = func(f *Form) { d.setFilter(f.Value(0)) }
	f.Submit = func(*Form) Response { return Response{Close: true} }
	f.Cancel = func() { d.setFilter("") }
	return f
}

// createForm creates a session and opens it.
func (d *Dashboard) createForm() *Form {
	agents := d.Server.Agents()
	agentHint := "(default)"
	if len(agents) > 0 {
		agentHint += " · →: " + strings.Join(agents, ", ")
	}
	f := NewForm(d.Styles, "new session", "tab next field · enter creates · esc cancels",
		NewField("name", "", "(optional)"),
		NewField("agent", "", OneLine(transcript.Clean(agentHint)), agents...),
		NewField("directory", d.CWD, "(server's)"),
		NewField("prompt", "", "(optional)"),
	)
	f.Submit = func(f *Form) Response {
		f.Sending()
		data := protocol.CreateData{
			Name: strings.TrimSpace(f.Value(0)), Agent: strings.TrimSpace(f.Value(1)),
			CWD: strings.TrimSpace(f.Value(2)), Prompt: strings.TrimSpace(f.Value(3)),
		}
		if data.Prompt != "" {
			data.ClientMessageID = d.NewID()
		}
		return Response{Cmd: d.requests.run(func(ctx context.Context) doneFunc {
			created, err := d.Server.Create(ctx, data)
			return func() (tea.Cmd, any) { return d.submitted(f, err, OpenIntent{created.Session}) }
		})}
	}
	return f
}

// renameForm renames a session.
func (d *Dashboard) renameForm(s *protocol.Summary) *Form {
	f := NewForm(d.Styles, "rename "+sessionName(s), "enter renames · esc cancels",
		NewField("name", OneLine(transcript.Clean(s.Name)), "(optional)"))
	session := s.Session
	f.Submit = func(f *Form) Response {
		f.Sending()
		name := strings.TrimSpace(f.Value(0))
		data := protocol.RenameData{Name: &name}
		return Response{Cmd: d.requests.do(session, protocol.DoRename, data, nil, func(err error) (tea.Cmd, any) {
			return d.submitted(f, err, nil)
		})}
	}
	return f
}

// submitted takes the answer to a form: a refused one stays open.
func (d *Dashboard) submitted(f *Form, err error, then any) (tea.Cmd, any) {
	switch {
	case !d.overlays.Contains(f): // the user has left it
		return d.requests.report(err)
	case err != nil:
		f.Fail(remote.ErrorText(err))
		return nil, nil
	}
	return nil, closeIntent{f, then}
}

// closeDialog asks whether a session is closed or deleted.
type closeDialog struct {
	styles   *Styles
	requests *requester
	session  string
	name     string
	closed   bool
}

func (c *closeDialog) Scope() keymap.Scope { return keymap.EndSession }
func (c *closeDialog) FullScreen() bool    { return false }
func (c *closeDialog) KeyHint() string     { return c.styles.Keys.Hint(keymap.Back, "back") }

func (c *closeDialog) Update(msg tea.Msg) Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return c.press(msg.String())
	case tea.MouseWheelMsg:
		return Response{Pass: true}
	case *protocol.Summary:
		if msg.Session == c.session {
			c.closed = msg.Status == protocol.Closed
			return Response{Close: msg.Deleted}
		}
	}
	return Response{}
}

func (c *closeDialog) press(key string) Response {
	data := protocol.CloseData{}
	switch c.styles.Keys.InList(keymap.EndSession, key) {
	case keymap.Back:
		return Response{Close: true}
	case keymap.CloseSession:
		if c.closed {
			return Response{}
		}
	case keymap.DeleteSession:
		data.Delete = true
	default:
		return Response{}
	}
	return Response{Close: true, Cmd: c.requests.do(c.session, protocol.DoClose, data, nil, c.requests.report)}
}

func (c *closeDialog) View(width, height int) ([]string, *tea.Cursor) {
	s := c.styles
	out := []string{s.Rule(s.Warning.Render("close "+c.name+"?"), width)}
	if !c.closed {
		key := s.KeyName.Render(s.Keys.Key(keymap.CloseSession))
		out = append(out, Fit("   "+key+" close: the turn is interrupted, the history stays", width))
	}
	key := s.KeyName.Render(s.Keys.Key(keymap.DeleteSession))
	out = append(out, Fit("   "+key+" delete with all history", width))
	return out[:min(len(out), max(height, 0))], nil
}

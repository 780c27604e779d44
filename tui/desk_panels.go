package tui

import (
	"cmp"
	"context"
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// callOf is what a person calls a session.
func callOf(s *protocol.Summary) string {
	return oneLine(transcript.Clean(cmp.Or(s.Name, s.Title, short(s.Session))))
}

// newFiltering asks for words, and narrows down to them as they are written.
func newFiltering(d *desk) panel {
	return &fields{
		title:   "only those with",
		keys:    "enter keeps · esc shows all",
		list:    []field{newField("words", d.filter, "of the name, title, agent, directory or status")},
		changed: func(d *desk) { d.narrow(d.panel.(*fields).value(0)) },
		done:    func(d *desk) tea.Cmd { d.panel = nil; return nil },
		left:    func(d *desk) { d.narrow("") },
	}
}

// newCreating asks what a new session shall be; the answer opens it.
func newCreating(d *desk) panel {
	agents := d.fleet.Agents()
	f := &fields{title: "new session", keys: "tab the next line · enter creates · esc back"}
	of := "the server's default"
	if len(agents) > 0 {
		of += "; →: " + strings.Join(agents, ", ")
	}
	f.list = []field{
		newField("name", "", "none"),
		newField("agent", "", oneLine(transcript.Clean(of)), agents...),
		newField("directory", d.cwd, "the server's"),
		newField("prompt", "", "none: it waits for you"),
	}
	f.done = func(d *desk) tea.Cmd {
		f.sending, f.err = true, ""
		data := protocol.CreateData{
			Name: strings.TrimSpace(f.value(0)), Agent: strings.TrimSpace(f.value(1)), CWD: strings.TrimSpace(f.value(2)), Prompt: strings.TrimSpace(f.value(3)),
		}
		if data.Prompt != "" {
			data.ClientMessageID = d.newID()
		}
		return d.do(func(ctx context.Context) func() tea.Cmd {
			made, err := d.fleet.Create(ctx, data)
			return func() tea.Cmd {
				switch {
				case d.panel != panel(f): // the person has left it
					return d.tell(err)
				case err != nil:
					f.sending, f.err = false, remote.ErrorText(err)
					return nil
				}
				d.panel = nil
				return d.enter(made.Session)
			}
		})
	}
	return f
}

// newRenaming asks for a session's name.
func newRenaming(s *protocol.Summary) panel {
	f := &fields{title: "rename " + callOf(s), keys: "enter renames · esc back", list: []field{newField("name", oneLine(transcript.Clean(s.Name)), "none: its title shows")}}
	session := s.Session
	f.done = func(d *desk) tea.Cmd {
		f.sending, f.err = true, ""
		name := strings.TrimSpace(f.value(0))
		return d.ask(session, protocol.DoRename, protocol.RenameData{Name: &name}, nil, func(err error) tea.Cmd {
			switch {
			case d.panel != panel(f):
				return d.tell(err)
			case err != nil:
				f.sending, f.err = false, remote.ErrorText(err)
				return nil
			}
			d.panel = nil
			return nil
		})
	}
	return f
}

// ending asks what shall become of a session, as a panel.
type ending struct {
	session string
	name    string
	closed  bool
}

func (e *ending) key(d *desk, key string, _ tea.KeyPressMsg) tea.Cmd {
	data := protocol.CloseData{}
	switch d.look.keys.InList(keymap.EndSession, key) {
	case keymap.Back:
		d.panel = nil
		return nil
	case keymap.CloseSession:
		if e.closed {
			return nil
		}
	case keymap.DeleteSession:
		data.Delete = true
	default:
		return nil
	}
	d.panel = nil
	return d.ask(e.session, protocol.DoClose, data, nil, d.tell)
}

func (e *ending) paste(*desk, string) {}

func (e *ending) follow(d *desk, s *protocol.Summary) {
	if s.Session != e.session {
		return
	}
	if e.closed = s.Status == protocol.Closed; s.Deleted {
		d.panel = nil
	}
}

func (e *ending) hint(l *look) string { return l.keys.Hint(keymap.Back, "back") }

func (e *ending) Render(d *desk, width, rows int) ([]string, *tea.Cursor) {
	keys := d.look.keys
	out := []string{d.look.rule(d.look.warn.Render("end "+e.name+"?"), width)}
	if !e.closed {
		out = append(out, fit("   "+d.look.key.Render(keys.Key(keymap.CloseSession))+" close it: its turn is interrupted, what was said stays", width))
	}
	out = append(out,
		fit("   "+d.look.key.Render(keys.Key(keymap.DeleteSession))+" remove it with all that was said", width))
	return out[:min(len(out), max(rows, 0))], nil
}

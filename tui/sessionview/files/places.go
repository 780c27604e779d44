package files

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/location"
	"agentctl/tui/request"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// OpenPlace opens a file that an item names, at its line, in the user's editor. If the item names
// several, the user chooses one first.
func (x *Files) OpenPlace(item transcript.Item) tea.Cmd {
	dir := x.Replica.State.CWD
	if !x.Local || !filepath.IsAbs(dir) {
		x.Commands.Status.Text = "the session's files are not on this machine"
		return nil
	}
	text, named := transcriptview.Text(item), transcriptview.Locations(item)
	var places []location.Place
	return x.Commands.Run(func(ctx context.Context) (err error) {
		places, err = location.Find(ctx, dir, text, named)
		return err
	}, func(err error) tea.Cmd {
		switch {
		case err != nil:
			x.Commands.Status.Text = "open the session's directory: " + err.Error()
		case len(places) == 0:
			x.Commands.Status.Text = "it names no file of the session's directory"
		case len(places) == 1:
			return x.editPlace(dir, places[0])
		default:
			texts := make([]string, len(places))
			for i, p := range places {
				texts[i] = format.JoinLines(transcript.Reveal(p.String()))
			}
			x.pushMenu("open which file?", "open in the editor", texts, func(i int) tea.Cmd {
				return x.editPlace(dir, places[i])
			})
		}
		return nil
	})
}

// editPlace opens a file in the user's editor, which gets the terminal.
func (x *Files) editPlace(dir string, p location.Place) tea.Cmd {
	file := filepath.Join(dir, filepath.FromSlash(p.Path))
	e := &ui.Editor{
		Context: x.Commands.Tasks.Context(), Command: x.Editor,
		Arguments: location.EditorArguments(x.Editor, file, p.Line, p.Column),
	}
	return x.Exec(e, func(err error) tea.Msg {
		return x.Commands.Tasks.Wrap(request.DoneMsg{Err: err, Then: x.Commands.Report})
	})
}

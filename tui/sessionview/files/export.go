package files

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/download"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// exportExtensions are the extensions of files, and the formats that they choose.
var exportExtensions = map[string]string{
	".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".jsonl": "jsonl", ".cast": "asciicast",
}

// Export saves the session as a document, to path or to one that the user is asked for. The
// extension of the path chooses the format.
func (x *Files) Export(path string) tea.Cmd {
	exporter, ok := x.Commands.Session.(remote.Exporter)
	if !ok {
		x.Commands.Status.Text = "this session cannot be exported here"
		return nil
	}
	name := transcript.CleanLine(remote.SessionName(x.Replica.State))
	if path == "" {
		path = download.Name(name+".md", nil)
	}
	f := ui.NewForm(x.Styles, "export "+name,
		"enter saves; .md, .html, .jsonl or .cast is the format · esc cancels",
		ui.NewField("path", path, "of the new file"))
	f.Submit = func(f *ui.Form) ui.Response {
		path := x.userPath(f.Value(0))
		if path == "" {
			return ui.Response{}
		}
		format := exportExtensions[strings.ToLower(filepath.Ext(path))]
		if !slices.Contains(exporter.ExportFormats(), format) {
			f.Fail("the extension chooses the format", "type a path with .md, .html, .jsonl or .cast")
			return ui.Response{}
		}
		f.Sending()
		return ui.Response{Cmd: x.saveExport(f, exporter, format, path)}
	}
	x.Overlays.Push(f)
	return nil
}

// saveExport exports the session, and saves the document as a file of the agent is saved.
func (x *Files) saveExport(f *ui.Form, exporter remote.Exporter, format, path string) tea.Cmd {
	var data []byte
	return x.Commands.Run(func(ctx context.Context) (err error) {
		data, err = exporter.Export(ctx, format)
		return err
	}, func(err error) tea.Cmd {
		switch {
		case err == nil:
			return x.saveFile(f, path, data, download.Save)
		case x.Overlays.Contains(f):
			f.Fail(remote.ErrorText(err), "enter tries again")
			return nil
		}
		return x.Commands.Report(err)
	})
}

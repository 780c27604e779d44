package sessionview

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/filelist"
	"agentctl/internal/format"
	"agentctl/tui/task"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxFileSuggestions bounds the suggested files.
const maxFileSuggestions = 100

// maxResourceSuggestions bounds the suggested resources, which come before the files.
const maxResourceSuggestions = 20

// fileRows is the maximum number of files shown at once.
const fileRows = 6

// fileCompletion suggests files of the session's directory, and resources that the agent reads,
// while the word at the cursor begins with @. A task lists the files each time that such a word is
// begun.
type fileCompletion struct {
	styles  *ui.Styles
	replica *replica
	tasks   *task.Runner
	local   bool // the session's directory is on this machine

	active    bool // the word at the cursor begins with @
	reads     int  // number of listings; the result of an earlier one is ignored
	listed    bool // listing is that of reads
	listing   filelist.Listing
	word      string // of results
	dismissed string // the word whose suggestions the user closed
	selected  int
	results   []string
	resources int // of the results, which begin with them
}

// filesMsg carries the files of the session's directory.
type filesMsg struct {
	read    int
	listing filelist.Listing
}

// update follows the word at the cursor. It starts a listing when a word with @ is begun.
func (c *fileCompletion) update(word string) (list tea.Cmd) {
	if active := strings.HasPrefix(word, "@"); active != c.active {
		c.active, c.listed, c.results, c.word, c.dismissed = active, false, nil, "", ""
		c.reads++
		if active && c.available() {
			read, dir := c.reads, c.replica.state.CWD
			list = c.tasks.Run(func(ctx context.Context) tea.Msg { return filesMsg{read, filelist.List(ctx, dir)} })
		}
	}
	if c.active && word != c.word {
		c.word, c.selected = word, 0
		query := strings.TrimPrefix(word[1:], `"`)
		c.results = c.matchingResources(query)
		if c.resources = len(c.results); c.listed {
			c.results = append(c.results, c.listing.Search(query, maxFileSuggestions)...)
		}
	}
	return list
}

// matchingResources returns the names of resources that have a text in their name or title.
func (c *fileCompletion) matchingResources(query string) (names []string) {
	if c.replica.state.Options == nil {
		return nil
	}
	query = strings.ToLower(query)
	for _, r := range c.replica.state.Options.Resources {
		if transcript.Clean(r.Name) != r.Name || strings.ContainsAny(r.Name, "\"\n\t ") {
			continue // it cannot be typed
		}
		if strings.Contains(strings.ToLower(r.Name+" "+r.Title), query) && len(names) < maxResourceSuggestions {
			names = append(names, r.Name)
		}
	}
	return names
}

// resourceTitle returns the title of a resource.
func (c *fileCompletion) resourceTitle(name string) string {
	for _, r := range c.replica.state.Options.Resources {
		if r.Name == name {
			return transcript.Clean(r.Title)
		}
	}
	return ""
}

// available reports whether the files of the session can be listed.
func (c *fileCompletion) available() bool { return c.local && filepath.IsAbs(c.replica.state.CWD) }

// setFiles sets the files. Names that cannot be typed are left out. It reports whether the
// suggestions changed.
func (c *fileCompletion) setFiles(msg filesMsg) bool {
	if msg.read != c.reads {
		return false
	}
	msg.listing.Files = slices.DeleteFunc(msg.listing.Files, func(name string) bool {
		return transcript.Clean(name) != name || strings.ContainsAny(name, "\"\n\t")
	})
	c.listing, c.listed, c.word = msg.listing, true, ""
	return true
}

// suggestions returns the suggested files.
func (c *fileCompletion) suggestions() []string {
	if !c.active || c.word == c.dismissed {
		return nil
	}
	return c.results
}

// press handles a key while there are suggestions. If mention is not empty, it replaces the word at
// the cursor.
func (c *fileCompletion) press(key string) (mention string, handled bool) {
	files := c.suggestions()
	if len(files) == 0 {
		return "", false
	}
	switch key {
	case "up":
		c.selected = max(0, c.selected-1)
	case "down":
		c.selected = min(len(files)-1, c.selected+1)
	case "tab", "enter":
		name := files[c.selected]
		if strings.Contains(name, " ") {
			name = `"` + name + `"`
		}
		return "@" + name + " ", true
	case "esc":
		c.dismissed = c.word
	default:
		return "", false
	}
	return "", true
}

// view returns a title and the suggestions around the selected one, or why there are none.
func (c *fileCompletion) view(width int) []string {
	files := c.suggestions()
	switch {
	case c.active && len(files) == 0 && !c.available():
		return []string{c.styles.Dim.Render(ui.Fit(" @ names no file here: the session is on another machine", width))}
	case len(files) == 0:
		return nil
	}
	lines := make([]string, len(files))
	for i, name := range files {
		if i < c.resources && c.replica.state.Options != nil {
			name = strings.TrimSpace(name + "  " + c.resourceTitle(name))
		}
		if i == c.selected {
			lines[i] = c.styles.Selected.Render(ui.Fit(" ▸ "+name, width))
			continue
		}
		lines[i] = ui.Fit("   "+name, width)
	}
	lines, _ = ui.Window(lines, c.selected, fileRows)
	n := len(files) - c.resources
	count := format.Count(n, "file")
	if n == maxFileSuggestions || c.listing.More {
		count = "the first " + count
	}
	if resources := format.Count(c.resources, "resource"); c.resources > 0 && n > 0 {
		count = resources + " · " + count
	} else if c.resources > 0 {
		count = resources
	}
	title := count + c.styles.Dim.Render(" · enter attaches · ↑↓ · esc closes")
	return append([]string{c.styles.Rule(title, width)}, lines...)
}

// pressFileCompletion handles the keys of the file completion while it has suggestions.
func (v *View) pressFileCompletion(key string) bool {
	mention, handled := v.panels.files.press(key)
	if mention != "" {
		v.composer.ReplaceWord(mention)
	}
	return handled
}

// completeFiles follows the word at the cursor of the composer.
func (v *View) completeFiles() tea.Cmd {
	word := ""
	if v.focus == onComposer && v.composer.Editing == "" && !v.composer.Shell && v.overlays.Top() == nil {
		word = v.composer.Word()
	}
	return v.panels.files.update(word)
}

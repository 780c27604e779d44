package completion

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/filelist"
	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxFileSuggestions bounds the suggested files.
const maxFileSuggestions = 100

// maxResourceSuggestions bounds the suggested resources, which come before the files.
const maxResourceSuggestions = 20

// fileRows is the maximum number of files shown.
const fileRows = 6

// fileList suggests files of the session's directory, and resources that the agent reads,
// while the word at the cursor begins with @. A task lists the files each time that such a word is
// begun.
type fileList struct {
	*ui.Picker[suggestion]
	*Config

	active    bool // the word at the cursor begins with @
	reads     int  // number of listings; the result of an earlier one is ignored
	listed    bool // listing has the number reads
	listing   filelist.Listing
	word      string // of results
	dismissed string // the word whose suggestions the user closed
	results   []suggestion
	resources int // of the results, which begin with them
}

// A suggestion is the name of a file, or of a resource with its title.
type suggestion struct{ name, title string }

// mention returns the text that stands for a suggestion in a message.
func (s suggestion) mention() string {
	if strings.Contains(s.name, " ") {
		return `@"` + s.name + `" `
	}
	return "@" + s.name + " "
}

func newFileList(config *Config) *fileList {
	c := &fileList{Config: config}
	c.Picker = ui.NewPicker(c.Styles, ui.List[suggestion]{
		Title:    func(int, int, int) string { return c.title() },
		Rows:     func(string) []suggestion { return c.suggestions() },
		ID:       func(s suggestion) string { return s.name },
		Draw:     func(s suggestion, selected bool, width int) []string { return []string{c.row(s, selected, width)} },
		Choose:   func(s suggestion) ui.Response { return ui.Response{Intent: ui.CompleteIntent{Text: s.mention()}} },
		Complete: suggestion.mention,
		Message:  true,
		Docked:   fileRows,
	})
	return c
}

// follow follows the word at the cursor. It starts a listing when a word with @ is begun.
func (c *fileList) follow(word string) (list tea.Cmd) {
	if active := strings.HasPrefix(word, "@"); active != c.active {
		c.active, c.listed, c.results, c.word, c.dismissed = active, false, nil, "", ""
		c.reads++
		if dir := c.Directory(); active && dir != "" {
			list = c.list(dir)
		}
	}
	if c.active && word != c.word {
		c.word = word
		c.Reset()
		query := strings.TrimPrefix(word[1:], `"`)
		c.results = c.matchingResources(query)
		if c.resources = len(c.results); c.listed {
			for _, name := range c.listing.Search(query, maxFileSuggestions) {
				c.results = append(c.results, suggestion{name: name})
			}
		}
	}
	return list
}

// matchingResources returns the resources that have a text in their name or title.
func (c *fileList) matchingResources(query string) (found []suggestion) {
	options := c.Options()
	if options == nil {
		return nil
	}
	query = strings.ToLower(query)
	for _, r := range options.Resources {
		if transcript.Clean(r.Name) != r.Name || strings.ContainsAny(r.Name, "\"\n\t ") {
			continue // it cannot be typed
		}
		if strings.Contains(strings.ToLower(r.Name+" "+r.Title), query) && len(found) < maxResourceSuggestions {
			found = append(found, suggestion{r.Name, transcript.Clean(r.Title)})
		}
	}
	return found
}

// list lists the files of a directory. Names that cannot be typed are left out.
func (c *fileList) list(dir string) tea.Cmd {
	var found filelist.Listing
	read := c.reads
	return c.Runner.Run(func(ctx context.Context) error {
		found = filelist.List(ctx, dir)
		return nil
	}, func(error) tea.Cmd {
		if read != c.reads {
			return nil
		}
		found.Files = slices.DeleteFunc(found.Files, func(name string) bool {
			return transcript.Clean(name) != name || strings.ContainsAny(name, "\"\n\t")
		})
		c.listing, c.listed, c.word = found, true, ""
		return nil
	})
}

// suggestions returns the suggested files.
func (c *fileList) suggestions() []suggestion {
	if !c.active || c.word == c.dismissed {
		return nil
	}
	return c.results
}

// handle passes a key or the wheel to the suggestions while there are any.
func (c *fileList) handle(msg tea.Msg) (r Result, handled bool) {
	if len(c.suggestions()) == 0 {
		return Result{}, false
	}
	response, handled := c.Handle(msg)
	if response.Close {
		c.dismissed = c.word
	}
	if i, ok := response.Intent.(ui.CompleteIntent); ok {
		r.Word = i.Text
	}
	return r, handled
}

// view returns a title and the suggestions around the selected one, or why there are none.
func (c *fileList) view(width int) []string {
	switch n := len(c.suggestions()); {
	case c.active && n == 0 && c.Directory() == "":
		return []string{ui.Fit(" @ names no file here: the session is on another machine", width)}
	case n == 0:
		return nil
	}
	lines, _ := c.View(width, fileRows+1)
	return lines
}

// title returns the number of files and resources, and the keys.
func (c *fileList) title() string {
	n := len(c.results) - c.resources
	count := format.Count(n, "file")
	if n == maxFileSuggestions || c.listing.More {
		count = "the first " + count
	}
	if resources := format.Count(c.resources, "resource"); c.resources > 0 && n > 0 {
		count = resources + " · " + count
	} else if c.resources > 0 {
		count = resources
	}
	keys := c.Styles.Keys
	return count + c.Styles.Dim.Render(keymap.Separator+keys.Hint(keymap.Choose, "attaches")+keymap.Separator+"↑↓"+
		keymap.Separator+keys.Hint(keymap.Back, "closes"))
}

// row draws a suggestion.
func (c *fileList) row(s suggestion, selected bool, width int) string {
	text := strings.TrimSpace(s.name + "  " + s.title)
	if selected {
		return c.Styles.Selected.Render(ui.Fit(" ▸ "+text, width))
	}
	return ui.Fit("   "+text, width)
}

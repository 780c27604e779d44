package palette

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// maxRows is the maximum number of commands that a palette shows at once.
const maxRows = 14

// label is the prompt of the text field.
const label = " command: "

// Palette is a docked overlay: a text field and the commands that match its text. Its intent is the
// chosen [Command].
type Palette struct {
	styles   *ui.Styles
	commands func() []Command
	list     List
	input    *ui.TextInput
}

// New returns a palette of the commands that a function returns. It is called for every drawing.
func New(s *ui.Styles, commands func() []Command) *Palette {
	p := &Palette{styles: s, commands: commands, list: List{styles: s, abouts: true}, input: s.NewTextInput("")}
	p.find()
	return p
}

func (p *Palette) find() { p.list.Find(p.commands(), p.input.Value()) }

// Scope implements [ui.Overlay]. The global scope leaves all letters for typing.
func (p *Palette) Scope() keymap.Scope { return keymap.Global }

// FullScreen implements [ui.Overlay].
func (p *Palette) FullScreen() bool { return false }

// KeyHint returns the keys, for the last line of the screen.
func (p *Palette) KeyHint() string { return "enter runs · ↑↓ · esc closes" }

// Update implements [ui.Overlay].
func (p *Palette) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p.press(msg)
	case tea.PasteMsg:
		p.input.Paste(msg.Content)
	case tea.MouseWheelMsg:
		return ui.Response{Pass: true}
	}
	p.find()
	return ui.Response{}
}

func (p *Palette) press(msg tea.KeyPressMsg) ui.Response {
	key := msg.String()
	switch {
	case key == "esc", p.styles.Keys.At(keymap.Global, key) == keymap.OpenPalette:
		return ui.Response{Close: true}
	case key == "enter":
		c, ok := p.list.Selected()
		if !ok {
			return ui.Response{}
		}
		return ui.Response{Close: true, Intent: c}
	case key == "up" || key == "shift+tab":
		p.list.Move(-1)
	case key == "down" || key == "tab":
		p.list.Move(1)
	case key == "pgup":
		p.list.Move(-maxRows)
	case key == "pgdown":
		p.list.Move(maxRows)
	case !ui.Writes(msg) && p.commandOf(key) != nil:
		return ui.Response{Close: true, Intent: *p.commandOf(key)}
	default:
		p.input.Press(msg)
	}
	p.find()
	return ui.Response{}
}

// commandOf returns the command whose key is pressed, or nil. The rows show the keys, so they act.
func (p *Palette) commandOf(key string) *Command {
	action := p.styles.Keys.At(keymap.Global, key)
	commands := p.commands()
	i := slices.IndexFunc(commands, func(c Command) bool { return action != "" && c.Action == action })
	if i < 0 {
		return nil
	}
	return &commands[i]
}

// View implements [ui.Overlay]. The rows of the list are stable: fewer matches leave empty rows.
func (p *Palette) View(width, height int) ([]string, *tea.Cursor) {
	p.find()
	rows := max(1, min(maxRows, height-5))
	out := []string{p.styles.Rule(p.styles.Bold.Render("commands"), width), p.styles.InputLine(label, p.input, width)}
	cursor := ui.InputCursor(label, p.input, 1)
	out = append(out, p.list.View(width, rows)...)
	for len(out) < rows+2 {
		out = append(out, "")
	}
	return out, cursor
}

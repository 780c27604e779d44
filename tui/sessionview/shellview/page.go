package shellview

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/shell"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// readInterval is the time between two reads of the output of a shell command.
const readInterval = 100 * time.Millisecond

// Config holds the dependencies of a page.
type Config struct {
	Styles *ui.Styles
	Runner *request.Runner
	After  func(time.Duration, tea.Msg) tea.Cmd // sends a message to the page after a delay
}

// Run returns a page that shows the output of a shell command, and a command that starts it in dir or
// else in the directory of the process.
func Run(c Config, command, dir string) (*Page, tea.Cmd) {
	p := &Page{Config: c, command: command, text: transcript.NewTerminalOutput(), follow: true}
	var running *shell.Command
	return p, c.Runner.Run(func(ctx context.Context) (err error) {
		if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
			dir, _ = os.Getwd() // "": the directory of the process
		}
		running, err = shell.Start(ctx, command, dir)
		return err
	}, func(err error) tea.Cmd {
		p.running, p.dir = running, dir
		return p.start(err)
	})
}

// readMsg asks the page of a command to read its output.
type readMsg struct{ page *Page }

// Page is an overlay that shows the output of a shell command of the user. It stays until
// the user closes it or takes the output into the message.
type Page struct {
	Config
	command string
	dir     string
	running *shell.Command // nil until it has started
	failed  string         // why it did not start
	stopped bool
	text    *transcript.Text
	top     int  // first line on the screen
	follow  bool // show the end
	rows    int  // of the last View
}

// TakeIntent inserts the output of a command into the message.
type TakeIntent struct{ Text string }

// Scope implements [ui.Overlay].
func (p *Page) Scope() keymap.Scope { return keymap.Pager }

// FullScreen implements [ui.Overlay].
func (p *Page) FullScreen() bool { return true }

// ended reports whether the command has ended or did not start.
func (p *Page) ended() bool { return p.failed != "" || p.running != nil && p.running.Ended() }

// Done returns a channel that is closed when the command has ended, or nil before it has started.
func (p *Page) Done() <-chan struct{} {
	if p.running == nil {
		return nil
	}
	return p.running.Done()
}

// Interrupt stops the command. It reports whether it ran.
func (p *Page) Interrupt() bool {
	if p.ended() {
		return false
	}
	p.stopped = true
	if p.running != nil {
		p.running.Stop()
	}
	return true
}

// Update implements [ui.Overlay].
func (p *Page) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case readMsg:
		if msg.page == p {
			return ui.Response{Cmd: p.read()}
		}
	case tea.MouseWheelMsg:
		p.scroll(ui.WheelRows(msg))
	case tea.KeyPressMsg:
		return p.press(msg.String())
	}
	return ui.Response{}
}

// start reads the output of the command that was started, or records why it did not start.
func (p *Page) start(err error) tea.Cmd {
	if err != nil {
		p.failed = transcript.CleanLine(err.Error())
		return nil
	}
	if p.stopped {
		p.running.Stop()
	}
	return p.read()
}

// read appends new output, and returns a command that reads again later while the command runs.
func (p *Page) read() tea.Cmd {
	ended := p.running.Ended() // before the read: the rest may arrive in between
	p.text.Append(p.running.Read())
	if ended {
		return nil
	}
	return p.After(readInterval, readMsg{p})
}

// press handles a key.
func (p *Page) press(key string) ui.Response {
	if key == "enter" && p.ended() && p.failed == "" {
		return ui.Response{Close: true, Intent: TakeIntent{p.block()}}
	}
	page := max(1, p.rows-1)
	switch p.Styles.Keys.InList(keymap.Pager, key) {
	case keymap.Back:
		return ui.Response{Close: p.ended()}
	case keymap.Up:
		p.scroll(-1)
	case keymap.Down:
		p.scroll(1)
	case keymap.PageUp:
		p.scroll(-page)
	case keymap.PageDown, keymap.PagerPageDown:
		p.scroll(page)
	case keymap.First:
		p.scroll(-p.top)
	case keymap.Last:
		p.follow = true
	}
	return ui.Response{}
}

// scroll scrolls by rows. At the end the view follows the output.
func (p *Page) scroll(by int) { p.top, p.follow = max(0, p.top+by), false }

// View implements [ui.Overlay].
func (p *Page) View(width, height int) ([]string, *tea.Cursor) {
	title := "! " + transcript.CleanLine(p.command)
	if p.dir != "" {
		title += p.Styles.Dim.Render(" · in " + transcript.CleanLine(p.dir))
	}
	lines, _ := p.text.Lines(max(1, width-1))
	p.rows = max(0, height-ui.PageFrame)
	last := max(0, len(lines)-p.rows)
	if p.top >= last {
		p.follow = true
	}
	if p.follow {
		p.top = last
	}
	var body []string
	for _, line := range lines[p.top:min(len(lines), p.top+p.rows)] {
		body = append(body, " "+transcript.StripStyles(line))
	}
	return p.Styles.Page(title, body, p.footer(width), width, height), nil
}

// footer returns the last line: the state of the command and the keys.
func (p *Page) footer(width int) string {
	state, keys := "starting", "ctrl+c stop"
	switch {
	case p.failed != "":
		state, keys = p.failed, "esc back"
	case p.ended():
		state, keys = p.running.Result(), "enter add to message · esc back"
	case p.stopped:
		state, keys = "stopping", ""
	case p.running != nil:
		state = "running"
	}
	if p.running != nil && p.running.Dropped() > 0 {
		state += " · output cut after " + format.Size(shell.MaxOutput)
	}
	return p.Styles.StateRow(state, keys, width)
}

// block returns the command and its output as a fenced block.
func (p *Page) block() string {
	text := strings.TrimRight(p.text.String(), "\n")
	fence := "```"
	for strings.Contains(text+p.command, fence) {
		fence += "`"
	}
	block := fence + "\n$ " + p.command + "\n"
	if text != "" {
		block += text + "\n"
	}
	if result := p.running.Result(); result != "exit 0" {
		block += fmt.Sprintf("[%s]\n", result)
	}
	if n := p.running.Dropped(); n > 0 {
		block += fmt.Sprintf("[%s of output left out]\n", format.Size(int64(n)))
	}
	return block + fence + "\n"
}

package statusline

import (
	"cmp"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/turns"
	"agentctl/tui/ui"
)

// Config holds the dependencies of a line.
type Config struct {
	panel.Base   // its time is the session's
	Turns        *turns.Turns
	RunningTool  func(now time.Time) (title string, worked time.Duration)
	Silence      func() time.Duration // of the agent; 0: short
	Files        func() string        // the changed files, or ""
	Interrupting func() bool          // the turn is being interrupted
	Sessions     bool                 // the program has a list of sessions
	Server       string               // name of the session's server, or ""
	Local        bool                 // the directory is on this machine
	Home         string               // the user's home directory
}

// Line is the last line of the screen: connection, status message or turn, and details of the
// session.
type Line struct {
	Config

	BesideFiles bool   // the side column lists the changed files
	Others      string // note about other sessions

	directory directory
}

// New returns the line of a session.
func New(c Config) *Line {
	l := &Line{Config: c}
	l.directory.config = &l.Config
	return l
}

// Updated reads the git branch if the directory has changed or a turn has ended.
func (l *Line) Updated() tea.Cmd { return l.directory.update() }

// Update reads the git branch when the session is shown and when the terminal gets the focus.
func (l *Line) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg.(type) {
	case tea.WindowSizeMsg, tea.FocusMsg:
		return l.directory.refresh(), false
	}
	return nil, false
}

// View returns the line with a hint at its end.
func (l *Line) View(width int, hint string) string {
	s := l.Styles
	turn := l.turnState(width)
	message := transcript.CleanLine(l.Commands.Status.Text)
	var left string
	switch caughtUp := l.Replica.Connected() && l.Replica.CaughtUp; {
	case caughtUp && message == "":
		left = " " + turn.render(s)
	case caughtUp:
		left = " " + turn.style.Render(turn.glyph) + " " + s.Warning.Render(message)
	case message != "":
		left = " " + l.connText(width) + " " + s.Warning.Render(message)
	default:
		left = " " + l.connText(width)
		if l.Replica.Connected() {
			left += " " + turn.style.Render(turn.text)
		}
	}
	if text := l.Commands.Answers.Text(); text != "" && l.Replica.Connected() {
		left = " " + s.Warning.Render("○ "+text) + left
	}
	details := l.details(turn.style.Render(turn.text))
	room := width - transcript.Width(left) - 2
	right := l.join(details, s.Dim.Render(hint), room)
	if right == "" {
		right = l.join(details, "", room)
	}
	return ui.Spread(left, right, width)
}

// join returns the details that fit into room cells, followed by end. It returns "" if none fits.
func (l *Line) join(details []string, end string, room int) string {
	join := func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return a + l.Styles.Dim.Render(keymap.Separator) + b
	}
	joined := ""
	for _, part := range details {
		next := join(joined, part)
		if transcript.Width(join(next, end)) > room {
			break
		}
		joined = next
	}
	if joined == "" {
		return ""
	}
	return join(joined, end)
}

// details returns the details of the session, the most important first.
func (l *Line) details(turn string) []string {
	s, state := l.Styles, l.Replica.State
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, s.Dim.Render(text))
		}
	}
	if l.Commands.Status.Text != "" && l.Replica.Connected() {
		out = append(out, turn)
	}
	if l.Others != "" {
		out = append(out, s.Warning.Render(l.Others))
	}
	if text := policyText(state); text != "" {
		out = append(out, s.Warning.Render(text))
	}
	name := transcript.CleanLine(cmp.Or(state.Name, state.Title, ui.ShortID(state.Session)))
	server := ""
	if l.Server != "" {
		server = s.Dim.Render(transcript.CleanLine(l.Server) + "/")
	}
	out = append(out, server+s.Bold.Render(name))
	if files := l.Files(); files != "" && !l.BesideFiles {
		out = append(out, files)
	}
	if agent := describe.Agent(state.Agent); agent != name {
		add(agent)
	}
	if state.Sandbox.Shown() {
		add("sandbox " + transcript.CleanLine(state.Sandbox.String()))
	}
	out = append(out, l.contextDetails()...)
	if n := len(l.Replica.Clients); n > 1 {
		add(format.Count(n, "client"))
	}
	add(l.lag())
	add(l.directory.text())
	if o := state.Options; o != nil {
		for i := range o.Settings {
			if id := o.Settings[i].ID; id == protocol.PolicySetting || id == protocol.ContinueSetting {
				continue
			}
			add(settingText(&o.Settings[i]))
		}
	}
	if state.Usage != nil {
		add(describe.Cost(state.Usage))
	}
	if l.Sessions {
		add(s.Keys.Hint(keymap.ShowSessions, "sessions"))
	}
	return out
}

// contextDetails returns the usage of the context and of the fullest limit.
func (l *Line) contextDetails() []string {
	s := l.Styles
	var out []string
	if c := l.Replica.State.Context; c != nil && c.MaxTokens > 0 {
		percent, _ := describe.ContextPercent(c)
		out = append(out, s.ContextStyle(percent).Render("context "+format.Percent(percent)))
	}
	if w := describe.FullestWindow(l.Replica.State.Limits); w != nil {
		shown := protocol.UsageWindow{Name: w.Name, Percent: w.Percent}
		out = append(out, s.ContextStyle(w.Percent).Render(describe.Window(&shown, s.ShortDate)))
	}
	return out
}

// progressBarWidth is the number of cells of a catch-up's progress bar.
const progressBarWidth = 10

// lag returns the lag of this client, or else the largest lag of another one. The server's report
// on this client may be older than the events received since.
func (l *Line) lag() string {
	if own := l.Replica.Lag(); own > 0 {
		return fmt.Sprintf("lag %d", own)
	}
	if c, ok := l.Replica.Slowest(); ok {
		return fmt.Sprintf("%s lags %d", transcript.CleanLine(c.By.Name), c.LagEvents)
	}
	return ""
}

// connText returns the state of the connection for the status line.
func (l *Line) connText(width int) string {
	s, conn := l.Styles, &l.Replica.Conn
	switch conn.State {
	case remote.Connected:
		return s.Warning.Render("catching up" + progressText(l.Replica.Progress(), width))
	case remote.Reconnecting:
		text := string(remote.Reconnecting)
		if wait := conn.Retry.Sub(l.Now()); wait > 0 {
			text += fmt.Sprintf(" in %ds", format.SecondsLeft(wait))
		}
		if conn.Attempt > 1 {
			text += fmt.Sprintf(" (attempt %d)", conn.Attempt)
		}
		return s.Warning.Render("○ " + text)
	case remote.Offline:
		text := "○ " + string(remote.Offline)
		if conn.Reason != "" {
			text += ": " + transcript.CleanLine(conn.Reason)
		}
		return s.Error.Render(text)
	}
	return s.Warning.Render("○ " + string(conn.State))
}

// progressText returns the progress of a long catch-up as a number, with a bar where there is room.
// It returns "" for a negative percentage.
func progressText(percent, width int) string {
	if percent < 0 {
		return ""
	}
	number := fmt.Sprintf(" %d%%", percent)
	if width < 60 {
		return number
	}
	return " " + ui.Bar(float64(percent)/100, progressBarWidth) + number
}

// maxSettingWidth is the maximum width of a setting in the status line, in cells.
const maxSettingWidth = 32

// settingText returns the label of a setting's value, or its name and value if the value has no
// label. It returns "" for the default.
func settingText(set *protocol.Setting) string {
	if set.Value == "" || set.Value == set.Default {
		return ""
	}
	text := cmp.Or(set.Name, set.ID) + " " + set.Value
	if c := describe.SettingChoice(set, set.Value); c != nil && c.Label != "" {
		text = c.Label
	}
	return ui.Fit(transcript.CleanLine(text), maxSettingWidth)
}

// policyText returns the sign of a policy that decides in place of the user, or "".
func policyText(state *protocol.State) string {
	name := state.Policy()
	if name == "" || name == "ask" { // decides nothing
		return ""
	}
	return "policy " + ui.Fit(transcript.CleanLine(name), maxSettingWidth)
}

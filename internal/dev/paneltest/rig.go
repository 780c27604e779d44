package paneltest

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// The size of the screen of overlays.
const (
	overlayWidth  = 80
	overlayHeight = 24
)

// Rig holds what a panel depends on, and the overlays that it pushes. The test makes its panel of it,
// and sets the functions that it needs.
type Rig struct {
	Session  *tuitest.FakeSession
	Journal  *tuitest.Journal
	Replica  *replica.Session
	Commands *request.Sender
	Styles   *ui.Styles
	Time     time.Time
	Overlays ui.Stack

	Apply func(*protocol.Event) // of the panel; nil: it needs no events
	Reset func()                // called after a snapshot; may be nil
	Lines func() []string       // of the panel, at the width of the test
	Key   func(string) tea.Cmd  // handles a key that no overlay takes

	Update func(tea.Msg) // handles a message that is no callback of a task; nil: Run returns it

	t *testing.T
}

// New returns a rig for the pending events of a journal, which are applied by the first call of
// ApplyJournal.
func New(t *testing.T, j *tuitest.Journal) *Rig {
	t.Helper()
	r := &Rig{
		t: t, Session: tuitest.NewFakeSession(), Journal: j, Replica: replica.New(),
		Time: tuitest.Start.Add(time.Minute), Styles: ui.NewStyles(time.UTC, ""),
	}
	r.Styles.Now = r.Now
	r.Styles.GraphemeWidths = true
	tasks := task.NewRunner(t.Context())
	t.Cleanup(tasks.Close)
	r.Commands = &request.Sender{
		Runner:  request.Runner{Tasks: tasks, Status: new(ui.Status), Answers: ui.NewAnswers(r.Now)},
		Session: r.Session,
	}
	return r
}

// Now returns the time of the rig.
func (r *Rig) Now() time.Time { return r.Time }

// ApplyJournal applies the pending updates of the journal to the replica and the panel.
func (r *Rig) ApplyJournal() {
	r.t.Helper()
	for _, u := range r.Journal.Take() {
		switch {
		case u.Conn != nil:
			r.Replica.SetConn(*u.Conn, r.Time)
		case u.Attached != nil:
			if r.Replica.Attach(u.Attached) && r.Reset != nil {
				r.Reset()
			}
		case u.Event.Type == protocol.CaughtUp:
			r.Replica.FinishCatchup(r.Time)
		default:
			r.apply(u.Event)
		}
	}
}

func (r *Rig) apply(e *protocol.Event) {
	r.t.Helper()
	if err := r.Replica.Apply(e); err != nil {
		r.t.Fatal(err)
	}
	if r.Apply != nil {
		r.Apply(e)
	}
}

// Run runs a command of the panel and the callbacks of its tasks. It returns the other messages.
func (r *Rig) Run(cmd tea.Cmd) (rest []tea.Msg) {
	for _, msg := range tuitest.Messages(cmd) {
		switch msg := msg.(type) {
		case nil:
		case request.DoneMsg:
			rest = append(rest, r.Run(msg.Then(msg.Err))...)
		default:
			if r.Update == nil {
				rest = append(rest, msg)
			} else {
				r.Update(msg)
			}
		}
	}
	return rest
}

// Refuse makes every command fail with err.
func (r *Rig) Refuse(err error) {
	r.Session.Mu.Lock()
	defer r.Session.Mu.Unlock()
	r.Session.Reply = func(tuitest.Command) (any, error) { return nil, err }
}

// TakeCommands returns and forgets the commands sent since the last call, without history.
func (r *Rig) TakeCommands() []tuitest.Command {
	got := r.Session.Commands()
	r.Session.Mu.Lock()
	defer r.Session.Mu.Unlock()
	r.Session.Sent = nil
	return got
}

// MustSend returns the data of the only command sent since the last call. It fails unless that
// command is verb.
func (r *Rig) MustSend(verb protocol.Verb) any {
	r.t.Helper()
	got := r.TakeCommands()
	if len(got) != 1 || got[0].Verb != verb {
		r.t.Fatalf("got commands %v, want one %s", got, verb)
	}
	return got[0].Data
}

// Start gives the overlay on top, or else the panel, a key by its name. It returns the command that
// the key starts. The key clears the status message, as on the screen.
func (r *Rig) Start(name string) tea.Cmd {
	r.Commands.Status.Clear()
	cmd, _, pass := r.Overlays.Update(tuitest.KeyPress(name))
	if !pass {
		return cmd
	}
	return r.Key(tuitest.KeyPress(name).String())
}

// Press gives keys by name and runs the commands that they start.
func (r *Rig) Press(names ...string) {
	for _, name := range names {
		r.Run(r.Start(name))
	}
}

// MustSendNothing fails if a command other than history was sent since the last call of MustSend.
func (r *Rig) MustSendNothing() {
	r.t.Helper()
	if got := r.Session.Commands(); len(got) != 0 {
		r.t.Fatalf("got commands %v, want none", got)
	}
}

// Text returns the lines of the panel unless an overlay covers it, the lines of the overlay on top,
// and below them the status message. They have no styles and no trailing spaces.
func (r *Rig) Text() string {
	var lines []string
	top := r.Overlays.Top()
	if r.Lines != nil && (top == nil || !top.FullScreen()) {
		lines = slices.Clip(r.Lines())
	}
	if top != nil {
		over, _ := top.View(overlayWidth, overlayHeight)
		lines = append(lines, over...)
	}
	var out strings.Builder
	for _, line := range append(slices.Clip(lines), r.Commands.Status.Text) {
		out.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	return out.String()
}

// MustShow fails unless the panel shows every text.
func (r *Rig) MustShow(want ...string) {
	r.t.Helper()
	for _, w := range want {
		if !strings.Contains(r.Text(), w) {
			r.t.Fatalf("the panel does not show %q:\n%s", w, r.Text())
		}
	}
}

// MustHide fails if the panel shows a text.
func (r *Rig) MustHide(what string) {
	r.t.Helper()
	if strings.Contains(r.Text(), what) {
		r.t.Fatalf("the panel shows %q:\n%s", what, r.Text())
	}
}

// MustReport fails unless the status message is want.
func (r *Rig) MustReport(want string) {
	r.t.Helper()
	if got := r.Commands.Status.Text; got != want {
		r.t.Fatalf("got status message %q, want %q", got, want)
	}
}

// Connect sets the state of the connection.
func (r *Rig) Connect(state remote.ConnState) {
	r.Journal.Conn(remote.Conn{State: state})
	r.ApplyJournal()
}

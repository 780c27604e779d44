package input

import (
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/composer"
	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/input/completion"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/sessionview/shellview"
	"agentctl/tui/ui"
)

// Options are what the program configures.
type Options struct {
	NoShell bool // ! writes a message

	// SaveDraft saves the unsent message of the session. It does not block. nil: it is not saved.
	SaveDraft func(drafts.Draft)
}

// Config holds the dependencies of an input.
type Config struct {
	Options
	Styles     *ui.Styles
	Replica    *replica.Session
	Commands   *request.Sender
	Overlays   *ui.Stack // one on top takes the keys of the lists
	Outbox     *panel.Outbox
	Queue      Queue
	Transcript Transcript

	Now   func() time.Time
	NewID func() string // returns a new message ID
	After func(time.Duration, tea.Msg) tea.Cmd

	Env      map[string]string // the environment of the terminal
	Local    bool              // the session's directory is on this machine
	Sessions bool              // the program shows other sessions too

	TakesText func(keymap.Action) bool // reports whether the command of an action takes a text
	Forked    func(ForkedIntent)       // passes an intent to the program
}

// Queue holds the message that is edited.
type Queue interface {
	BeginEdit(message string) tea.Cmd
	EndEdit(message string) tea.Cmd
	EditTitle() string

	// Parts returns the parts of a queued message.
	Parts(message string) (parts []protocol.Part, queued bool)
}

// Transcript is the transcript above the input.
type Transcript interface {
	Scroll(rows int)
	ScrollToBottom()

	// RequestOlder requests older turns. It reports whether there may be some.
	RequestOlder() (cmd tea.Cmd, older bool)
}

// directory returns the directory of the session if it is on this machine, or "".
func (c *Config) directory() string {
	if cwd := c.Replica.State.CWD; c.Local && filepath.IsAbs(cwd) {
		return cwd
	}
	return ""
}

// Input is the message box of a session.
type Input struct {
	panel.Base
	Config
	composer    composer.Composer
	attachments attachments
	completion  *completion.Lists
	drafts      draftSaver
	pressed     keyHistory
	focused     bool
}

// New returns an empty input with the focus.
func New(c Config) *Input {
	in := &Input{
		Config: c, composer: composer.New(), focused: true,
		attachments: attachments{styles: c.Styles},
	}
	in.completion = completion.New(completion.Config{
		Styles: c.Styles, Tasks: c.Commands.Tasks, Directory: in.directory, Commands: in.AllCommands,
		Options: func() *protocol.Options { return c.Replica.State.Options },
	})
	return in
}

// Composer returns the text field.
func (in *Input) Composer() *composer.Composer { return &in.composer }

// Editing returns the ID of the queued message that is edited, or "".
func (in *Input) Editing() string { return in.composer.Editing }

// SetFocus sets whether the input has the focus.
func (in *Input) SetFocus(focused bool) {
	in.focused = focused
	in.composer.SetFocus(focused)
}

// SetElsewhere sets whether the keys go to another session beside this one. It reports whether that
// changed.
func (in *Input) SetElsewhere(elsewhere bool) (changed bool) {
	changed = in.composer.Elsewhere != elsewhere
	in.composer.Elsewhere = elsewhere
	return changed
}

// empty reports whether there is nothing in the input: no text, no file, no edit and no shell command.
func (in *Input) empty() bool {
	return in.composer.Empty() && in.composer.Editing == "" && !in.composer.Shell && len(in.attachments.files) == 0
}

// Apply adds a message of the user to the earlier messages.
func (in *Input) Apply(e *protocol.Event) {
	if e.Type == protocol.MessageUser && e.Durable() {
		in.composer.AddPast(e)
	}
}

// AddOlder adds the messages of a page of history to the earlier messages.
func (in *Input) AddOlder(page *protocol.HistoryResult) {
	in.composer.AddOlder(page, in.Replica.Conn.By)
}

// Reset forgets the earlier messages of the log after the replica was replaced.
func (in *Input) Reset() { in.composer.ForgetPast() }

// Updated ends the edit of a message that is no longer queued.
func (in *Input) Updated() tea.Cmd {
	if in.composer.Editing == "" {
		return nil
	}
	if _, queued := in.Queue.Parts(in.composer.Editing); queued {
		return nil
	}
	in.Commands.Status.Text = "the edited message is no longer queued"
	if in.composer.LeaveEdit() {
		in.Commands.Status.Text += ": your text is in the message box"
	}
	return nil
}

// Update implements [panel.Part].
func (in *Input) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg := msg.(type) {
	case DraftMsg:
		in.restoreDraft(drafts.Draft(msg))
		return nil, true
	}
	return in.completion.Update(msg)
}

// Handled follows a message that the view has handled: it schedules to save a draft that the message
// may have changed, and completes the word at the cursor.
func (in *Input) Handled(msg tea.Msg) tea.Cmd {
	in.scheduleDraft(msg)
	return in.completion.Follow(in.completed(in.composer.Word))
}

// HandleIntent carries out an intent of an overlay of the input. It reports false for others.
func (in *Input) HandleIntent(intent ui.Intent) (cmd tea.Cmd, handled bool) {
	switch i := intent.(type) {
	case takePromptIntent:
		in.takePrompt(i.text)
	case olderPromptsIntent:
		return in.olderMessages(), true
	case shellview.TakeIntent:
		in.composer.Paste(i.Text)
	default:
		return nil, false
	}
	return nil, true
}

// Actions returns the actions of the input that need no focus.
func (in *Input) Actions() panel.Actions {
	focusing := func(f func() tea.Cmd) panel.Action {
		return panel.Action{Run: func(string) panel.Result { return panel.Result{Leave: true, Cmd: f()} }}
	}
	return panel.Actions{
		keymap.OpenEditor:     {Run: func(string) panel.Result { return in.openEditor() }},
		keymap.EarlierMessage: focusing(in.earlierMessage),
		keymap.LaterMessage: focusing(func() tea.Cmd {
			in.composer.Recall(-1, in.Replica.Conn.By)
			return nil
		}),
		keymap.SearchPrompts: {Run: func(string) panel.Result { return in.searchPrompts() }},
		keymap.RepeatTurn:    panel.Run(in.repeatTurn),
		keymap.ForkSession:   panel.Run(in.forkSession),
		keymap.UndoTurn:      panel.Run(in.undoTurn),
	}
}

package input

import (
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/composer"
	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/input/completion"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/shellview"
	"agentctl/tui/transcript"
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
	panel.Base // shared by the parts of the input
	Options
	Overlays   *ui.Stack // one on top takes the keys of the lists
	Outbox     *Outbox
	Queue      Queue
	Transcript Transcript

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
	Release() tea.Cmd

	// Parts returns the parts of a queued message.
	Parts(message string) (parts []protocol.Part, queued bool)
}

// Transcript is the transcript above the input.
type Transcript interface {
	Scroll(rows int)
	ScrollToBottom()

	// Escape closes what is open or goes to the end. It reports false if there is nothing to do.
	Escape() bool

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

// Input is the message box of a session. It passes keys to its parts, and combines them.
type Input struct {
	Config
	Elsewhere bool // keys go to another session beside this one

	focused  bool
	composer composer.Composer
	keys     keyHistory

	attachments attachments
	completion  *completion.Lists
	drafts      draftSaver
	edit        queuedEdit
	recall      recall
	lastTurn    lastTurn
}

// New returns an empty input with the focus.
func New(c Config) *Input {
	in := &Input{Config: c, composer: composer.New(), focused: true, keys: keyHistory{now: c.Now}}
	in.attachments.Base = c.Base
	in.completion = completion.New(completion.Config{
		Styles: c.Styles, Runner: &c.Commands.Runner, Directory: in.directory, Commands: in.AllCommands,
		Options: func() *protocol.Options { return c.Replica.State.Options },
	})
	in.drafts = draftSaver{Base: c.Base, draft: in.draft, write: c.SaveDraft}
	in.edit = queuedEdit{Base: c.Base, queue: c.Queue, composer: &in.composer}
	in.recall = recall{
		Base: c.Base, transcript: c.Transcript, composer: &in.composer, arrows: arrowKeys{now: c.Now},
	}
	in.lastTurn = lastTurn{
		Base: c.Base, composer: &in.composer, recall: &in.recall, empty: in.empty, forked: c.Forked,
	}
	return in
}

// Parts returns the input and its parts that follow events, messages and deadlines.
func (in *Input) Parts() []panel.Part {
	return []panel.Part{in, in.completion, &in.drafts, &in.edit, &in.recall}
}

// Composer returns the text field.
func (in *Input) Composer() *composer.Composer { return &in.composer }

// Editing returns the ID of the queued message that is edited, or "".
func (in *Input) Editing() string { return in.composer.Editing }

// EditQueued starts editing a queued message.
func (in *Input) EditQueued(message protocol.Message) tea.Cmd { return in.edit.begin(message) }

// SetFocus sets whether the input has the focus.
func (in *Input) SetFocus(focused bool) {
	in.focused = focused
	in.composer.SetFocus(focused)
}

// empty reports whether there is nothing in the input: no text, no file, no edit and no shell command.
func (in *Input) empty() bool {
	return in.composer.Empty() && in.composer.IsNewMessage() && len(in.attachments.files) == 0
}

// AddOlder adds the messages of a page of history to the earlier messages.
func (in *Input) AddOlder(page *protocol.HistoryResult) {
	in.composer.Messages().AddOlder(page, in.Replica.Conn.By)
}

// Reset forgets the earlier messages of the log after the replica was replaced.
func (in *Input) Reset() { in.composer.Messages().ForgetPast() }

// SendMsg sends a message that was written for several sessions.
type SendMsg string

// Update implements [panel.Part]. It inserts the stored draft before the text that was typed since
// the view opened.
func (in *Input) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	if m, ok := msg.(SendMsg); ok {
		return in.send(string(m), "", nil).Cmd, true
	}
	stored, ok := msg.(DraftMsg)
	if !ok {
		return nil, false
	}
	d := drafts.Draft(stored)
	in.drafts.restore(d)
	if !d.Empty() && !(d.Shell && in.composer.RestoreShell(d.Text)) {
		in.composer.Restore(d.Text)
		in.attachments.add(d.Files...)
	}
	return nil, true
}

// Handled follows a message that the view has handled: it schedules to save a draft that the message
// may have changed, and completes the word at the cursor.
func (in *Input) Handled(msg tea.Msg) tea.Cmd {
	in.drafts.follow(msg)
	return in.completion.Follow(in.completed(in.composer.Word))
}

// SaveDraft saves the draft if it has changed.
func (in *Input) SaveDraft() { in.drafts.save() }

// draft returns the messages written here that the server may not have, as one draft.
func (in *Input) draft() drafts.Draft {
	texts, files := in.Outbox.Unaccepted()
	unsent, isShell := in.composer.Unsent(), in.composer.Shell
	if isShell && len(texts) > 0 {
		unsent, isShell = "! "+unsent, false // text among messages
	}
	texts = append(texts, unsent)
	return drafts.Draft{
		Shell: isShell && unsent != "",
		Text:  strings.Trim(strings.Join(texts, "\n\n"), "\n"),
		Files: append(files, in.attachments.files...),
	}
}

// HandleIntent carries out an intent of an overlay of the input. It ignores others.
func (in *Input) HandleIntent(intent ui.Intent) tea.Cmd {
	switch i := intent.(type) {
	case takePromptIntent:
		in.recall.take(i.text)
	case olderPromptsIntent:
		return in.recall.older()
	case shellview.TakeIntent:
		in.composer.Paste(i.Text)
	}
	return nil
}

// Actions returns the actions of the input that need no focus.
func (in *Input) Actions() panel.Actions {
	return panel.Actions{
		keymap.OpenEditor:    {Run: func(string) panel.Result { return openEditor(&in.composer, in.drafts.schedule) }},
		keymap.ReleaseQueue:  {Run: func(string) panel.Result { return in.release() }},
		keymap.SearchPrompts: {Run: func(string) panel.Result { return in.recall.search() }},
		keymap.RepeatTurn:    panel.Run(func() tea.Cmd { return in.Commands.Do(protocol.DoRetry, protocol.Empty{}) }),
		keymap.ForkSession:   panel.Run(func() tea.Cmd { return in.lastTurn.fork(protocol.ForkData{}, nil) }),
		keymap.UndoTurn:      panel.Run(in.lastTurn.undo),
	}
}

// openEditor opens the message in the user's editor. changed is called after the edit.
func openEditor(c *composer.Composer, changed func()) panel.Result {
	done := func(text string) {
		c.SetText(strings.TrimRight(transcript.Clean(text), "\n"))
		changed()
	}
	return panel.Result{Leave: true, Intent: ui.EditIntent{Extension: "md", Text: c.Text(), Done: done}}
}

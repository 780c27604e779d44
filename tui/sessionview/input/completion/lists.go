package completion

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/palette"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// Config holds the dependencies of the lists.
type Config struct {
	Styles    *ui.Styles
	Runner    *request.Runner
	Commands  func() []palette.Command // of the screen and of the agent, in a new slice
	Options   func() *protocol.Options // of the agent, with its resources; nil: not known
	Directory func() string            // of the session if it is on this machine, or ""
}

// Lists are the list of commands and the list of files and resources. At most one of them has rows.
type Lists struct {
	panel.Base
	commands *commandList
	files    *fileList
}

// Result is the effect of a list on the message.
type Result struct {
	Message string           // replaces the message; "": it stays
	Word    string           // replaces the word at the cursor; "": it stays
	Run     *palette.Command // runs instead of the message; nil: none
}

// New returns the lists of an empty message.
func New(c Config) *Lists { return &Lists{commands: newCommandList(&c), files: newFileList(&c)} }

// Follow follows the word before the cursor, "" while nothing is completed. The command lists the
// files of the directory; it is nil unless a word with @ is begun.
func (l *Lists) Follow(word string) tea.Cmd { return l.files.follow(word) }

// Handle passes a key or the wheel to the list of a message, "" while none is completed. It reports
// whether the list took it.
func (l *Lists) Handle(message string, msg tea.Msg) (r Result, handled bool) {
	if l.commands.find(message) {
		return l.commands.handle(msg)
	}
	return l.files.handle(msg)
}

// Commands returns the lines of the list of commands of a message, or nil.
func (l *Lists) Commands(message string, width int) []string {
	if !l.commands.find(message) {
		return nil
	}
	return l.commands.view(width)
}

// Files returns the lines of the list of files and resources, or nil.
func (l *Lists) Files(width int) []string { return l.files.view(width) }

package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/internal/retired"
)

// Definition is an action with its scope, default keys and text on the help screen.
type Definition struct {
	Scope  Scope
	Action Action
	Keys   []string
	About  string
}

// Definitions lists all actions in the order of the help screen. Lookup tries the focused scope
// first, then Lists, then Global.
var Definitions = []Definition{
	{Global, Help, []string{"f1", "alt+h"}, "this help"},
	{Global, OpenPalette, []string{"ctrl+k"}, "all commands by name"},
	{Global, Interrupt, []string{"ctrl+x"}, "interrupt the turn and hold the queue"},
	{Global, ShowSessions, []string{"f2", "ctrl+s"}, "list all sessions"},
	{Global, ShowSettings, []string{"f3", "alt+s"}, "settings of the agent: mode, model"},
	{Global, ShowRules, []string{"f4", "alt+u"}, "rules that answer requests: list, revoke"},
	{Global, Reconnect, []string{"f5", "alt+y"}, "connect now"},
	{Global, ShowContext, []string{"f6", "alt+i"}, "context usage; compact the context"},
	{Global, NextPending, []string{"f8", "alt+n"}, "next session that needs you, then back"},
	{Global, ShowChanges, []string{"f9", "alt+c"}, "files changed in this session"},
	{Global, JumpSession, []string{"alt+g"}, "jump to a session by name, title, label or directory"},
	{Global, NextTheme, []string{"alt+l"}, "next theme of colours"},
	{Global, ToggleSide, []string{"alt+p"}, "show or hide plan, queue, files, context, people"},
	{Global, FocusNext, []string{"tab"}, "next panel: approval, queue, plan, transcript, composer"},
	{Global, FocusPrevious, []string{"shift+tab"}, "previous panel"},
	{Global, PageUp, []string{"pgup"}, "scroll the transcript up"},
	{Global, PageDown, []string{"pgdown"}, "scroll the transcript down"},
	{Global, Top, []string{"ctrl+home"}, "go to the start of the transcript"},
	{Global, Bottom, []string{"ctrl+end"}, "go to the end and follow"},
	{Global, PreviousTurn, []string{"alt+up"}, "previous turn"},
	{Global, NextTurn, []string{"alt+down"}, "next turn"},
	{Global, ToggleLast, []string{"ctrl+o"}, "expand or collapse the tool calls and thoughts"},
	{Global, Find, []string{"ctrl+f"}, "search the transcript; in the list: all sessions"},
	{Global, SearchPrompts, []string{"ctrl+r"}, "search your earlier messages"},
	{Global, TakeBack, []string{"alt+t"}, "take back an unsent message"},
	{Global, OpenEditor, []string{"ctrl+g"}, "write the message in $VISUAL or $EDITOR"},
	{Global, EarlierMessage, []string{"ctrl+p"}, "previous message of yours"},
	{Global, LaterMessage, []string{"ctrl+n"}, "next message of yours"},
	{Global, ShowOutline, []string{"f10", "alt+o"}, "turns of the session: filter, go to one"},
	{Global, Redraw, []string{"ctrl+l"}, "redraw the screen"},
	{Global, ReleaseQueue, []string{"alt+r"}, "release the queue"},
	{Global, ClearQueue, []string{"alt+q"}, "clear the queue"},
	{Global, ChooseTheme, nil, "theme of colours"},
	{Global, ChooseImages, nil, "how images are drawn"},
	{Global, ExportSession, nil, "save the session as a document"},
	{Global, HoldQueue, nil, "hold the queue"},
	{Global, SetMode, nil, "mode of the agent"},
	{Global, SetModel, nil, "model of the agent"},
	{Global, UndoTurn, nil, "the agent forgets its last turn; its files are restored"},
	{Global, RepeatTurn, nil, "the agent forgets its last turn and gets its message again"},
	{Global, ForkSession, nil, "a new session with the turns of this one"},
	{Global, CopyLast, nil, "copy the last text of the agent"},
	{Global, Quit, nil, "leave; the session goes on"},
	{Global, Suspend, []string{"ctrl+z"}, "suspend; for ten seconds after a removal: undo it"},

	{Panes, SplitRight, []string{"alt+v"}, "split right: another session beside this one"},
	{Panes, SplitBelow, []string{"alt+m"}, "split below: another session below this one"},
	{Panes, PaneLeft, []string{"alt+shift+h"}, "focus the session on the left"},
	{Panes, PaneRight, []string{"alt+shift+l"}, "focus the session on the right"},
	{Panes, PaneUp, []string{"alt+shift+k"}, "focus the session above"},
	{Panes, PaneDown, []string{"alt+shift+j"}, "focus the session below"},
	{Panes, NextPane, []string{"alt+a"}, "focus the next session"},
	{Panes, ZoomPane, []string{"alt+z"}, "zoom: this session only, then all again"},
	{Panes, WiderPane, []string{"alt+."}, "wider"},
	{Panes, NarrowerPane, []string{"alt+,"}, "narrower"},
	{Panes, TallerPane, []string{"alt+="}, "taller"},
	{Panes, ShorterPane, []string{"alt+-"}, "shorter"},
	{Panes, ClosePane, []string{"alt+e"}, "remove this session from the screen; it goes on"},

	{Composer, Send, []string{"enter"}, "send; queued while a turn runs"},
	{Composer, Cancel, []string{"esc"}, "interrupt the turn; cancel an edit or a recalled message"},
	{Composer, PasteImage, []string{"ctrl+v"}, "attach the image in the clipboard"},
	{Composer, RemoveAttachment, []string{"alt+x"}, "remove the last attached file"},
	{Composer, ComposerEarlier, []string{"up"}, "when empty: previous message of yours"},
	{Composer, ComposerLater, []string{"down"}, "back to your draft"},
	{Composer, RestoreDraft, []string{"ctrl+z"}, "right after ctrl+c: restore the draft"},
	{Composer, DeleteOrLeave, []string{"ctrl+d"}, "delete the next character; when empty: leave"},
	{Composer, ComposerScrollUp, []string{"shift+up"}, "when empty: scroll up"},
	{Composer, ComposerScrollDown, []string{"shift+down"}, "when empty: scroll down"},

	{Outline, OutlineJump, []string{"enter"}, "go to the turn"},
	{Outline, OutlineUp, []string{"up"}, "up; text filters"},
	{Outline, OutlineDown, []string{"down"}, "down"},
	{Outline, OutlinePageUp, []string{"pgup"}, "page up"},
	{Outline, OutlinePageDown, []string{"pgdown"}, "page down"},
	{Outline, OutlineClose, []string{"esc", "f10", "alt+o"}, "back"},

	{Player, PlayPause, []string{"space", "p"}, "pause or continue; at the end: play again"},
	{Player, PlayFaster, []string{"+", "="}, "faster, up to 16×, then as fast as possible"},
	{Player, PlaySlower, []string{"-"}, "slower, down to 0.25×"},
	{Player, PlayPrevious, []string{"[", "left"}, "start of the turn, then previous turn"},
	{Player, PlayNext, []string{"]", "right"}, "next turn"},
	{Player, PlayFromStart, []string{"home"}, "start of the recording"},
	{Player, PlayToEnd, []string{"end"}, "end of the recording"},
	{Player, PlayFind, []string{"/"}, "search"},
	{Player, PlayOutline, []string{"o"}, "turns"},
	{Player, PlayHelp, []string{"?"}, "this help"},

	{Lists, Up, []string{"up", "k"}, "up"},
	{Lists, Down, []string{"down", "j"}, "down"},
	{Lists, First, []string{"home", "g"}, "first"},
	{Lists, Last, []string{"end", "G"}, "last"},
	{Lists, Choose, []string{"enter", "space"}, "choose"},
	{Lists, Back, []string{"esc", "q"}, "back"},

	{Approval, Allow, []string{"y"}, "allow once, or answer; opens what was not on the screen first"},
	{Approval, AllowAlways, []string{"a"}, "always allow: shows what that covers, then y confirms"},
	{Approval, DenyRequest, []string{"n", "d"}, "deny, or skip the question"},
	{Approval, WriteReason, []string{"r"}, "add a reason to the decision"},
	{Approval, ViewRequest, []string{"v"}, "view the whole request"},
	{Approval, EditRequest, []string{"p"}, "edit the command, the patch in your editor, or the task"},
	{Approval, PreviousRequest, []string{"left", "["}, "previous request"},
	{Approval, NextRequest, []string{"right", "]"}, "next request"},

	{Queue, QueueEdit, []string{"e", "enter"}, "edit; the message is held meanwhile"},
	{Queue, QueueRemove, []string{"delete", "backspace", "X"}, "remove"},
	{Queue, QueueClear, []string{"C"}, "clear: remove all messages"},
	{Queue, QueueMoveUp, []string{"K", "shift+up"}, "move up"},
	{Queue, QueueMoveDown, []string{"J", "shift+down"}, "move down"},
	{Queue, QueueSendNow, []string{"s"}, "send now: move first, release the queue, interrupt the turn"},
	{Queue, QueuePageUp, []string{"pgup"}, "page up"},
	{Queue, QueuePageDown, []string{"pgdown"}, "page down"},
	{Queue, QueueHold, []string{"h"}, "hold the queue"},
	{Queue, QueueRelease, []string{"r"}, "release the queue"},

	{Plan, TaskCancel, []string{"delete", "X"}, "cancel the task"},
	{Plan, TaskRestart, []string{"r"}, "restart the task"},

	{Transcript, Toggle, []string{"enter", "right", "left"}, "expand or collapse"},
	{Transcript, ViewItem, []string{"v", "o"}, "view the whole tool call"},
	{Transcript, TurnChanges, []string{"f"}, "files changed by the tool call, or in the turn"},
	{Transcript, SaveFile, []string{"w"}, "save the image or file"},
	{Transcript, OpenFile, []string{"x"}, "open the image or file with the program for it"},
	{Transcript, OpenPlace, []string{"F"}, "open a file that it names, at its line, in $VISUAL or $EDITOR"},
	{Transcript, DiffLayout, []string{"d"}, "diff side by side or in one column"},
	{Transcript, TranscriptFind, []string{"/"}, "search"},
	{Transcript, OlderMatch, []string{"n"}, "next older match"},
	{Transcript, NewerMatch, []string{"N"}, "next newer match"},
	{Transcript, TranscriptPreviousTurn, []string{"["}, "previous turn"},
	{Transcript, TranscriptNextTurn, []string{"]"}, "next turn"},
	{Transcript, TranscriptOutline, []string{"O"}, "turns"},
	{Transcript, NextTool, []string{"t"}, "next tool call"},
	{Transcript, PreviousTool, []string{"T"}, "previous tool call"},
	{Transcript, NextApproval, []string{"a"}, "next approval"},
	{Transcript, PreviousApproval, []string{"A"}, "previous approval"},
	{Transcript, NextError, []string{"e"}, "next error or failed tool call"},
	{Transcript, PreviousError, []string{"E"}, "previous error or failed tool call"},
	{Transcript, CopyItem, []string{"y"}, "copy the item"},
	{Transcript, CopyCode, []string{"c"}, "copy a code block; again: the next one"},
	{Transcript, EnterCopyMode, []string{"space"}, "copy mode"},
	{Transcript, TranscriptHelp, []string{"?"}, "this help"},

	{CopyMode, StartSelection, []string{"space"}, "start a selection"},
	{CopyMode, SelectBlock, []string{"b"}, "select the block of lines"},
	{CopyMode, CopySelection, []string{"y", "enter"}, "copy the selection, or the line"},

	{Sessions, FilterSessions, []string{"/"}, "filter by words"},
	{Sessions, SearchSessions, []string{"f"}, "search all sessions"},
	{Sessions, SortSessions, []string{"s"}, "sort by need, activity, name, cost, created"},
	{Sessions, TogglePreview, []string{"p"}, "show or hide the preview"},
	{Sessions, NewSession, []string{"n"}, "create a session"},
	{Sessions, RenameSession, []string{"R"}, "rename the session"},
	{Sessions, CloseOrDelete, []string{"X", "delete"}, "close or delete the session, or all marked ones"},
	{Sessions, DecideRequest, []string{"y", "d"}, "show the pending request; with marks one after the other"},
	{Sessions, DenySessions, []string{"N"}, "deny the requests of the marked sessions, with a reason"},
	{Sessions, StopSessions, []string{"i"}, "interrupt the turns of the marked sessions"},
	{Sessions, SendSessions, []string{"m"}, "send a message to the marked sessions"},
	{Sessions, MarkSession, []string{"space"}, "mark the session for an action on several, or unmark it"},
	{Sessions, MarkShown, []string{"*"}, "mark all sessions that the filter shows, or none"},
	{Sessions, ToggleChildren, []string{"t"}, "show or hide the sessions that its agent created"},
	{Sessions, LabelSession, []string{"l"}, "change the labels of the session"},
	{Sessions, OpenSession, []string{"o"}, "open the session"},
	{Sessions, SessionsHelp, []string{"?"}, "this help"},

	{SearchResults, NewSearch, []string{"/"}, "new search; enter opens the match"},

	{Rules, RevokeRule, []string{"delete", "backspace", "X"}, "revoke the rule: the agent asks again"},

	{Context, Compact, []string{"c"}, "compact the context"},

	{Review, ReviewPageUp, []string{"pgup", "b"}, "page up"},
	{Review, ReviewPageDown, []string{"space", "pgdown"}, "page down"},
	{Review, ReviewPreviousFile, []string{"[", "left"}, "previous file"},
	{Review, ReviewNextFile, []string{"]", "right"}, "next file"},
	{Review, ReviewPreviousHunk, []string{"K"}, "previous hunk"},
	{Review, ReviewNextHunk, []string{"J"}, "next hunk"},
	{Review, ReviewFind, []string{"/"}, "find in the changes"},
	{Review, ReviewNextMatch, []string{"n"}, "after a search: next match"},
	{Review, ReviewPreviousMatch, []string{"N"}, "after a search: previous match"},
	{Review, ReviewUnread, []string{"u"}, "go to what was not on the screen"},
	{Review, ReviewFiles, []string{"f"}, "list of files and comments"},
	{Review, ReviewComment, []string{"c"}, "comment on the line; sent with the decision"},
	{Review, ReviewRemove, []string{"x", "delete", "backspace"}, "remove the comment"},
	{Review, ReviewCopy, []string{"C"}, "copy all comments"},
	{Review, ReviewFold, []string{"z"}, "hide the lines of the file, or show them"},
	{Review, ReviewLayout, []string{"s"}, "side by side or in one column"},
	{Review, ReviewClose, []string{"v"}, "back; the keys of an approval decide"},

	{Pager, PagerPageUp, []string{"pgup", "b"}, "page up"},
	{Pager, PagerPageDown, []string{"pgdown", "space"}, "page down"},
	{Pager, PagerFind, []string{"/"}, "search"},
	{Pager, PagerNext, []string{"n"}, "next match"},
	{Pager, PagerPrevious, []string{"N"}, "previous match"},
	{Pager, PagerDiffLayout, []string{"d"}, "diff side by side or in one column"},
	{Pager, PagerClose, []string{"v", "enter", "?", "f1", "alt+h"}, "back"},

	{Tour, SkipStep, []string{"alt+k"}, "skip the step of the tour"},
}

// reserved are keys that cannot be rebound, so that quitting and writing always work.
var reserved = []string{"ctrl+c", "ctrl+j", "alt+enter", "shift+enter"}

// writing are the scopes that are active while a text field has the focus.
var writing = []Scope{Global, Composer, Tour, Panes}

// Keys overrides the keys of actions by name, such as "interrupt": {"ctrl+b"}. An empty list leaves
// an action without keys.
type Keys map[string][]string

// Check returns an error for an action that no version knew, for a key that cannot be bound, and for a key given
// to two actions of one scope.
func (k Keys) Check() error {
	_, err := New(k)
	return err
}

// Retired returns the actions among the names that only earlier versions knew, sorted. Their keys
// are ignored.
func (k Keys) Retired() []retired.Name {
	var out []retired.Name
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if n, ok := retired.Action.Find(name); ok {
			out = append(out, n)
		}
	}
	return out
}

// Map maps the keys of each scope to actions. It is immutable.
type Map struct {
	byKey    map[Scope]map[string]Action
	byAction map[Action][]string
}

// New returns the default map with the given keys in place of the defaults. Its errors are those of
// [Keys.Check].
func New(custom Keys) (*Map, error) {
	for name := range custom {
		_, isRetired := retired.Action.Find(name)
		if !isRetired && DefinitionOf(Action(name)).Action == "" {
			return nil, fmt.Errorf("keys: unknown action %q", name)
		}
	}
	m := &Map{byKey: map[Scope]map[string]Action{}, byAction: map[Action][]string{}}
	// Bind the user's keys first: they take precedence over default keys of the same scope.
	for _, bindCustom := range []bool{true, false} {
		for _, d := range Definitions {
			keys, isCustom := custom[string(d.Action)]
			if isCustom != bindCustom {
				continue
			}
			if !isCustom {
				keys = d.Keys
			}
			if err := m.bind(d, keys, isCustom); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// bind binds keys to an action. A default key that is already bound is left out. A custom key bound
// to another action is an error.
func (m *Map) bind(d Definition, keys []string, custom bool) error {
	actions := m.byKey[d.Scope]
	if actions == nil {
		actions = map[string]Action{}
		m.byKey[d.Scope] = actions
	}
	for _, key := range keys {
		if custom {
			if err := checkKey(d.Scope, key); err != nil {
				return fmt.Errorf("keys: %s: %w", d.Action, err)
			}
		}
		switch other, bound := actions[key]; {
		case !bound:
			actions[key] = d.Action
			m.byAction[d.Action] = append(m.byAction[d.Action], key)
		case custom && other != d.Action:
			return fmt.Errorf("keys: %q is bound to both %s and %s", key, other, d.Action)
		}
	}
	return nil
}

// checkKey returns an error for a key that would prevent writing or quitting.
func checkKey(scope Scope, key string) error {
	switch {
	case key == "" || strings.ContainsAny(key, " \t\n"):
		return fmt.Errorf("%q is not a key; one is written as ctrl+x, alt+up, f5, space or e", key)
	case slices.Contains(reserved, key):
		return fmt.Errorf("%q cannot be rebound", key)
	case slices.Contains(writing, scope) && (utf8.RuneCountInString(key) == 1 || key == "space"):
		return fmt.Errorf("%q is needed for writing: use a key with ctrl or alt, or a function key", key)
	}
	return nil
}

// At returns the action of a key in a scope, or "".
func (m *Map) At(scope Scope, key string) Action { return m.byKey[scope][key] }

// InList returns the action of a key in a scope or else in Lists, or "".
func (m *Map) InList(scope Scope, key string) Action {
	if a := m.byKey[scope][key]; a != "" {
		return a
	}
	return m.byKey[Lists][key]
}

// Keys returns the keys of an action in display form.
func (m *Map) Keys(a Action) []string {
	out := make([]string, len(m.byAction[a]))
	for i, key := range m.byAction[a] {
		out[i] = keyName(key)
	}
	return out
}

// Key returns the first key of an action in display form, or "".
func (m *Map) Key(a Action) string {
	if keys := m.byAction[a]; len(keys) > 0 {
		return keyName(keys[0])
	}
	return ""
}

// Hint returns a line of keys and labels. pairs alternates an Action and its label, a string.
// Actions without keys are left out.
func (m *Map) Hint(pairs ...any) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if key := m.Key(pairs[i].(Action)); key != "" {
			out = append(out, key+" "+pairs[i+1].(string))
		}
	}
	return strings.Join(out, Separator)
}

// Separator separates the entries of a hint.
const Separator = " · "

// keyName returns a key in display form.
func keyName(key string) string {
	if arrow := map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}[key]; arrow != "" {
		return arrow
	}
	if len(key) > 1 && key[0] == 'f' && key[1] >= '0' && key[1] <= '9' {
		return strings.ToUpper(key)
	}
	return key
}

// Binding is an action with its keys, as a user configures them.
type Binding struct {
	Place  string   `json:"place"` // the scope
	Action string   `json:"action"`
	Keys   []string `json:"keys"`
	About  string   `json:"about"`
}

// Bindings returns all actions with their keys, in the order of the help screen. Its errors are
// those of [Keys.Check].
func (k Keys) Bindings() ([]Binding, error) {
	m, err := New(k)
	if err != nil {
		return nil, err
	}
	out := make([]Binding, len(Definitions))
	for i, d := range Definitions {
		out[i] = Binding{string(d.Scope), string(d.Action), m.byAction[d.Action], d.About}
	}
	return out, nil
}

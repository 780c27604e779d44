package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Scope is a part of the screen that has keys of its own. Its value is its
// heading on the help screen.
type Scope string

const (
	Global        Scope = "Everywhere"
	Lists         Scope = "Lists"
	Composer      Scope = "Composer"
	Approval      Scope = "Approval (tab)"
	Queue         Scope = "Queue (tab)"
	Plan          Scope = "Plan (tab)"
	Transcript    Scope = "Transcript (tab)"
	CopyMode      Scope = "Copy mode (space in the transcript)"
	Sessions      Scope = "Sessions"
	SearchResults Scope = "Found in all sessions"
	EndSession    Scope = "Ending a session"
	Rules         Scope = "Rules"
	Context       Scope = "Context"
	ProtocolLog   Scope = "The wire (F7)"
	Pager         Scope = "Pager"
)

// Definition is an action, where it is done, its keys until somebody chooses
// others, and what it does in the words of the help screen.
type Definition struct {
	Scope  Scope
	Action Action
	Keys   []string
	About  string
}

// Definitions are all actions, in the order of the help screen. What has the focus
// is asked before lists, and both before everywhere.
var Definitions = []Definition{
	{Global, Help, []string{"f1"}, "this help"},
	{Global, Interrupt, []string{"ctrl+x"}, "interrupt the turn"},
	{Global, ShowSessions, []string{"f2", "ctrl+s"}, "all sessions: what each does, who waits"},
	{Global, ShowSettings, []string{"f3"}, "the agent's settings: its mode, its model"},
	{Global, ShowRules, []string{"f4"}, "what is allowed without asking"},
	{Global, Reconnect, []string{"f5"}, "try to connect now"},
	{Global, ShowContext, []string{"f6"}, "how full the agent's context is; make it smaller"},
	{Global, ShowProtocolLog, []string{"f7"}, "the wire: what goes to the server and comes from it"},
	{Global, NextPending, []string{"f8"}, "the next session that needs you, then back"},
	{Global, FocusNext, []string{"tab"}, "to approval, queue, plan, transcript, composer"},
	{Global, FocusPrevious, []string{"shift+tab"}, "the other way round"},
	{Global, PageUp, []string{"pgup"}, "scroll the transcript"},
	{Global, PageDown, []string{"pgdown"}, "scroll it down"},
	{Global, Top, []string{"ctrl+home"}, "to its beginning"},
	{Global, Bottom, []string{"ctrl+end"}, "to its end, and follow"},
	{Global, PreviousTurn, []string{"alt+up"}, "to the turn before"},
	{Global, NextTurn, []string{"alt+down"}, "to the next turn"},
	{Global, ToggleLast, []string{"ctrl+o"}, "unfold or fold the last tool or thought"},
	{Global, Find, []string{"ctrl+f"}, "find words in the transcript, or from all sessions in all of them"},
	{Global, TakeBack, []string{"ctrl+r"}, "take back a message that was not sent: refused, or waiting for the connection"},
	{Global, OpenEditor, []string{"ctrl+g"}, "write the message in your editor ($VISUAL, $EDITOR)"},
	{Global, EarlierMessage, []string{"ctrl+p"}, "what you wrote before"},
	{Global, LaterMessage, []string{"ctrl+n"}, "what you wrote after that"},
	{Global, Redraw, []string{"ctrl+l"}, "draw anew"},
	{Global, Suspend, []string{"ctrl+z"}, "suspend"},

	{Composer, Send, []string{"enter"}, "send; queued while a turn runs"},
	{Composer, Cancel, []string{"esc"}, "interrupt the turn; give up an edit, or a walk through what you wrote"},
	{Composer, ComposerEarlier, []string{"up"}, "when empty: what you wrote before; again: what was before that"},
	{Composer, ComposerLater, []string{"down"}, "back again, to what you were writing"},
	{Composer, ComposerScrollUp, []string{"shift+up"}, "when empty: scroll"},
	{Composer, ComposerScrollDown, []string{"shift+down"}, "when empty: scroll down"},
	{Composer, ComposerHelp, []string{"?"}, "when empty: this help"},

	{Lists, Up, []string{"up", "k"}, "up"},
	{Lists, Down, []string{"down", "j"}, "down"},
	{Lists, First, []string{"home", "g"}, "the first"},
	{Lists, Last, []string{"end", "G"}, "the last"},
	{Lists, Choose, []string{"enter", "space"}, "choose it"},
	{Lists, Back, []string{"esc", "q"}, "back"},

	{Approval, WriteReason, []string{"r"}, "write a reason that goes with the decision"},
	{Approval, ViewRequest, []string{"v"}, "view all of it"},
	{Approval, EditRequest, []string{"p"}, "edit the patch in your editor, or the chosen task of a plan"},
	{Approval, PreviousRequest, []string{"left", "["}, "the request before"},
	{Approval, NextRequest, []string{"right", "]"}, "the next request"},

	{Queue, QueueEdit, []string{"e", "enter"}, "edit; the message waits meanwhile"},
	{Queue, QueueRemove, []string{"x", "delete", "backspace"}, "remove"},
	{Queue, QueueMoveUp, []string{"K", "shift+up"}, "move up"},
	{Queue, QueueMoveDown, []string{"J", "shift+down"}, "move down"},
	{Queue, QueueSendNow, []string{"s"}, "send now: it goes first, the queue is released, the turn is interrupted"},
	{Queue, QueuePageUp, []string{"pgup"}, "a page up"},
	{Queue, QueuePageDown, []string{"pgdown"}, "a page down"},
	{Queue, QueueHold, []string{"h"}, "hold the queue"},
	{Queue, QueueRelease, []string{"r"}, "release it"},

	{Plan, TaskCancel, []string{"c", "x"}, "cancel a task"},
	{Plan, TaskRestart, []string{"r"}, "restart it"},

	{Transcript, Toggle, []string{"enter", "right", "left"}, "unfold or fold"},
	{Transcript, ViewItem, []string{"v", "o"}, "view a tool call on a screen of its own"},
	{Transcript, DiffLayout, []string{"d"}, "changes side by side, or in one column"},
	{Transcript, TranscriptFind, []string{"/"}, "find words"},
	{Transcript, OlderMatch, []string{"n"}, "the next older place with them"},
	{Transcript, NewerMatch, []string{"N"}, "the next newer place"},
	{Transcript, TranscriptPreviousTurn, []string{"["}, "the turn before"},
	{Transcript, TranscriptNextTurn, []string{"]"}, "the next turn"},
	{Transcript, NextTool, []string{"t"}, "the next tool call"},
	{Transcript, PreviousTool, []string{"T"}, "the tool call before"},
	{Transcript, NextApproval, []string{"a"}, "the next approval"},
	{Transcript, PreviousApproval, []string{"A"}, "the approval before"},
	{Transcript, NextError, []string{"e"}, "the next error, or tool call that failed"},
	{Transcript, PreviousError, []string{"E"}, "the one before"},
	{Transcript, CopyItem, []string{"y"}, "copy it as it was said, a tool's output (where the terminal allows it)"},
	{Transcript, CopyCode, []string{"c"}, "copy its code; again: the next block of it"},
	{Transcript, EnterCopyMode, []string{"space"}, "copy mode"},
	{Transcript, TranscriptHelp, []string{"?"}, "this help"},

	{CopyMode, StartSelection, []string{"space"}, "begin to choose lines, or begin anew"},
	{CopyMode, SelectBlock, []string{"b"}, "choose the block of lines"},
	{CopyMode, CopySelection, []string{"y", "enter"}, "copy what is chosen, or the line"},

	{Sessions, FilterSessions, []string{"/"}, "only those with these words"},
	{Sessions, SearchSessions, []string{"f"}, "find words in all sessions"},
	{Sessions, SortSessions, []string{"s"}, "sort by need, activity, name, agent, context"},
	{Sessions, TogglePreview, []string{"space"}, "show what was said last"},
	{Sessions, NewSession, []string{"n"}, "create a session"},
	{Sessions, RenameSession, []string{"R"}, "rename it"},
	{Sessions, CloseOrDelete, []string{"X"}, "close or remove it"},
	{Sessions, AllowOnce, []string{"y"}, "allow once what it asks for"},
	{Sessions, Deny, []string{"d"}, "deny it"},
	{Sessions, SessionsHelp, []string{"?"}, "this help"},

	{SearchResults, NewSearch, []string{"/"}, "other words; enter opens a session where the words are"},

	{EndSession, CloseSession, []string{"c"}, "close it: what was said stays"},
	{EndSession, DeleteSession, []string{"D"}, "remove it with all that was said"},

	{Rules, RevokeRule, []string{"x", "delete", "backspace"}, "revoke: the agent asks again"},

	{Context, Compact, []string{"c"}, "make it smaller"},

	{ProtocolLog, LogFilter, []string{"/"}, "only messages that hold words; -word: that do not"},
	{ProtocolLog, LogDirection, []string{"d"}, "only what is sent, only what is received, both"},
	{ProtocolLog, LogType, []string{"t"}, "only messages of the chosen one's type, or all"},
	{ProtocolLog, LogPause, []string{"p"}, "stand still, or go on"},
	{ProtocolLog, LogCopy, []string{"y"}, "copy the message"},
	{ProtocolLog, LogSave, []string{"w"}, "write all of it to a file"},
	{ProtocolLog, LogPageUp, []string{"pgup", "b"}, "a page up"},
	{ProtocolLog, LogPageDown, []string{"pgdown"}, "a page down"},
	{ProtocolLog, LogClose, []string{"f7"}, "back"},

	{Pager, PagerPageUp, []string{"pgup", "b"}, "a page up"},
	{Pager, PagerPageDown, []string{"pgdown", "space"}, "a page down"},
	{Pager, PagerFind, []string{"/"}, "find words"},
	{Pager, PagerNext, []string{"n"}, "the next place with them"},
	{Pager, PagerPrevious, []string{"N"}, "the place before"},
	{Pager, PagerDiffLayout, []string{"d"}, "changes side by side, or in one column"},
	{Pager, PagerClose, []string{"v", "enter", "?", "f1"}, "back"},
}

// reserved are the keys that no action can be given, for a person must be able to
// leave and to write.
var reserved = []string{"ctrl+c", "ctrl+j", "alt+enter", "shift+enter"}

// Keys gives actions other keys than their own: action → keys, as "interrupt" →
// "ctrl+b". No keys at all leave an action without one.
type Keys map[string][]string

// Check tells what is wrong with keys: an action that there is not, a key that
// cannot be used, or one that two actions of one part of the screen share.
func (k Keys) Check() error {
	_, err := New(k)
	return err
}

// Map says what a key does where. It does not change.
type Map struct {
	byKey    map[Scope]map[string]Action
	byAction map[Action][]string
}

func New(chosen Keys) (*Map, error) {
	for name := range chosen {
		if !slices.ContainsFunc(Definitions, func(b Definition) bool { return b.Action == Action(name) }) {
			return nil, fmt.Errorf("keys: there is no action %q", name)
		}
	}
	m := &Map{byKey: map[Scope]map[string]Action{}, byAction: map[Action][]string{}}
	// A key that is chosen is taken from the action of the same place that has it by default.
	for _, own := range []bool{true, false} {
		for _, b := range Definitions {
			keys, is := chosen[string(b.Action)]
			if is != own {
				continue
			}
			if !own {
				keys = b.Keys
			}
			if err := m.bind(b, keys, own); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func (m *Map) bind(b Definition, keys []string, own bool) error {
	at := m.byKey[b.Scope]
	if at == nil {
		at = map[string]Action{}
		m.byKey[b.Scope] = at
	}
	for _, key := range keys {
		if own {
			if err := checkKey(b.Scope, key); err != nil {
				return fmt.Errorf("keys: %s: %w", b.Action, err)
			}
		}
		switch other, taken := at[key]; {
		case !taken:
			at[key] = b.Action
			m.byAction[b.Action] = append(m.byAction[b.Action], key)
		case own && other != b.Action:
			return fmt.Errorf("keys: %q is given to both %s and %s", key, other, b.Action)
		}
	}
	return nil
}

// checkKey refuses a key that would make it impossible to write or to leave.
func checkKey(where Scope, key string) error {
	switch {
	case key == "" || strings.ContainsAny(key, " \t\n"):
		return fmt.Errorf("%q is not a key; one is written as ctrl+x, alt+up, f5, space or e", key)
	case slices.Contains(reserved, key):
		return fmt.Errorf("%q always does the same", key)
	case where == Global && (utf8.RuneCountInString(key) == 1 || key == "space"):
		return fmt.Errorf("%q has to stay free for writing: everywhere is for keys with ctrl or alt, and for function keys", key)
	}
	return nil
}

// At is what a key does in a place; "" for nothing.
func (m *Map) At(where Scope, key string) Action { return m.byKey[where][key] }

// InList is what a key does in a list of a place.
func (m *Map) InList(where Scope, key string) Action {
	if a := m.byKey[where][key]; a != "" {
		return a
	}
	return m.byKey[Lists][key]
}

// Keys returns the keys of an action as people write them.
func (m *Map) Keys(a Action) []string {
	out := make([]string, len(m.byAction[a]))
	for i, key := range m.byAction[a] {
		out[i] = keyName(key)
	}
	return out
}

// Key is the first key of an action, for hints; "" when it has none.
func (m *Map) Key(a Action) string {
	if keys := m.byAction[a]; len(keys) > 0 {
		return keyName(keys[0])
	}
	return ""
}

// Hint is a line of keys and words: pairs of an action and what it does here.
// Actions without a key are left out.
func (m *Map) Hint(pairs ...any) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if key := m.Key(pairs[i].(Action)); key != "" {
			out = append(out, key+" "+pairs[i+1].(string))
		}
	}
	return strings.Join(out, Separator)
}

// Separator stands between the keys of a hint.
const Separator = " · "

// keyName is a key as people write it.
func keyName(key string) string {
	if arrow := map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}[key]; arrow != "" {
		return arrow
	}
	if len(key) > 1 && key[0] == 'f' && key[1] >= '0' && key[1] <= '9' {
		return strings.ToUpper(key)
	}
	return key
}

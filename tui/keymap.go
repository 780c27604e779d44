package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// place is a part of the screen that has keys of its own. Its value is its
// heading on the help screen.
type place string

const (
	everywhere   place = "Everywhere"
	inLists      place = "Lists"
	inComposer   place = "Composer"
	inApproval   place = "Approval (tab)"
	inQueue      place = "Queue (tab)"
	inPlan       place = "Plan (tab)"
	inTranscript place = "Transcript (tab)"
	inCopying    place = "Copy mode (space in the transcript)"
	inSessions   place = "Sessions"
	inFound      place = "Found in all sessions"
	inEnding     place = "Ending a session"
	inRules      place = "Rules"
	inContext    place = "Context"
	inWire       place = "The wire (F7)"
	inPager      place = "Pager"
)

// binding is an action, where it is done, its keys until somebody chooses
// others, and what it does in the words of the help screen.
type binding struct {
	place  place
	action action
	keys   []string
	about  string
}

// bindings are all actions, in the order of the help screen. What has the focus
// is asked before lists, and both before everywhere.
var bindings = []binding{
	{everywhere, doHelp, []string{"f1"}, "this help"},
	{everywhere, doInterrupt, []string{"ctrl+x"}, "interrupt the turn"},
	{everywhere, doSessions, []string{"f2", "ctrl+s"}, "all sessions: what each does, who waits"},
	{everywhere, doSettings, []string{"f3"}, "the agent's settings: its mode, its model"},
	{everywhere, doRules, []string{"f4"}, "what is allowed without asking"},
	{everywhere, doRetry, []string{"f5"}, "try to connect now"},
	{everywhere, doContext, []string{"f6"}, "how full the agent's context is; make it smaller"},
	{everywhere, doWire, []string{"f7"}, "the wire: what goes to the server and comes from it"},
	{everywhere, doNextNeed, []string{"f8"}, "the next session that needs you, then back"},
	{everywhere, doNextPart, []string{"tab"}, "to approval, queue, plan, transcript, composer"},
	{everywhere, doPreviousPart, []string{"shift+tab"}, "the other way round"},
	{everywhere, doPageUp, []string{"pgup"}, "scroll the transcript"},
	{everywhere, doPageDown, []string{"pgdown"}, "scroll it down"},
	{everywhere, doTop, []string{"ctrl+home"}, "to its beginning"},
	{everywhere, doEnd, []string{"ctrl+end"}, "to its end, and follow"},
	{everywhere, doTurnBefore, []string{"alt+up"}, "to the turn before"},
	{everywhere, doTurnAfter, []string{"alt+down"}, "to the next turn"},
	{everywhere, doFoldLast, []string{"ctrl+o"}, "unfold or fold the last tool or thought"},
	{everywhere, doFind, []string{"ctrl+f"}, "find words in the transcript, or from all sessions in all of them"},
	{everywhere, doTakeBack, []string{"ctrl+r"}, "take back a message that was not sent: refused, or waiting for the connection"},
	{everywhere, doEditor, []string{"ctrl+g"}, "write the message in your editor ($VISUAL, $EDITOR)"},
	{everywhere, doEarlier, []string{"ctrl+p"}, "what you wrote before"},
	{everywhere, doLater, []string{"ctrl+n"}, "what you wrote after that"},
	{everywhere, doRedraw, []string{"ctrl+l"}, "draw anew"},
	{everywhere, doSuspend, []string{"ctrl+z"}, "suspend"},

	{inComposer, doSend, []string{"enter"}, "send; queued while a turn runs"},
	{inComposer, doGiveUp, []string{"esc"}, "interrupt the turn; give up an edit, or a walk through what you wrote"},
	{inComposer, doRecall, []string{"up"}, "when empty: what you wrote before; again: what was before that"},
	{inComposer, doForth, []string{"down"}, "back again, to what you were writing"},
	{inComposer, doScrollUp, []string{"shift+up"}, "when empty: scroll"},
	{inComposer, doScrollDown, []string{"shift+down"}, "when empty: scroll down"},
	{inComposer, doAsk, []string{"?"}, "when empty: this help"},

	{inLists, doUp, []string{"up", "k"}, "up"},
	{inLists, doDown, []string{"down", "j"}, "down"},
	{inLists, doFirst, []string{"home", "g"}, "the first"},
	{inLists, doLast, []string{"end", "G"}, "the last"},
	{inLists, doChoose, []string{"enter", "space"}, "choose it"},
	{inLists, doBack, []string{"esc", "q"}, "back"},

	{inApproval, doReason, []string{"r"}, "write a reason that goes with the decision"},
	{inApproval, doExamine, []string{"v"}, "view all of it"},
	{inApproval, doAmend, []string{"p"}, "edit the patch in your editor, or the chosen task of a plan"},
	{inApproval, doPreviousRequest, []string{"left", "["}, "the request before"},
	{inApproval, doNextRequest, []string{"right", "]"}, "the next request"},

	{inQueue, doEdit, []string{"e", "enter"}, "edit; the message waits meanwhile"},
	{inQueue, doRemove, []string{"x", "delete", "backspace"}, "remove"},
	{inQueue, doMoveUp, []string{"K", "shift+up"}, "move up"},
	{inQueue, doMoveDown, []string{"J", "shift+down"}, "move down"},
	{inQueue, doSendNow, []string{"s"}, "send now: it goes first, the queue is released, the turn is interrupted"},
	{inQueue, doQueueUp, []string{"pgup"}, "a page up"},
	{inQueue, doQueueDown, []string{"pgdown"}, "a page down"},
	{inQueue, doHold, []string{"h"}, "hold the queue"},
	{inQueue, doRelease, []string{"r"}, "release it"},

	{inPlan, doCancelTask, []string{"c", "x"}, "cancel a task"},
	{inPlan, doRestartTask, []string{"r"}, "restart it"},

	{inTranscript, doFold, []string{"enter", "right", "left"}, "unfold or fold"},
	{inTranscript, doView, []string{"v", "o"}, "view a tool call on a screen of its own"},
	{inTranscript, doSidesHere, []string{"d"}, "changes side by side, or in one column"},
	{inTranscript, doFindHere, []string{"/"}, "find words"},
	{inTranscript, doOlder, []string{"n"}, "the next older place with them"},
	{inTranscript, doNewer, []string{"N"}, "the next newer place"},
	{inTranscript, doLastTurn, []string{"["}, "the turn before"},
	{inTranscript, doNextTurn, []string{"]"}, "the next turn"},
	{inTranscript, doNextTool, []string{"t"}, "the next tool call"},
	{inTranscript, doLastTool, []string{"T"}, "the tool call before"},
	{inTranscript, doNextApproval, []string{"a"}, "the next approval"},
	{inTranscript, doLastApproval, []string{"A"}, "the approval before"},
	{inTranscript, doNextError, []string{"e"}, "the next error, or tool call that failed"},
	{inTranscript, doLastError, []string{"E"}, "the one before"},
	{inTranscript, doCopy, []string{"y"}, "copy it as it was said, a tool's output (where the terminal allows it)"},
	{inTranscript, doCopyCode, []string{"c"}, "copy its code; again: the next block of it"},
	{inTranscript, doCopying, []string{"space"}, "copy mode"},
	{inTranscript, doKeysHere, []string{"?"}, "this help"},

	{inCopying, doBeginChoice, []string{"space"}, "begin to choose lines, or begin anew"},
	{inCopying, doChooseBlock, []string{"b"}, "choose the block of lines"},
	{inCopying, doTakeChoice, []string{"y", "enter"}, "copy what is chosen, or the line"},

	{inSessions, doFilter, []string{"/"}, "only those with these words"},
	{inSessions, doFindAll, []string{"f"}, "find words in all sessions"},
	{inSessions, doSort, []string{"s"}, "sort by need, activity, name, agent, context"},
	{inSessions, doPreview, []string{"space"}, "show what was said last"},
	{inSessions, doCreate, []string{"n"}, "create a session"},
	{inSessions, doRename, []string{"R"}, "rename it"},
	{inSessions, doEndSession, []string{"X"}, "close or remove it"},
	{inSessions, doAllow, []string{"y"}, "allow once what it asks for"},
	{inSessions, doDeny, []string{"d"}, "deny it"},
	{inSessions, doSessionKeys, []string{"?"}, "this help"},

	{inFound, doFindOthers, []string{"/"}, "other words; enter opens a session where the words are"},

	{inEnding, doCloseSession, []string{"c"}, "close it: what was said stays"},
	{inEnding, doDeleteSession, []string{"D"}, "remove it with all that was said"},

	{inRules, doRevoke, []string{"x", "delete", "backspace"}, "revoke: the agent asks again"},

	{inContext, doCompact, []string{"c"}, "make it smaller"},

	{inWire, doWireWords, []string{"/"}, "only messages that hold words; -word: that do not"},
	{inWire, doWireWay, []string{"d"}, "only what is sent, only what is received, both"},
	{inWire, doWireType, []string{"t"}, "only messages of the chosen one's type, or all"},
	{inWire, doWirePause, []string{"p"}, "stand still, or go on"},
	{inWire, doWireCopy, []string{"y"}, "copy the message"},
	{inWire, doWireSave, []string{"w"}, "write all of it to a file"},
	{inWire, doWireUp, []string{"pgup", "b"}, "a page up"},
	{inWire, doWireDown, []string{"pgdown"}, "a page down"},
	{inWire, doLeaveWire, []string{"f7"}, "back"},

	{inPager, doScreenUp, []string{"pgup", "b"}, "a page up"},
	{inPager, doScreenDown, []string{"pgdown", "space"}, "a page down"},
	{inPager, doFindInPager, []string{"/"}, "find words"},
	{inPager, doNextInPager, []string{"n"}, "the next place with them"},
	{inPager, doPreviousInPager, []string{"N"}, "the place before"},
	{inPager, doSides, []string{"d"}, "changes side by side, or in one column"},
	{inPager, doLeavePager, []string{"v", "enter", "?", "f1"}, "back"},
}

// fixed are the keys that no action can be given, for a person must be able to
// leave and to write.
var fixed = []string{"ctrl+c", "ctrl+j", "alt+enter", "shift+enter"}

// Keys gives actions other keys than their own: action → keys, as "interrupt" →
// "ctrl+b". No keys at all leave an action without one.
type Keys map[string][]string

// Check tells what is wrong with keys: an action that there is not, a key that
// cannot be used, or one that two actions of one part of the screen share.
func (k Keys) Check() error {
	_, err := newKeymap(k)
	return err
}

// keymap says what a key does where. It does not change.
type keymap struct {
	actions map[place]map[string]action
	keys    map[action][]string
}

func newKeymap(chosen Keys) (*keymap, error) {
	for name := range chosen {
		if !slices.ContainsFunc(bindings, func(b binding) bool { return b.action == action(name) }) {
			return nil, fmt.Errorf("keys: there is no action %q", name)
		}
	}
	m := &keymap{actions: map[place]map[string]action{}, keys: map[action][]string{}}
	// A key that is chosen is taken from the action of the same place that has it by default.
	for _, own := range []bool{true, false} {
		for _, b := range bindings {
			keys, is := chosen[string(b.action)]
			if is != own {
				continue
			}
			if !own {
				keys = b.keys
			}
			if err := m.bind(b, keys, own); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func (m *keymap) bind(b binding, keys []string, own bool) error {
	at := m.actions[b.place]
	if at == nil {
		at = map[string]action{}
		m.actions[b.place] = at
	}
	for _, key := range keys {
		if own {
			if err := checkKey(b.place, key); err != nil {
				return fmt.Errorf("keys: %s: %w", b.action, err)
			}
		}
		switch other, taken := at[key]; {
		case !taken:
			at[key] = b.action
			m.keys[b.action] = append(m.keys[b.action], key)
		case own && other != b.action:
			return fmt.Errorf("keys: %q is given to both %s and %s", key, other, b.action)
		}
	}
	return nil
}

// checkKey refuses a key that would make it impossible to write or to leave.
func checkKey(where place, key string) error {
	switch {
	case key == "" || strings.ContainsAny(key, " \t\n"):
		return fmt.Errorf("%q is not a key; one is written as ctrl+x, alt+up, f5, space or e", key)
	case slices.Contains(fixed, key):
		return fmt.Errorf("%q always does the same", key)
	case where == everywhere && (utf8.RuneCountInString(key) == 1 || key == "space"):
		return fmt.Errorf("%q has to stay free for writing: everywhere is for keys with ctrl or alt, and for function keys", key)
	}
	return nil
}

// at is what a key does in a place; "" for nothing.
func (m *keymap) at(where place, key string) action { return m.actions[where][key] }

// in is what a key does in a list of a place.
func (m *keymap) in(where place, key string) action {
	if a := m.actions[where][key]; a != "" {
		return a
	}
	return m.actions[inLists][key]
}

// key is the first key of an action, for hints; "" when it has none.
func (m *keymap) key(a action) string {
	if keys := m.keys[a]; len(keys) > 0 {
		return keyName(keys[0])
	}
	return ""
}

// hint is a line of keys and words: pairs of an action and what it does here.
// Actions without a key are left out.
func (m *keymap) hint(pairs ...any) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if key := m.key(pairs[i].(action)); key != "" {
			out = append(out, key+" "+pairs[i+1].(string))
		}
	}
	return strings.Join(out, between)
}

// between stands between the keys of a hint.
const between = " · "

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

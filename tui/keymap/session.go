package keymap

// Actions of the message box.
const (
	Send               Action = "composer.send"
	SendSteer          Action = "composer.steer"
	Cancel             Action = "composer.give-up"
	PasteImage         Action = "composer.paste-image"
	RemoveAttachment   Action = "composer.remove-file"
	ComposerEarlier    Action = "composer.earlier"
	ComposerLater      Action = "composer.later"
	RestoreDraft       Action = "composer.restore"
	DeleteOrLeave      Action = "composer.delete-or-leave"
	ComposerScrollUp   Action = "composer.scroll-up"
	ComposerScrollDown Action = "composer.scroll-down"
)

var composer = []row{
	{Send, keys{"enter"}, "send; queued while a turn runs", nil},
	{SendSteer, keys{"alt+j"}, "send into the turn that runs; queued first where that is not possible", nil},
	{Cancel, keys{"esc"}, "cancel an edit or a recalled message, else go to the end, else interrupt the turn", nil},
	{PasteImage, keys{"ctrl+v"}, "attach the image in the clipboard", nil},
	{RemoveAttachment, keys{"alt+x"}, "remove the last attached file", nil},
	{ComposerEarlier, keys{"up"}, "when empty: previous message of yours", nil},
	{ComposerLater, keys{"down"}, "back to your draft", nil},
	{RestoreDraft, keys{"ctrl+z"}, "right after ctrl+c: restore the draft", nil},
	{DeleteOrLeave, keys{"ctrl+d"}, "delete the next character; when empty: leave", nil},
	{ComposerScrollUp, keys{"shift+up"}, "when empty: scroll up", nil},
	{ComposerScrollDown, keys{"shift+down"}, "when empty: scroll down", nil},
}

// Actions of the player of a recording.
const (
	PlayPause     Action = "player.pause"
	PlayFaster    Action = "player.faster"
	PlaySlower    Action = "player.slower"
	PlayPrevious  Action = "player.previous-turn"
	PlayNext      Action = "player.next-turn"
	PlayFromStart Action = "player.start"
	PlayToEnd     Action = "player.end"
	PlayFind      Action = "player.find"
	PlayOutline   Action = "player.outline"
	PlayHelp      Action = "player.help"
)

var player = []row{
	{PlayPause, keys{"space", "p"}, "pause or continue; at the end: play again", nil},
	{PlayFaster, keys{"+", "="}, "faster, up to 16×, then as fast as possible", nil},
	{PlaySlower, keys{"-"}, "slower, down to 0.25×", nil},
	{PlayPrevious, keys{"[", "left"}, "start of the turn, then previous turn", nil},
	{PlayNext, keys{"]", "right"}, "next turn", nil},
	{PlayFromStart, keys{"home"}, "start of the recording", nil},
	{PlayToEnd, keys{"end"}, "end of the recording", nil},
	{PlayFind, keys{"/"}, "search", nil},
	{PlayOutline, keys{"o"}, "turns", nil},
	{PlayHelp, keys{"?"}, "this help", nil},
}

// Actions on a request.
const (
	Allow           Action = "approval.allow"
	AllowAlways     Action = "approval.always"
	DenyRequest     Action = "approval.deny"
	WriteReason     Action = "approval.reason"
	ViewRequest     Action = "approval.view"
	EditRequest     Action = "approval.edit"
	OpenPage        Action = "approval.open"
	PreviousRequest Action = "approval.previous"
	NextRequest     Action = "approval.next"
)

var approval = []row{
	{Allow, keys{"y"}, "allow once, or answer; opens what was not on the screen first", nil},
	{AllowAlways, keys{"a"}, "always allow: shows what that covers, then y confirms", nil},
	{DenyRequest, keys{"n", "d"}, "deny, or skip the question", nil},
	{WriteReason, keys{"r"}, "add a reason to the decision", nil},
	{ViewRequest, keys{"v"}, "view the whole request", nil},
	{EditRequest, keys{"p"}, "edit the command, the patch in your editor, or the task", nil},
	{OpenPage, keys{"o"}, "open the page of the request in your browser, and continue", nil},
	{PreviousRequest, keys{"left", "["}, "previous request", nil},
	{NextRequest, keys{"right", "]"}, "next request", nil},
}

// Actions on the queue.
const (
	QueueEdit     Action = "queue.edit"
	QueueRemove   Action = "queue.remove"
	QueueClear    Action = "queue.clear"
	QueueMoveUp   Action = "queue.move-up"
	QueueMoveDown Action = "queue.move-down"
	QueueSendNow  Action = "queue.send-now"
	QueueSteer    Action = "queue.steer"
	QueuePageUp   Action = "queue.page-up"
	QueuePageDown Action = "queue.page-down"
	QueueHold     Action = "queue.hold"
	QueueRelease  Action = "queue.release"
)

var queue = []row{
	{QueueEdit, keys{"e", "enter"}, "edit; the message is held until you save it", nil},
	{QueueRemove, keys{"delete", "backspace", "X"}, "remove", nil},
	{QueueClear, keys{"C"}, "clear: remove all messages", nil},
	{QueueMoveUp, keys{"K", "shift+up"}, "move up", nil},
	{QueueMoveDown, keys{"J", "shift+down"}, "move down", nil},
	{QueueSendNow, keys{"s"}, "send now: move first, release the queue, interrupt the turn", nil},
	{QueueSteer, keys{"t"}, "into the turn that runs; a move makes it wait for the end again", nil},
	{QueuePageUp, keys{"pgup"}, "page up", nil},
	{QueuePageDown, keys{"pgdown"}, "page down", nil},
	{QueueHold, keys{"h"}, "hold the queue", nil},
	{QueueRelease, keys{"r"}, "release the queue", nil},
}

// Actions on the plan.
const (
	TaskCancel  Action = "plan.cancel"
	TaskRestart Action = "plan.restart"
)

var plan = []row{
	{TaskCancel, keys{"delete", "X"}, "cancel the task", nil},
	{TaskRestart, keys{"r"}, "restart the task", nil},
}

// Actions of the transcript.
const (
	Toggle                 Action = "transcript.fold"
	ViewItem               Action = "transcript.view"
	TurnChanges            Action = "transcript.changes"
	SaveFile               Action = "transcript.save-file"
	OpenFile               Action = "transcript.open-file"
	OpenPlace              Action = "transcript.open-source"
	DiffLayout             Action = "transcript.sides"
	TranscriptFind         Action = "transcript.find"
	OlderMatch             Action = "transcript.older-place"
	NewerMatch             Action = "transcript.newer-place"
	TranscriptPreviousTurn Action = "transcript.previous-turn"
	TranscriptNextTurn     Action = "transcript.next-turn"
	TranscriptOutline      Action = "transcript.outline"
	NextTool               Action = "transcript.next-tool"
	PreviousTool           Action = "transcript.previous-tool"
	NextApproval           Action = "transcript.next-approval"
	PreviousApproval       Action = "transcript.previous-approval"
	NextError              Action = "transcript.next-error"
	PreviousError          Action = "transcript.previous-error"
	CopyItem               Action = "transcript.copy"
	CopyCode               Action = "transcript.copy-code"
	EnterCopyMode          Action = "transcript.copy-mode"
	TranscriptHelp         Action = "transcript.help"
)

var transcript = []row{
	{Toggle, keys{"enter", "right", "left"}, "expand or collapse", nil},
	{ViewItem, keys{"v", "o"}, "view the whole tool call or request", nil},
	{TurnChanges, keys{"f"}, "what the tool call changed, or else the turn", nil},
	{SaveFile, keys{"w"}, "save the image or file", nil},
	{OpenFile, keys{"x"}, "open the image or file with the program for it", nil},
	{OpenPlace, keys{"F"}, "open a file that it names, at its line, in $VISUAL or $EDITOR", nil},
	{DiffLayout, keys{"d"}, "diff side by side or in one column", nil},
	{TranscriptFind, keys{"/"}, "search", nil},
	{OlderMatch, keys{"n"}, "next older match", nil},
	{NewerMatch, keys{"N"}, "next newer match", nil},
	{TranscriptPreviousTurn, keys{"["}, "previous turn", nil},
	{TranscriptNextTurn, keys{"]"}, "next turn", nil},
	{TranscriptOutline, keys{"O"}, "turns", nil},
	{NextTool, keys{"t"}, "next tool call", nil},
	{PreviousTool, keys{"T"}, "previous tool call", nil},
	{NextApproval, keys{"a"}, "next approval", nil},
	{PreviousApproval, keys{"A"}, "previous approval", nil},
	{NextError, keys{"e"}, "next error or failed tool call", nil},
	{PreviousError, keys{"E"}, "previous error or failed tool call", nil},
	{CopyItem, keys{"y"}, "copy the item", nil},
	{CopyCode, keys{"c"}, "copy a code block; again: the next one", nil},
	{EnterCopyMode, keys{"space"}, "copy mode", nil},
	{TranscriptHelp, keys{"?"}, "this help", nil},
}

// Actions of copy mode.
const (
	StartSelection Action = "copy.begin"
	SelectBlock    Action = "copy.block"
	CopySelection  Action = "copy.take"
)

var copyMode = []row{
	{StartSelection, keys{"space"}, "start a selection", nil},
	{SelectBlock, keys{"b"}, "select the block of lines", nil},
	{CopySelection, keys{"y", "enter"}, "copy the selection, or the line", nil},
}

// Actions on the rules.
const (
	RevokeRule Action = "rules.revoke"
)

var rules = []row{
	{RevokeRule, keys{"delete", "backspace", "X"}, "revoke the rule: the agent asks again", nil},
}

// Actions of the context page.
const (
	Compact Action = "context.compact"
)

var context = []row{
	{Compact, keys{"c"}, "compact the context", &word{"compact", OnSession, 110}},
}

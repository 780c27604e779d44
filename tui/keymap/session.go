package keymap

// Actions of the message box.
const (
	Send             Action = "composer.send"
	SendSteer        Action = "composer.steer"
	Cancel           Action = "composer.give-up"
	PasteImage       Action = "composer.paste-image"
	RemoveAttachment Action = "composer.remove-file"
	EarlierMessage   Action = "composer.earlier"
	LaterMessage     Action = "composer.later"
)

var composer = []row{
	{Send, keys{"enter"}, "send, or queue", nil},
	{SendSteer, keys{"alt+j"}, "send into the turn", nil},
	{Cancel, keys{"esc"}, "close, else go to the end, else interrupt", nil},
	{PasteImage, keys{"ctrl+v"}, "attach the clipboard's image", nil},
	{RemoveAttachment, keys{"alt+x"}, "remove the last attachment", nil},
	{EarlierMessage, keys{"up", "ctrl+p"}, "your previous message", nil},
	{LaterMessage, keys{"down", "ctrl+n"}, "next one, or the draft", nil},
}

// Actions of the player of a recording.
const (
	PlayPause  Action = "player.pause"
	PlayFaster Action = "player.faster"
	PlaySlower Action = "player.slower"
)

var player = []row{
	{PlayPause, keys{"space"}, "pause, continue, play again", nil},
	{PlayFaster, keys{"+", "="}, "faster", nil},
	{PlaySlower, keys{"-"}, "slower", nil},
}

// Actions on a request.
const (
	Allow       Action = "approval.allow"
	AllowAlways Action = "approval.always"
	DenyRequest Action = "approval.deny"
	WriteReason Action = "approval.reason"
)

var approval = []row{
	{Allow, keys{"y"}, "allow once, or answer", nil},
	{AllowAlways, keys{"a"}, "allow always; y confirms", nil},
	{DenyRequest, keys{"n"}, "deny, or skip the question", nil},
	{WriteReason, keys{"r"}, "add a reason", nil},
}

// Actions on the queue.
const (
	QueueMoveUp   Action = "queue.move-up"
	QueueMoveDown Action = "queue.move-down"
	QueueSendNow  Action = "queue.send-now"
	QueueSteer    Action = "queue.steer"
	HoldQueue     Action = "queue.hold"
)

var queue = []row{
	{QueueMoveUp, keys{"shift+up"}, "move up", nil},
	{QueueMoveDown, keys{"shift+down"}, "move down", nil},
	{QueueSendNow, keys{"s"}, "send now: interrupts the turn", nil},
	{QueueSteer, keys{"t"}, "send into the turn", nil},
	{HoldQueue, keys{"h"}, "hold or release the queue", &word{"hold", OnSession, 250}},
}

// Actions on the plan.
const (
	TaskRestart Action = "plan.restart"
)

var plan = []row{
	{TaskRestart, keys{"R"}, "restart the task", nil},
}

// Actions of the transcript.
const (
	Toggle        Action = "transcript.fold"
	SaveFile      Action = "transcript.save-file"
	CopyItem      Action = "transcript.copy"
	EnterCopyMode Action = "transcript.copy-mode"
)

var transcript = []row{
	{Toggle, keys{"enter", "right", "left"}, "expand or collapse", nil},
	{CopyItem, keys{"C"}, "copy the whole item", nil},
	{EnterCopyMode, keys{"space"}, "copy mode", nil},
	{SaveFile, keys{"w"}, "save the file", nil},
}

// Actions of copy mode.
const (
	StartSelection Action = "copy.begin"
)

var copyMode = []row{
	{StartSelection, keys{"space"}, "start a selection", nil},
}

// Actions of the context page.
const (
	Compact Action = "context.compact"
)

var context = []row{
	{Compact, nil, "compact", &word{"compact", OnSession, 110}},
}
